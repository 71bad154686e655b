package check

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawDeadline = "no restart comes late"

// deadline judges restarts after the last fault: each must come as soon as nothing
// stands against it. That they come at all is nothing lost.
type deadline struct {
	restarted map[string]string     // KICK's newest stamp, by workload
	refused   map[sentKey]time.Time // when the API server last would not have a restart
}

// What may lie between the moment at which a restart became possible and the
// restart, besides what the policy asks for: a lease that has to expire, a pass that
// failed before the faults ended and is tried again; see also look.
const (
	takeover = 30 * time.Second
	backoff  = time.Minute
	// refusal is how long KICK leaves a restart alone that the API server will not have.
	refusal = 5 * time.Minute
)

// OnCall notes a restart that was refused.
func (d *deadline) OnCall(c *Context, w Write) {
	if _, ok := c.patched(w); !ok || !w.Done || !refused(w.Err) {
		return
	}
	if d.refused == nil {
		d.refused = map[sentKey]time.Time{}
	}
	d.refused[sentKey{w.Kind, w.Key}] = c.Loop.Now()
}

func refused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}

// OnKick reports a restart that came too late.
func (d *deadline) OnKick(c *Context, ev cluster.Event) { //nolint:cyclop // one condition after another
	w, ok := c.restarted(ev)
	if !ok {
		return
	}
	if d.restarted == nil {
		d.restarted = map[string]string{}
	}
	last := d.restarted[w.id()]
	d.restarted[w.id()] = w.stamp()
	r := c.restartCase(w, Known{})
	if c.Healed.IsZero() || c.stepped() || r.manual() || !r.wasStale() { // a needless one is another law's
		return
	}
	policies := c.policiesOf(w)
	if len(policies) != 1 {
		return
	}
	possible := latest(latest(c.Healed, c.busy[w.GetNamespace()]), c.policyEdit[w.GetNamespace()])
	if at, ok := d.refused[sentKey{ev.Kind, ev.Key}]; ok {
		possible = latest(possible, at.Add(refusal))
	}
	possible = latest(possible, r.classesQuiet())
	before, _ := workloadOf(ev.Old)
	for _, stamp := range []string{before.stamp(), last} { // the latter may have been taken away
		if at, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
			possible = latest(possible, c.trueTime(at.Add(minInterval(policies[0]))))
		}
	}
	allowed := settleDelay(policies[0]) + takeover + backoff + look(r.pods)
	if !before.complete() { // a rollout that hangs is given its time first
		allowed += c.rolloutTimeout(w)
	}
	if asksTool(policies) { // whose windows may have been shut
		if state, _ := c.toolSays(w); state != toolOpen {
			return
		}
		possible = latest(possible, c.toolEdit)
	}
	if maxConcurrent(policies[0]) > 0 || c.MaxConcurrent > 0 { // those before it are given theirs
		possible = latest(possible, c.ended)
	}
	late := func() bool { return c.Loop.Now().Sub(possible) > allowed }
	if !late() {
		return
	}
	if possible = latest(possible, c.openSince(policies[0], possible)); late() {
		c.report(lawDeadline, "restart of %s at %s, but nothing stood against it since %s, and it has to come within %s", w.id(), clockTime(c.Loop.Now()), clockTime(possible), allowed)
	}
}

// look is how long it may take to see that pods have started: the longer one took for that,
// the more rarely it is looked at, but each five minutes.
func look(pods []Pod) time.Duration {
	longest := time.Minute
	for i := range pods {
		for _, c := range pods[i].Containers {
			if !c.Again {
				longest = max(longest, c.Started.Sub(pods[i].Created)/6)
			}
		}
	}
	return min(longest, 5*time.Minute)
}

// trueTime is the instant at which KICK's clock showed a time.
func (c *Context) trueTime(t time.Time) time.Time { return c.Loop.Now().Add(t.Sub(c.KickNow())) }

// openSince is when the gate of a policy opened for the last time, not looking
// further back than an instant, to within a few seconds. The gate is open now.
func (c *Context) openSince(policy *v1alpha1.KickPolicy, from time.Time) time.Time {
	const step = 5 * time.Second
	windows, ok := parseWindows(policy)
	if !ok || len(windows) == 0 {
		return from
	}
	offset := c.KickNow().Sub(c.Loop.Now())
	for at := c.Loop.Now(); at.After(from); at = at.Add(-step) {
		if !openAmong(windows, at.Add(offset)) {
			return at.Add(step)
		}
	}
	return from
}
