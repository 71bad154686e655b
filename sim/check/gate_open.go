package check

import (
	"fmt"
	"time"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawGate = "gate open at the restart"

// gateOpen judges a restart at the instant KICK sends it.
type gateOpen struct{ sent sent }

// OnCall judges a patch of a workload as it is sent.
func (g *gateOpen) OnCall(c *Context, w Write) {
	if target, ok := c.patched(w); ok {
		g.sent.call(c, w, func() string { return c.gateShut(target, w.Known) })
	}
}

// OnKick reports a restart if no call that may have caused it met an open gate.
func (g *gateOpen) OnKick(c *Context, ev cluster.Event) {
	w, ok := c.restarted(ev)
	if !ok {
		return
	}
	if words := g.sent.landed(c, ev.Kind, ev.Key, func() string { return c.gateShut(w, Known{}) }); words != "" {
		c.report(lawGate, "restart of %s at %s, but %s", w.id(), c.KickNow().UTC().Format("15:04:05.000000Z"), words)
	}
}

// policyEditedSince reports an edit that came after the pass read the policies live,
// which it does last of all before it sends a restart.
func (c *Context) policyEditedSince(w workload, known Known) bool {
	edit, edited := c.policyEdit[w.GetNamespace()]
	return edited && !known.Policies.IsZero() && !edit.Before(known.Policies)
}

// gateShut says what forbids a restart now, or nothing.
func (c *Context) gateShut(w workload, known Known) string {
	if w.Object == nil || c.policyEditedSince(w, known) {
		return ""
	}
	policies := c.policiesOf(w)
	switch {
	case len(policies) == 0:
		return "no policy manages it"
	case len(policies) > 1:
		return fmt.Sprintf("policies %s and %s both match it", policies[0].Name, policies[1].Name)
	case policies[0].Spec.Suspend:
		return fmt.Sprintf("its policy %s is suspended", policies[0].Name)
	}
	if _, ok := parseWindows(policies[0]); !ok {
		return fmt.Sprintf("the windows of its policy %s cannot be read", policies[0].Name)
	}
	if open(policies[0], c.KickNow()) {
		return c.toolShuts(w, known)
	}
	return closedSince(policies[0], c.KickNow())
}

// toolShuts says what of a GitOps tool forbids a restart, as far as this judge knows it.
func (c *Context) toolShuts(w workload, known Known) string {
	if state, words := c.toolSays(w); state == toolShut && !c.toolEditedSince(known) {
		return words
	}
	return ""
}

// closedSince says when the window shut, as far as the last day knows.
func closedSince(policy *v1alpha1.KickPolicy, now time.Time) string {
	edge := now.Truncate(time.Minute)
	for range 24 * 60 {
		if open(policy, edge.Add(-time.Nanosecond)) {
			return "its window closed at " + edge.UTC().Format("15:04:05Z")
		}
		edge = edge.Add(-time.Minute)
	}
	return "its window is shut"
}
