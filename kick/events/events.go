// Package events has one constructor for each Kubernetes Event that KICK emits.
// An Event follows the status write it tells of, at most one per transition.
package events

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// Event is what is told about a request or a bundle.
type Event struct {
	Type   string // corev1.EventTypeNormal or EventTypeWarning
	Reason string // stable, documented
	Action string // what KICK was doing
	Note   string // the sentence of package explain, at most 1024 bytes
}

// Recorder delivers events. Losing one is allowed, doubling one is not.
type Recorder interface {
	Record(about *model.Request, target *model.Workload, e Event)
	// RecordBundle tells of the ConfigBundle with that name, UID and resourceVersion.
	RecordBundle(about model.Key, uid, version string, e Event)
	// RecordSource tells of the Secret or ConfigMap with that name and UID; an empty UID: it is gone.
	RecordSource(about model.Key, uid string, e Event)
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
	GateOverridden       = "GateOverridden"
	SourceFlapping       = "SourceFlapping"
)

// template is what an event looks like before its note is known.
type template struct{ kind, reason, action string }

// byPhase is the event of a request's arrival in a phase.
var byPhase = map[request.Phase]template{
	request.WaitingForGate:            {corev1.EventTypeNormal, WaitingForGate, "Evaluate"},
	request.WaitingForOwner:           {corev1.EventTypeWarning, OwnerUnknown, "Evaluate"},
	request.WaitingForApplicationSync: {corev1.EventTypeNormal, WaitingForGitOpsSync, "Evaluate"},
	request.WaitingForRollout:         {corev1.EventTypeNormal, WaitingForRollout, "Evaluate"},
	request.Executing:                 {corev1.EventTypeNormal, KickStarted, "Restart"},
	request.Succeeded:                 {corev1.EventTypeNormal, KickSucceeded, "Restart"},
	request.NoLongerRequired:          {corev1.EventTypeNormal, KickNoLongerRequired, "Evaluate"},
	request.Failed:                    {corev1.EventTypeWarning, KickFailed, "Restart"},
	request.DryRun:                    {corev1.EventTypeNormal, KickDryRun, "Evaluate"},
}

// byReason is the event where the reason says more than the phase: somebody has to
// do something about most of these.
var byReason = map[request.Reason]template{
	request.OutsideSchedule:    {corev1.EventTypeNormal, WaitingForSchedule, "Evaluate"},
	request.ConfigurationError: {corev1.EventTypeWarning, WaitingForGate, "Evaluate"},
	request.PolicyConflict:     {corev1.EventTypeWarning, WaitingForGate, "Evaluate"},
	request.SourceMissing:      {corev1.EventTypeWarning, WaitingForGate, "Evaluate"},
	request.PatchRejected:      {corev1.EventTypeWarning, WaitingForGate, "Evaluate"},
	request.AmbiguousOwner:     {corev1.EventTypeWarning, OwnerAmbiguous, "Evaluate"},
}

// stuck is the event of a restart that does not go on until somebody does something.
var stuck = map[request.Reason]template{
	request.UnreadyPods:     {corev1.EventTypeWarning, WaitingForRollout, "Restart"},
	request.EvictionRefused: {corev1.EventTypeWarning, WaitingForRollout, "Restart"},
}

// ForFlapping is the event of a source whose content does not come to rest.
func ForFlapping(note string) Event {
	return Event{Type: corev1.EventTypeWarning, Reason: SourceFlapping, Action: "Observe", Note: note}
}

// ForTransition is the event of a status write that changed phase or reason; false
// where the change is not worth one: an opening, a settle delay that is over in a
// moment, a new detail of a restart that was already told and goes on.
func ForTransition(from, to model.RequestStatus) (Event, bool) {
	if to.Overridden != "" && from.Overridden == "" { // whoever opened a gate by hand answers for it
		return Event{Type: corev1.EventTypeWarning, Reason: GateOverridden, Action: "Evaluate", Note: to.Overridden}, true
	}
	t, ok := templateOf(to)
	_, hangs := stuck[to.Reason]
	same := from.Phase == to.Phase && (from.Reason == to.Reason || to.Phase == request.Executing && !hangs)
	if same || !ok || to.Reason == request.Settling {
		return Event{}, false
	}
	return Event{Type: t.kind, Reason: t.reason, Action: t.action, Note: to.Message}, true
}

// templateOf is what is told of where a request has come to; false: nothing.
func templateOf(to model.RequestStatus) (template, bool) {
	if t, hangs := stuck[to.Reason]; hangs && to.Phase == request.Executing {
		return t, true
	}
	if t, special := byReason[to.Reason]; special && to.Phase.Waiting() {
		return t, true
	}
	t, ok := byPhase[to.Phase]
	return t, ok
}
