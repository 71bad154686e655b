package v1alpha1

// Phase is where a KickRequest stands. The legal moves between phases are the business of
// kick/model/request; the reason beside a phase (status.gate.reason, and the reason of condition
// Completed) is one of the constants documented there.
type Phase string

// The phases of a KickRequest. The empty phase of a new request means Pending.
const (
	// PhasePending: opened, not judged yet. Entry: creation, or a newer change on a terminal
	// request. Exit: the first pass that judges it.
	PhasePending Phase = "Pending"

	// PhaseWaitingForGate: the workload is stale, and a rule forbids the restart for now: the
	// schedule, a suspended or ambiguous policy, a missing source, the settle delay, a rate limit.
	// Entry: any unfinished phase. Exit: the gate opens, or the need for a restart ends.
	PhaseWaitingForGate Phase = "WaitingForGate"

	// PhaseWaitingForOwner: a GitOps tool is to be asked and it is not clear which of its objects
	// owns the workload. Entry: any unfinished phase. Exit: exactly one owner is found.
	PhaseWaitingForOwner Phase = "WaitingForOwner"

	// PhaseWaitingForApplicationSync: the owner is known and is out of sync or at work. Entry: any
	// unfinished phase. Exit: the owner has reconciled.
	PhaseWaitingForApplicationSync Phase = "WaitingForApplicationSync"

	// PhaseWaitingForRollout: the workload is rolling, paused or otherwise not replacing pods by
	// itself, so that nothing can be said about its pods yet. Entry: any unfinished phase. Exit:
	// the rollout ends.
	PhaseWaitingForRollout Phase = "WaitingForRollout"

	// PhaseExecuting: KICK's stamp is on the pod template and the rollout it caused is watched.
	// Entry: KICK finds its own stamp on the workload. Exit: the rollout ends, leaves pods behind a
	// partition (WaitingForRollout), or makes no progress for the rollout timeout.
	PhaseExecuting Phase = "Executing"

	// PhaseSucceeded is terminal: the rollout KICK caused is complete and no pod is stale. Entry:
	// Executing. Exit: a newer change reopens the request, or retention removes it.
	PhaseSucceeded Phase = "Succeeded"

	// PhaseNoLongerRequired is terminal: every pod carries the current content without KICK's
	// doing, no pod runs, or nobody manages the workload any more. Entry: any unfinished phase but
	// Executing. Exit: as for Succeeded.
	PhaseNoLongerRequired Phase = "NoLongerRequired"

	// PhaseFailed is terminal: the restart did not come to its end, or cannot be made. Entry: any
	// unfinished phase. Exit: a newer change reopens the request; retention removes it once the
	// workload is no longer stale.
	PhaseFailed Phase = "Failed"

	// PhaseDryRun is terminal: everything was judged, the restart would have been made now, and the
	// policy's dryRun kept KICK from it. Entry: any unfinished phase but Executing. Exit: as for
	// Succeeded.
	PhaseDryRun Phase = "DryRun"
)
