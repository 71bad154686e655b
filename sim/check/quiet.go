package check

import (
	"time"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawQuiet = "a source that never rests is not waited for"

// settleCap is how many settle delays changes that follow one another can hold a
// restart back (DESIGN section 6).
const settleCap = 10

// quiet follows requests that wait for the changes to end.
type quiet struct{}

// OnKick reports a wait that is longer than that.
func (quiet) OnKick(c *Context, ev cluster.Event) {
	r, ok := ev.Object.(*v1alpha1.KickRequest)
	if !ok || ev.Type != cluster.Modified || reasonOf(r) != "Settling" || r.Status.OpenedAt == nil || r.Status.Gate.RequeueAt == nil {
		return
	}
	w, ok := c.workload(r.Namespace, string(r.Spec.TargetRef.Kind), r.Spec.TargetRef.Name)
	if !ok || c.stepped() {
		return
	}
	policies := c.policiesOf(w)
	if len(policies) != 1 || !c.policyOlder(r) {
		return
	}
	if wait := r.Status.Gate.RequeueAt.Sub(r.Status.OpenedAt.Time); wait > settleCap*settleDelay(policies[0]) {
		c.report(lawQuiet, "request %s waits %s for its changes to end, and its settle delay is %s", ev.Key, wait, settleDelay(policies[0]))
	}
}

// policyOlder reports whether the policy was last edited before the request was opened,
// and so long ago that KICK was told of it: a watch may be late by half a minute.
func (c *Context) policyOlder(r *v1alpha1.KickRequest) bool {
	edit := c.policyEdit[r.Namespace]
	return c.Loop.Now().Sub(edit) >= time.Minute && edit.Before(c.trueTime(r.Status.OpenedAt.Time))
}
