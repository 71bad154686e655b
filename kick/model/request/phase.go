package request

import "slices"

// Phase is where a request stands. The empty phase, before the first status
// write, means Pending.
type Phase string

// The phases. A terminal phase is left only by reopening, towards Pending.
const (
	// Pending: opened, not judged yet. Left by the first pass.
	Pending Phase = "Pending"
	// WaitingForGate: a policy, its windows, a missing source, the settle delay or
	// a rate limit says not now. Left when that changes or its time comes.
	WaitingForGate Phase = "WaitingForGate"
	// WaitingForOwner: no single GitOps owner could be named.
	WaitingForOwner Phase = "WaitingForOwner"
	// WaitingForApplicationSync: the GitOps owner is not reconciled.
	WaitingForApplicationSync Phase = "WaitingForApplicationSync"
	// WaitingForRollout: the workload is rolling, or it cannot be restarted by its
	// template (paused, OnDelete, partition), or its pods have not started.
	WaitingForRollout Phase = "WaitingForRollout"
	// Executing: KICK stamped the template and watches that rollout.
	Executing Phase = "Executing"
	// Succeeded: the rollout KICK started is complete. Terminal.
	Succeeded Phase = "Succeeded"
	// NoLongerRequired: every pod provably carries the current content without
	// KICK's doing, or nobody manages the workload any more. Terminal.
	NoLongerRequired Phase = "NoLongerRequired"
	// Failed: the rollout did not complete, or was reverted. Terminal; a newer
	// change reopens it.
	Failed Phase = "Failed"
	// DryRun: everything was judged, and only spec.dryRun kept KICK from
	// restarting. Terminal.
	DryRun Phase = "DryRun"
)

// Phases lists every phase in the order of a request's life.
var Phases = []Phase{
	Pending, WaitingForGate, WaitingForOwner, WaitingForApplicationSync,
	WaitingForRollout, Executing, Succeeded, NoLongerRequired, Failed, DryRun,
}

// Terminal reports whether nothing more happens in this phase by itself.
func (p Phase) Terminal() bool {
	return p == Succeeded || p == NoLongerRequired || p == Failed || p == DryRun
}

// Waiting reports whether the phase waits for something outside KICK.
func (p Phase) Waiting() bool {
	return p == WaitingForGate || p == WaitingForOwner || p == WaitingForApplicationSync || p == WaitingForRollout
}

// Legal reports whether a status write may move a request from one phase to
// another. Staying is always legal. The empty phase counts as Pending.
func Legal(from, to Phase) bool {
	if from == "" {
		from = Pending
	}
	switch {
	case from == to:
		return true
	case from.Terminal():
		return to == Pending
	case from == Executing:
		// A rollout that is done but left pods behind a partition waits for them.
		return to == Succeeded || to == Failed || to == WaitingForRollout
	default:
		return to != Pending && slices.Contains(Phases, to) && to != Succeeded
	}
}
