package model

import (
	"slices"
	"time"

	"github.com/corewire/kick/kick/model/request"
)

// MaxTransitions is how many transitions a request keeps; the CRD says the same. It
// holds two episodes at least.
const MaxTransitions = 20

// Transition is a phase that a request reached, and why.
type Transition struct {
	Phase   request.Phase
	At      time.Time // KICK's clock; never before the one that went before it
	Reason  request.Reason
	Message string
}

// Reached is what a status has to say of its phases once it says next: the same, and the
// phase of next if it was not reached in this episode before. A request that waits now
// for one thing and now for another reaches each phase once.
func (s RequestStatus) Reached(next RequestStatus, now time.Time) []Transition {
	if s.Phase == next.Phase {
		return s.Transitions
	}
	t := Transition{Phase: next.Phase, At: Later(now, next.OpenedAt), Reason: next.Reason, Message: next.Message}
	for _, before := range s.Transitions {
		if before.Phase == t.Phase && !before.At.Before(next.OpenedAt) {
			return s.Transitions
		}
		t.At = Later(t.At, before.At)
	}
	all := append(slices.Clone(s.Transitions), t)
	return all[max(len(all)-MaxTransitions, 0):]
}
