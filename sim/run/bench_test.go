package run

import "testing"

// BenchmarkScenario is the cost of a whole run of the smallest useful scenario.
func BenchmarkScenario(b *testing.B) {
	s := load(b, "testdata/secret-change.yaml")[0]
	var events uint64
	for b.Loop() {
		events = One(s, Options{NewOperator: newToy(nil)}).Events
	}
	b.ReportMetric(float64(events), "events/op")
}
