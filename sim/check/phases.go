package check

import (
	"slices"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawPhases = "legal phases"

// phaseEdges follows each request from phase to phase.
type phaseEdges struct{}

// unfinished are the phases a request waits in before anything was restarted.
var unfinished = []v1alpha1.Phase{
	v1alpha1.PhasePending, v1alpha1.PhaseWaitingForGate, v1alpha1.PhaseWaitingForOwner,
	v1alpha1.PhaseWaitingForApplicationSync, v1alpha1.PhaseWaitingForRollout,
}

// OnKick reports an edge that is not in the phase diagram.
func (phaseEdges) OnKick(c *Context, ev cluster.Event) {
	now, ok := ev.Object.(*v1alpha1.KickRequest)
	if !ok || ev.Type == cluster.Deleted {
		return
	}
	from := v1alpha1.PhasePending
	if old, ok := ev.Old.(*v1alpha1.KickRequest); ok && old != nil && old.Status.Phase != "" {
		from = old.Status.Phase
	}
	to := now.Status.Phase
	if to == "" {
		to = v1alpha1.PhasePending
	}
	if !legal(from, to) {
		c.report(lawPhases, "request %s went from %s to %s", ev.Key, from, to)
	}
}

// legal is the seed's diagram: a restart succeeds by executing only, a rollout
// that runs is watched to its end, and an end is left by reopening only.
func legal(from, to v1alpha1.Phase) bool {
	switch {
	case from == to:
		return true
	case terminal(from):
		return to == v1alpha1.PhasePending
	case from == v1alpha1.PhaseExecuting:
		return to == v1alpha1.PhaseSucceeded || to == v1alpha1.PhaseFailed || to == v1alpha1.PhaseWaitingForRollout
	case to == v1alpha1.PhaseExecuting || (terminal(to) && to != v1alpha1.PhaseSucceeded):
		return true
	default:
		return to != v1alpha1.PhasePending && slices.Contains(unfinished, to)
	}
}
