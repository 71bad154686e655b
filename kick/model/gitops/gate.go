package gitops

import (
	"strings"
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// What wakes a request that waits for a GitOps tool. Each is backed by a watch.
const (
	WakeOnOwner     model.WakeOn = "owner"     // an Application, Kustomization or HelmRelease appears, changes or goes
	WakeOnProject   model.WakeOn = "project"   // an AppProject or Argo CD's settings change
	WakeOnPromotion model.WakeOn = "promotion" // a Stage or Promotion changes
	WakeOnArtifact  model.WakeOn = "artifact"  // a source of Flux has a new artifact
)

var wakes = map[model.WakeOn]string{
	WakeOnOwner:          "its owner changes",
	WakeOnProject:        "the project or Argo CD's settings change",
	WakeOnPromotion:      "the Stage or a Promotion changes",
	WakeOnArtifact:       "the source changes",
	model.WakeOnWorkload: "the workload changes",
}

// lastYear is that of the last time that can be written: RFC 3339 has four digits for it.
const lastYear = 9999

// Open is a gate that lets a restart through.
func Open(detail string) model.Gate {
	return model.Gate{Open: true, Reason: request.Allowed, Detail: detail}
}

// OpenUntil is a gate that lets a restart through up to a time; zero: for as long as
// nothing changes. The time is rounded down to KICK's own precision.
func OpenUntil(detail string, at time.Time) model.Gate {
	gate := Open(detail)
	if !at.IsZero() {
		gate.WakeAt = at.UTC().Truncate(time.Microsecond)
	}
	return gate
}

// Closed is a gate that stays shut until one of the events.
func Closed(reason request.Reason, detail string, on ...model.WakeOn) model.Gate {
	return ClosedUntil(reason, detail, time.Time{}, on...)
}

// ClosedUntil is a gate that stays shut until a time or one of the events, whatever
// comes first. A zero time is none. The detail is completed by when it is looked at
// again. The time is rounded up to KICK's own precision, so that a look at it does not
// come too early. One that no API server would take is never.
func ClosedUntil(reason request.Reason, detail string, at time.Time, on ...model.WakeOn) model.Gate {
	if at.UTC().Add(time.Second).Year() > lastYear {
		at = time.Time{}
	}
	if !at.IsZero() {
		at = at.UTC().Add(time.Microsecond - time.Nanosecond).Truncate(time.Microsecond)
	}
	return model.Gate{Reason: reason, Detail: detail + looksAgain + again(at, on), WakeAt: at, WakeOn: on}
}

// looksAgain parts why a gate is shut from when it is looked at again.
const looksAgain = "; looks again "

// Cause is why a gate is as it is, without when it is looked at again.
func Cause(g model.Gate) string {
	cause, _, _ := strings.Cut(g.Detail, looksAgain)
	return cause
}

// again says what is waited for: a time, and events.
func again(at time.Time, on []model.WakeOn) string {
	var when []string
	if !at.IsZero() {
		when = append(when, "at "+at.Truncate(time.Second).Format(time.RFC3339))
	}
	for _, w := range on {
		words, known := wakes[w]
		if !known {
			words = "the " + string(w) + " changes"
		}
		when = append(when, "when "+words)
	}
	return strings.Join(when, " or ")
}
