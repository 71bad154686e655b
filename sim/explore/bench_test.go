package explore

import (
	"context"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/corewire/kick/sim/engine"
	"github.com/corewire/kick/sim/run"
)

// BenchmarkExplore is exploration as kick-sim does it: generated worlds, generated
// stories with faults, all laws. Processor time counts, so that a busy machine does
// not stretch it; the rates assume two cores that do nothing else.
func BenchmarkExplore(b *testing.B) {
	before := debug.SetGCPercent(1000)
	b.Cleanup(func() { debug.SetGCPercent(before) })
	const seeds, cores = 2000, 2
	var total Summary
	used := processor()
	for b.Loop() {
		c := Campaign{Options: run.Options{NewOperator: engine.New}, First: total.Schedules, Seeds: seeds, KeepGoing: true, Workers: runtime.GOMAXPROCS(0)}
		part := c.Run(context.Background(), func(Finding) {})
		total.Schedules += part.Schedules
		total.Transitions += part.Transitions
	}
	used = processor() - used
	b.ReportMetric(float64(used.Nanoseconds())/float64(total.Transitions), "cpu-ns/event")
	b.ReportMetric(float64(total.Transitions)/float64(total.Schedules), "events/schedule")
	b.ReportMetric(cores*float64(total.Transitions)/used.Seconds(), "events/s")
	b.ReportMetric(cores*float64(total.Schedules)/used.Seconds(), "schedules/s")
}

// processor is the processor time that this process has used.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
