package check

import (
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawOutcome = "phase and reason are true"

// outcome holds what requests say against the world: success when it is said, and
// every wait at the end.
type outcome struct{}

// OnKick reports a success without a restart.
func (outcome) OnKick(c *Context, ev cluster.Event) {
	r, ok := ev.Object.(*v1alpha1.KickRequest)
	if !ok || ev.Type != cluster.Modified || r.Status.Phase != v1alpha1.PhaseSucceeded {
		return
	}
	if before := ev.Old.(*v1alpha1.KickRequest); before.Status.Phase == r.Status.Phase {
		return
	}
	id := r.Namespace + "/" + string(r.Spec.TargetRef.Kind) + "/" + r.Spec.TargetRef.Name
	switch stamp, restarted := c.stamps[id]; {
	case !restarted:
		c.report(lawOutcome, "request %s succeeded, but KICK never restarted %s", ev.Key, id)
	case r.Status.CurrentRollout == nil:
		c.report(lawOutcome, "request %s succeeded and names no rollout of %s", ev.Key, id)
	case c.openedLater(r):
		c.report(lawOutcome, "request %s succeeded by a restart of %s, before it was opened at %s (the last restart is of %s)", ev.Key,
			micro(&r.Status.CurrentRollout.StartedAt), micro(r.Status.OpenedAt), stamp)
	}
}

// openedLater reports that a request was opened after the restart that it tells of. Those of
// a Rollout are dated by the API server's clock: once KICK's was set the two cannot be compared.
func (c *Context) openedLater(r *v1alpha1.KickRequest) bool {
	if r.Status.OpenedAt == nil || string(r.Spec.TargetRef.Kind) == rolloutKind.Kind && c.stepped() {
		return false
	}
	return r.Status.OpenedAt.Sub(c.restartTold(r)) > c.Allowance
}

// AtEnd reports a wait whose reason does not hold, and a rollout that is watched
// although it is over.
func (outcome) AtEnd(c *Context) {
	for _, object := range c.API.List(requestKind, "") {
		r := object.(*v1alpha1.KickRequest)
		w, ok := c.workload(r.Namespace, string(r.Spec.TargetRef.Kind), r.Spec.TargetRef.Name)
		if !ok || r.DeletionTimestamp != nil {
			continue
		}
		policies := c.policiesOf(w)
		if len(policies) == 0 || c.queuesBehind(r) {
			continue
		}
		c.sayTrue(r, blockCase{c, w, policies, c.knownStale(w, policies)})
	}
}

func (c *Context) sayTrue(r *v1alpha1.KickRequest, b blockCase) {
	switch {
	case terminal(r.Status.Phase) || phaseOf(r) == v1alpha1.PhasePending:
		return
	case r.Status.Phase == v1alpha1.PhaseExecuting:
		if b.w.complete() && b.w.available >= b.w.desired && !b.w.paused && b.stamps[b.w.id()] == b.w.stamp() {
			c.report(lawOutcome, "request %s/%s still watches the restart of %s, whose rollout is complete", r.Namespace, r.Name, b.w.id())
		}
		return
	}
	reason := reasonOf(r)
	if holds := blocks[reason]; holds != nil && !namesTruth[reason] && !holds(b) {
		c.report(lawOutcome, "request %s/%s is %s because of %s, which does not hold for %s", r.Namespace, r.Name, r.Status.Phase, reason, b.w.id())
	}
}

// namesTruth are the reasons that other laws hold against the world: their time is
// over at the end of a wait, not before.
var namesTruth = map[string]bool{"Settling": true, "RateLimited": true, "OutsideSchedule": true}
