package model

import "time"

// Later is the later of two instants of the same clock.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
