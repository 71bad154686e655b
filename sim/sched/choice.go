package sched

// Chooser answers every question whose answer the real world leaves open.
// Choose returns a number in [0, n); 0 must mean the plain case (first in, first
// out, no delay, no fault), so that shrinking a schedule leads towards the
// ordinary run. The class says how often answers other than 0 make sense, the
// site names the question for replay and for reports; equal questions in two runs
// have equal classes and sites.
//
// It is the only source of chance in a simulated world: a seed, a recorded list,
// an exhaustive search, priorities (PCT) and fuzz bytes are backends of it.
type Chooser interface {
	Choose(n int, class Class, site string) int
}

// Class groups questions by what their answer changes.
type Class uint8

// The classes of questions.
const (
	Order   Class = iota // which of several simultaneous events comes first
	Fault                // whether and how a call of KICK goes wrong
	Switch               // whether something else happens between two calls of a pass
	Lag                  // how late, and how coarsely, a watch shows what happened
	Restart              // what a starting process finds: an old cache, for one
	Make                 // what the world is made of and what its users do
	classes
)

// Classes lists all classes.
var Classes = [classes]Class{Order, Fault, Switch, Lag, Restart, Make}

var classNames = [classes]string{"order", "fault", "switch", "lag", "restart", "make"}

// String is the class as scenarios and recordings name it.
func (c Class) String() string { return classNames[c] }

// ClassOf returns the class of that name; false if there is none.
func ClassOf(name string) (Class, bool) {
	for c, known := range classNames {
		if known == name {
			return Class(c), true
		}
	}
	return 0, false
}

// FIFO is the plain schedule: always the first alternative.
type FIFO struct{}

// Choose returns 0.
func (FIFO) Choose(int, Class, string) int { return 0 }
