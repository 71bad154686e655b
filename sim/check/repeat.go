package check

import (
	"slices"
	"time"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawRepeat = "a failed restart is not repeated"

// repeat holds what a request says of its restarts against the changes it tells of: a
// change that was answered by a restart asks for no other one, be it that this one
// failed or that somebody took it back. One that KICK was told of only later, and that
// was dated as shortly before that restart as clocks may differ, may have come after it.
type repeat struct{}

// OnKick reports a request that starts again, or tells of another restart, for a
// change that its last restart was for.
func (repeat) OnKick(c *Context, ev cluster.Event) {
	now, ok := ev.Object.(*v1alpha1.KickRequest)
	if !ok || ev.Type != cluster.Modified || now.Spec.Trigger == v1alpha1.TriggerManual {
		return
	}
	before := ev.Old.(*v1alpha1.KickRequest)
	last := before.Status.CurrentRollout
	switch {
	case last == nil || c.stepped() || !c.answered(before, now):
	case before.Status.Phase == v1alpha1.PhaseFailed && now.Status.Phase == v1alpha1.PhasePending:
		c.report(lawRepeat, "request %s was opened again, but its restart of %s failed and nothing changed since", ev.Key, micro(&last.StartedAt))
	case c.secondRestart(before, now):
		c.report(lawRepeat, "request %s tells of a restart of %s after one of %s, and nothing changed between them", ev.Key,
			micro(&now.Status.CurrentRollout.StartedAt), micro(&last.StartedAt))
	}
}

// answered reports that the change a request tells of was answered by the restart that it
// told of before.
func (c *Context) answered(before, now *v1alpha1.KickRequest) bool {
	restarted, changed := c.restartTold(before), now.Status.LatestObservedDependencyChange
	if changed == nil || changed.After(restarted) {
		return false
	}
	told := before.Status.LatestObservedDependencyChange
	return told == nil || !told.Before(changed) || !changed.Add(c.Allowance).After(restarted)
}

// secondRestart reports that a request was opened once and tells of another restart
// than it did, for which there was no reason.
func (c *Context) secondRestart(before, now *v1alpha1.KickRequest) bool {
	last, again, opened := before.Status.CurrentRollout, now.Status.CurrentRollout, now.Status.OpenedAt
	once := opened != nil && opened.Equal(before.Status.OpenedAt) && !opened.After(c.restartTold(before))
	return once && again != nil && !again.StartedAt.Equal(&last.StartedAt) && !c.madeAgain(now) && !c.leftSince(now, c.restartTold(before))
}

// leftSince reports that a source of a request's target was another for a while since then,
// by KICK's clock, and is as it was.
func (c *Context) leftSince(r *v1alpha1.KickRequest, since time.Time) bool {
	w, ok := c.workload(r.Namespace, string(r.Spec.TargetRef.Kind), r.Spec.TargetRef.Name)
	if !ok {
		return false
	}
	since = since.Add(c.Loop.Now().Sub(c.KickNow()))
	return slices.ContainsFunc(refsOf(r.Namespace, w.template), func(ref ref) bool {
		changes := c.sources.of(ref.source).changes
		for i := len(changes) - 1; i > 0 && changes[i].at.After(since); i-- {
			if changes[i-1].content == changes[len(changes)-1].content {
				return true
			}
		}
		return false
	})
}
