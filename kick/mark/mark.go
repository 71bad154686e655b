// Package mark counts how often the product's rare branches are taken while it is
// explored. A Sometimes mark stands where something happens that only an unlucky
// schedule brings about: a conflict after a restart, a stamp found after a crash.
// A campaign that never came past a mark has not tested what stands behind it, and
// says so.
//
// In production nothing is counted: Hit is then one comparison with false. The
// package imports nothing of KICK, so pure packages may use it.
package mark

import "sync/atomic"

// Mark is one place in the product's code.
type Mark uint8

// Info is what a list of marks shows.
type Info struct {
	Name string // unique, lower case, words joined by hyphens
	Says string // one sentence: what has happened when the mark is reached
}

// counting is set before anything runs that hits marks, so it needs no lock.
var counting bool

var counts [end]atomic.Uint64

// Count switches counting on or off. It must not be called while code that hits
// marks is running.
func Count(on bool) { counting = on }

// Counting reports whether marks are counted, for places where finding out which
// mark is hit has a cost of its own.
func Counting() bool { return counting }

// Hit counts a mark. It may be called from any goroutine; sums do not depend on
// the order.
func Hit(m Mark) {
	if counting {
		counts[m].Add(1)
	}
}

// All lists the marks in the order of their declaration.
func All() []Info { return append([]Info(nil), infos[:]...) }

// Counts says how often each mark was hit since the last Reset, in the order of
// All.
func Counts() []uint64 {
	all := make([]uint64, end)
	for i := range counts {
		all[i] = counts[i].Load()
	}
	return all
}

// Reset sets every count to zero.
func Reset() {
	for i := range counts {
		counts[i].Store(0)
	}
}
