package check

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawEvents = "one event a transition"

// events counts, for each request, the transitions that no Event has told of yet.
// A crash may lose an Event, nothing may double one.
type events struct {
	untold map[types.NamespacedName]int
}

// OnKick counts a transition: a new phase, or a new reason within one.
func (e *events) OnKick(_ *Context, ev cluster.Event) {
	now, ok := ev.Object.(*v1alpha1.KickRequest)
	if !ok || ev.Sub != "status" {
		return
	}
	before, ok := ev.Old.(*v1alpha1.KickRequest)
	if !ok {
		return
	}
	same := phaseOf(before) == phaseOf(now) && reasonOf(before) == reasonOf(now) || !worthTelling(now)
	if same && !overridden(before, now) {
		return
	}
	if e.untold == nil {
		e.untold = map[types.NamespacedName]int{}
	}
	e.untold[ev.Key]++
}

// OnTold reports an Event that no transition stands behind.
func (e *events) OnTold(c *Context, t Told) {
	if t.Request.Name == "" { // of a bundle
		return
	}
	if e.untold[t.Request] == 0 {
		c.report(lawEvents, "KICK told %s of request %s, but it made no transition since the last event", t.Reason, t.Request)
		return
	}
	// One of several: a process that was frozen after its write tells late.
	e.untold[t.Request]--
}

// overridden reports that a gate was opened by hand with this write.
func overridden(before, now *v1alpha1.KickRequest) bool {
	return !gateOverridden(before) && gateOverridden(now)
}

func gateOverridden(r *v1alpha1.KickRequest) bool {
	return slices.ContainsFunc(r.Status.Conditions, func(c metav1.Condition) bool { return c.Type == v1alpha1.ConditionGateOverridden })
}

// worthTelling leaves out an opening, and a settle delay that is over in a moment.
func worthTelling(r *v1alpha1.KickRequest) bool {
	return phaseOf(r) != v1alpha1.PhasePending && reasonOf(r) != "Settling"
}

func reasonOf(r *v1alpha1.KickRequest) string {
	if r.Status.Gate == nil {
		return ""
	}
	return r.Status.Gate.Reason
}
