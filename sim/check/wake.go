package check

import (
	"time"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/clock"
)

const lawWake = "every wait has a wake-up"

// wake looks at the requests that wait at the end.
type wake struct{}

// byTime are the reasons that end when their time comes, and by nothing that KICK
// could watch.
var byTime = map[string]bool{"OutsideSchedule": true, "Settling": true, "RateLimited": true, "NotYet": true}

// byPods are the reasons that end by what pods do, which shows in no object KICK
// watches.
var byPods = map[string]bool{"PodsNotStarted": true}

// AtEnd reports a request that waits without anything to wake it, and one whose
// wait is over.
func (wake) AtEnd(c *Context) {
	if c.Operator == nil {
		return
	}
	for _, object := range c.API.List(requestKind, "") {
		r := object.(*v1alpha1.KickRequest)
		w, ok := c.workload(r.Namespace, string(r.Spec.TargetRef.Kind), r.Spec.TargetRef.Name)
		if !ok || terminal(r.Status.Phase) || r.DeletionTimestamp != nil || len(c.policiesOf(w)) == 0 || c.queuesBehind(r) {
			continue
		}
		c.mustWake(r, w)
	}
}

// wakeSlack is how much later than its time a wait may end.
const wakeSlack = 2 * time.Second

func (c *Context) mustWake(r *v1alpha1.KickRequest, w workload) {
	if phaseOf(r) == v1alpha1.PhasePending {
		if c.justOpened(r) {
			return
		}
		c.report(lawWake, "request %s/%s was opened at %s and never judged", r.Namespace, r.Name, clockTime(r.CreationTimestamp.Time))
		return
	}
	timer := c.Operator.Wake(w.GetNamespace(), w.kind, w.GetName())
	if r.Status.Gate != nil && r.Status.Gate.RequeueAt != nil {
		c.mustWakeAt(r, w, r.Status.Gate.RequeueAt.Time, timer)
		return
	}
	c.mustWakeUntold(r, w, timer)
}

// mustWakeUntold is about a wait whose end no status tells. A Rollout waits for the end of a
// second of the API server's clock, which KICK knows to the second.
func (c *Context) mustWakeUntold(r *v1alpha1.KickRequest, w workload, timer time.Time) {
	reason := reasonOf(r)
	untold := byPods[reason] || reason == "Settling" && w.rollout != nil
	switch {
	case untold && timer.IsZero():
		c.report(lawWake, "request %s/%s waits (%s), but no timer looks at %s again", r.Namespace, r.Name, reason, w.id())
	case !untold && byTime[reason] && !c.neverOpens(w) && !asksTool(c.policiesOf(w)):
		c.report(lawWake, "request %s/%s waits (%s) and does not say until when", r.Namespace, r.Name, reason)
	}
}

// justOpened reports that the operator had no time yet to judge a request.
func (c *Context) justOpened(r *v1alpha1.KickRequest) bool {
	if phaseOf(r) != v1alpha1.PhasePending {
		return false
	}
	if at := r.Status.OpenedAt; at != nil && c.KickNow().Sub(at.Time).Abs() < wakeSlack {
		return true
	}
	return c.now(clock.APIServer).Sub(r.CreationTimestamp.Time) < wakeSlack
}

// mustWakeAt is about a wait that ends at a time of KICK's clock.
func (c *Context) mustWakeAt(r *v1alpha1.KickRequest, w workload, ends, timer time.Time) {
	left, reason := ends.Sub(c.KickNow()), reasonOf(r)
	switch {
	case -left > wakeSlack:
		c.report(lawWake, "request %s/%s waits (%s) for %s, and it is %s", r.Namespace, r.Name, reason, clockTime(ends), clockTime(c.KickNow()))
	case timer.IsZero():
		if left > 0 { // else it has just fired
			c.report(lawWake, "request %s/%s waits (%s), but no timer looks at %s again", r.Namespace, r.Name, reason, w.id())
		}
	case !c.stepped() && timer.Sub(c.Loop.Now())-wakeSlack > left:
		c.report(lawWake, "request %s/%s waits (%s) for %s, but the timer for %s is %s later", r.Namespace, r.Name, reason, clockTime(ends), w.id(), timer.Sub(c.Loop.Now())-left)
	}
}

// neverOpens reports that no instant of the policy's windows could be waited for.
func (c *Context) neverOpens(w workload) bool {
	policies := c.policiesOf(w)
	if len(policies) != 1 {
		return true
	}
	windows, ok := parseWindows(policies[0])
	if !ok {
		return true
	}
	now := c.KickNow()
	return !openAmong(windows, now) && !opensAmong(windows, now, now.AddDate(1, 0, 0))
}

// clockSet is when KICK's clock was last set; windows it was set past never opened.
func (c *Context) clockSet() time.Time {
	if v := c.Clocks[clock.Kick]; v != nil {
		return v.Set()
	}
	return time.Time{}
}

// stepped reports whether KICK's clock was ever set: timers that ran by then do not
// follow it.
func (c *Context) stepped() bool { return c.steppedClock(clock.Kick) }
