package cli

import (
	"testing"

	"github.com/corewire/kick/sim/run"
)

// BenchmarkScenarios is the cost of all scenarios together, on one core. An event
// is a watch delivery, a pass of a controller or a step of the world.
func BenchmarkScenarios(b *testing.B) {
	all, err := load(Program{NewOperator: newOperator, Faults: faults()}, runFlags{}, []string{"../../scenarios"})
	if err != nil {
		b.Fatal(err)
	}
	var events uint64
	for b.Loop() {
		events = 0
		run.All(all, run.Options{NewOperator: newOperator, Workers: 1}, func(r run.Result) { events += r.Events })
	}
	b.ReportMetric(float64(events), "events/op")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
}
