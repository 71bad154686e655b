// Package faults lists what can go wrong between the operator and the API server,
// one entry a fault. A fault needs a licence: something real that permits it.
// Without one it would only raise false alarms (DESIGN section 9).
package faults

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Fault is one way to go wrong.
type Fault struct {
	Name    string
	Doc     string
	Licence string // what in the real world permits it
	Place   Place

	// The rest is about calls.

	// Conditional: only a write that carries a resourceVersion or UID can meet it.
	Conditional bool
	// Reads: a live read can meet it too.
	Reads bool
	// Write is what becomes of the write.
	Write Landing
	// Crash: the process ends instead of getting an answer.
	Crash bool
	// Err is what the caller gets. Nil: the call itself goes well.
	Err func(schema.GroupResource, string) error
}

// Place is what a fault befalls.
type Place uint8

// The places of faults.
const (
	Call  Place = iota // one call of the operator
	Watch              // what the cache of one kind shows, and when
	Start              // what a starting process finds
)

// Landing says what becomes of a write.
type Landing uint8

// The fates of a write.
const (
	Lost   Landing = iota // never stored
	Landed                // stored before the caller gets its answer
	Late                  // judged and stored after the caller got its answer
)

// None names the plain outcome where outcomes are counted.
const None = "none"

// How long faults last where a scenario names them.
const (
	LateWrite = 2 * time.Second  // from the answer of a late write until it lands
	Pause     = 20 * time.Second // of a paused process: longer than its lease
	SlowWatch = 5 * time.Second  // how late the deliveries of a watch fault are
	OldList   = 10 * time.Second // how old the first lists of a process are
)

// LateWrites are the delays among which a schedule chooses. The API server runs a
// request on that it gave up on (finisher), and the caller's own timeout of 5s does
// not stop it.
var LateWrites = []time.Duration{50 * time.Millisecond, 500 * time.Millisecond, LateWrite, 10 * time.Second}

// All are the faults, by name.
var All = []*Fault{
	CacheAhead, Conflict, CrashLanded, CrashLost, Forbidden, LateWatch, LeaseLost, OldCache, PauseAtCall,
	RecreateAsUpdate, Relist, ServerError, SkippedStates, StaleCache, Throttled, TimeoutLanded, TimeoutLate, TimeoutLost,
}

// ByName returns the fault of that name, or nil.
func ByName(name string) *Fault {
	for _, f := range All {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Names are the names of all faults, in order.
func Names() []string {
	names := make([]string, len(All))
	for i, f := range All {
		names[i] = f.Name
	}
	return names
}
