package observation

import (
	"time"

	"github.com/corewire/kick/kick/model"
)

// A source flaps when its content changes this often within this time: two producers
// fight over it, or one never comes to rest (field case B09).
const (
	FlapChanges = 6
	FlapWithin  = 10 * time.Minute
)

// BeganToFlap reports whether a source flaps by what is on record of it now, and did not
// by what was on record before. before may be nil.
func BeganToFlap(before, now *model.Record) bool { return flaps(now) && !flaps(before) }

// flaps looks back from the newest change, not from the time of asking: a record says
// the same whenever it is read.
func flaps(r *model.Record) bool {
	if r == nil || len(r.History) < FlapChanges {
		return false
	}
	newest := r.Current()
	first := r.History[len(r.History)-FlapChanges]
	return !first.Baseline && newest.Observed.Sub(first.Observed) < FlapWithin
}
