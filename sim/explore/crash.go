package explore

import (
	"slices"
	"time"

	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/sched"
)

// crashing is an operator that is killed at given writes, besides whatever the
// scenario does to it. It counts the operator's writes from t=0 on.
type crashing struct {
	run.Operator
	points []Crash
	loop   *sched.Loop
	*life
}

// life is what the operator did from t=0 on.
type life struct {
	writes  int       // of all its processes
	crashed time.Time // when a crash of the schedule, not of the scenario, first hit it
}

// withCrashes lets an operator be killed at its writes, and notes its life.
func withCrashes(make run.OperatorFactory, points []Crash, l *life) run.OperatorFactory {
	return func(o run.OperatorOptions) (run.Operator, error) {
		c := &crashing{points: append([]Crash(nil), points...), loop: o.Loop, life: l}
		observe := o.Observe
		o.Observe = func(w run.Write) {
			observe(w)
			if w.Done {
				return
			}
			c.writes++
			c.arm(points)
		}
		operator, err := make(o)
		c.Operator = operator
		if known, ok := operator.(check.Operator); ok {
			return struct {
				*crashing
				check.Operator
			}{c, known}, err
		}
		return c, err
	}
}

// arm has the operator killed at the write that is about to be sent.
func (c *crashing) arm(planned []Crash) {
	for _, point := range c.points {
		if point.Write == c.writes {
			c.Operator.CrashAtWrite(1, point.Landed)
			if c.crashed.IsZero() && slices.Contains(planned, point) {
				c.crashed = c.loop.Now()
			}
			return
		}
	}
}

// CrashAtWrite is the crash that the scenario itself asks for.
func (c *crashing) CrashAtWrite(n int, landed bool) {
	c.points = append(c.points, Crash{Write: c.writes + n, Landed: landed})
}

// Heal ends all crashes.
func (c *crashing) Heal() {
	c.points = nil
	c.Operator.Heal()
}
