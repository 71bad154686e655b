package run_test

import (
	"fmt"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/corewire/kick/sim/engine"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
)

// meter reports what runs cost. Processor time counts, not the clock on the wall: a
// busy machine does not stretch it, and the garbage collector's share is in it.
type meter struct {
	events  uint64
	virtual time.Duration
	cpu     time.Duration
}

func newMeter() *meter { return &meter{cpu: cpu()} }

func (m *meter) add(b *testing.B, r run.Result) {
	if !r.OK() {
		b.Fatal(r.Problem, r.Failures)
	}
	m.events += r.Events
	m.virtual += r.Virtual
}

// report assumes two cores that do nothing else.
func (m *meter) report(b *testing.B) {
	const cores = 2
	used := cpu() - m.cpu
	b.ReportMetric(float64(used.Nanoseconds())/float64(m.events), "cpu-ns/event")
	b.ReportMetric(float64(m.events)/float64(b.N), "events/op")
	b.ReportMetric(cores*float64(m.events)/used.Seconds(), "events/s")
	b.ReportMetric(cores*float64(b.N)/used.Seconds(), "schedules/s")
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// collectLess collects garbage as rarely as kick-sim does.
func collectLess(b testing.TB) {
	before := debug.SetGCPercent(1000)
	b.Cleanup(func() { debug.SetGCPercent(before) })
}

// BenchmarkSchedule is one schedule of exploration: three workloads with four
// sources roll out once, KICK starts over them, two sources change, and KICK dies.
func BenchmarkSchedule(b *testing.B) {
	collectLess(b)
	s := parse(b, "testdata/bench-schedule.yaml")[0]
	for _, fast := range []bool{false, true} {
		b.Run(fmt.Sprintf("fast=%v", fast), func(b *testing.B) {
			o := run.Options{NewOperator: engine.New, Fast: fast, Chooser: sched.FIFO{}}
			base, err := run.Prepare(s, o)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			m := newMeter()
			for b.Loop() {
				m.add(b, base.Run(s, o))
			}
			m.report(b)
		})
	}
}

// BenchmarkYears is a cluster in which little happens: a change a month and a window
// a month, for ten years.
func BenchmarkYears(b *testing.B) {
	collectLess(b)
	s := parse(b, "testdata/bench-years.yaml")[0]
	changes := s.Steps
	s.Steps = nil
	const months = 120
	for i := range months {
		step := changes[i%len(changes)]
		step.At, step.AtSet = s.Start.AddDate(0, i, 9).Sub(s.Start), true
		s.Steps = append(s.Steps, step)
	}
	o := run.Options{NewOperator: engine.New, Fast: true}
	b.ReportAllocs()
	m := newMeter()
	for b.Loop() {
		m.add(b, run.One(s, o))
	}
	m.report(b)
	years := m.virtual.Hours() / 24 / 365
	b.ReportMetric(years/b.Elapsed().Hours(), "years/h")
}

// BenchmarkEvent is the floor: an event of the loop that does nothing.
func BenchmarkEvent(b *testing.B) {
	loop := sched.New(time.Time{}, sched.FIFO{})
	nothing := func() {}
	b.ReportAllocs()
	for b.Loop() {
		loop.After(time.Second, "nothing", nothing)
		loop.Step()
	}
}

// parse reads scenarios of this package.
func parse(tb testing.TB, paths ...string) []scenario.Scenario {
	tb.Helper()
	all, problems := newParser().ParseFiles(paths)
	if len(problems) > 0 {
		tb.Fatal(problems)
	}
	return all
}
