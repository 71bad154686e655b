// Package events has one constructor for each Kubernetes Event that KICK emits.
// An Event follows the status write it tells of, at most one per transition.
package events

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// Event is what is told about a request.
type Event struct {
	Type   string // corev1.EventTypeNormal or EventTypeWarning
	Reason string // stable, documented
	Action string // what KICK was doing
	Note   string // the sentence of package explain, at most 1024 bytes
}

// Recorder delivers events. Losing one is allowed, doubling one is not.
type Recorder interface {
	Record(about *model.Request, target *model.Workload, e Event)
}

// Reasons, stable: people alert on them.
const (
	WaitingForSchedule   = "WaitingForSchedule"
	WaitingForGate       = "WaitingForGate"
	WaitingForGitOpsSync = "WaitingForGitOpsSync"
	WaitingForRollout    = "WaitingForRollout"
	OwnerUnknown         = "OwnerUnknown"
	OwnerAmbiguous       = "OwnerAmbiguous"
	KickStarted          = "KickStarted"
	KickSucceeded        = "KickSucceeded"
	KickNoLongerRequired = "KickNoLongerRequired"
	KickFailed           = "KickFailed"
	KickDryRun           = "KickDryRun"
)

// ForTransition is the event of a status write that changed phase or reason; false
// where the change is not worth one.
func ForTransition(from, to model.RequestStatus) (Event, bool) {
	if from.Phase == to.Phase && from.Reason == to.Reason {
		return Event{}, false
	}
	e := Event{Type: corev1.EventTypeNormal, Action: "Evaluate", Note: to.Message}
	switch to.Phase {
	case request.WaitingForGate:
		e.Reason = WaitingForGate
		switch to.Reason {
		case request.OutsideSchedule:
			e.Reason = WaitingForSchedule
		case request.Settling:
			return Event{}, false // over in a moment; an event each would be noise
		case request.ConfigurationError, request.PolicyConflict, request.SourceMissing, request.PatchRejected:
			e.Type = corev1.EventTypeWarning
		default:
		}
	case request.WaitingForOwner:
		e.Reason, e.Type = OwnerUnknown, corev1.EventTypeWarning
		if to.Reason == request.AmbiguousOwner {
			e.Reason = OwnerAmbiguous
		}
	case request.WaitingForApplicationSync:
		e.Reason = WaitingForGitOpsSync
	case request.WaitingForRollout:
		e.Reason = WaitingForRollout
	case request.Executing:
		if from.Phase == request.Executing {
			return Event{}, false
		}
		e.Reason, e.Action = KickStarted, "Restart"
	case request.Succeeded:
		e.Reason, e.Action = KickSucceeded, "Restart"
	case request.NoLongerRequired:
		e.Reason = KickNoLongerRequired
	case request.Failed:
		e.Reason, e.Action, e.Type = KickFailed, "Restart", corev1.EventTypeWarning
	case request.DryRun:
		e.Reason = KickDryRun
	case request.Pending:
		return Event{}, false
	default:
		return Event{}, false
	}
	return e, true
}
