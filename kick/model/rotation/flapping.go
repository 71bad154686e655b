package rotation

import (
	"time"

	"github.com/corewire/kick/kick/model"
)

// A class flaps when rounds follow each other as fast as the driver looks: its versions
// change although no secret does, as those of a provider do that signs each answer anew.
// Each restart would then be followed by the next.
const (
	FlapRounds = 3 // within as many poll intervals as a round may last
)

// FlapsUntil is when a class that flaps at a time will have been quiet for long enough;
// zero: it does not flap. It needs KICK's clock and is told by it.
func FlapsUntil(r *model.Record, interval time.Duration, now time.Time) time.Time {
	if !flaps(r, interval) {
		return time.Time{}
	}
	within := roundLength * interval
	until := r.Current().Observed.Add(within)
	if left := until.Sub(now); left <= 0 || left > 2*within { // a clock that far off had nothing to say
		return time.Time{}
	}
	return until
}

// BeganToFlap reports whether a class flaps by what is on record of it now, and did not by
// what was on record before. before may be nil.
func BeganToFlap(before, now *model.Record, interval time.Duration) bool {
	return flaps(now, interval) && !flaps(before, interval)
}

// flaps looks back from the newest round: a record says the same whenever it is read.
func flaps(r *model.Record, interval time.Duration) bool {
	if r == nil || len(r.History) < FlapRounds {
		return false
	}
	first := r.History[len(r.History)-FlapRounds]
	return !first.Baseline && r.Current().Observed.Sub(first.Observed) < roundLength*interval
}
