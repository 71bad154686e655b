package explore

import (
	"fmt"
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
	ended  bool // all crashes
	loop   *sched.Loop
	*life
}

// life is what the operator did from t=0 on.
type life struct {
	writes  int       // of all its processes
	healed  int       // how many of them came before the end of all faults, and so can be crashed at
	crashed time.Time // when a crash of the schedule, not of the scenario, first hit it
	met     []Crash   // the crashes of the schedule that hit it
}

// unmet says which crash of a schedule first never happened, and why; empty where all did.
func (l *life) unmet(planned []Crash) string {
	for _, c := range planned {
		switch {
		case slices.Contains(l.met, c):
		case c.Write > l.writes:
			return fmt.Sprintf("write %d never happened: KICK made %d writes", c.Write, l.writes)
		case c.Write > l.healed:
			return fmt.Sprintf("write %d comes after the end of all faults: KICK made %d of its %d writes before", c.Write, l.healed, l.writes)
		default:
			return fmt.Sprintf("at write %d KICK dies otherwise already", c.Write)
		}
	}
	return ""
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
			if !c.ended {
				c.healed++
			}
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
			if slices.Contains(planned, point) {
				c.met = append(c.met, point)
				if c.crashed.IsZero() {
					c.crashed = c.loop.Now()
				}
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
	c.points, c.ended = nil, true
	c.Operator.Heal()
}
