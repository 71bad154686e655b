package model

import "time"

// Later is the later of two instants of the same clock.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Patience is how long to leave something alone that has been waited for that long and that
// no event tells of for certain: a sixth of the wait, so that what lasts is looked at less
// and less often; at most the most, but never less than the least.
func Patience(waited, least, most time.Duration) time.Duration {
	return max(min(waited/6, most), least)
}
