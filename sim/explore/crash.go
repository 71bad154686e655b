package explore

import (
	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/run"
)

// crashing is an operator that is killed at given writes, besides whatever the
// scenario does to it. It counts the operator's writes from t=0 on.
type crashing struct {
	run.Operator
	points []Crash
	writes int
}

// withCrashes lets an operator be killed at its writes. The writes of all its lives
// are counted into count.
func withCrashes(make run.OperatorFactory, points []Crash, count *int) run.OperatorFactory {
	return func(o run.OperatorOptions) (run.Operator, error) {
		c := &crashing{points: append([]Crash(nil), points...)}
		observe := o.Observe
		o.Observe = func(w run.Write) {
			observe(w)
			if w.Done {
				return
			}
			c.writes++
			*count = c.writes
			c.arm()
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
func (c *crashing) arm() {
	for _, point := range c.points {
		if point.Write == c.writes {
			c.Operator.CrashAtWrite(1, point.Landed)
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
