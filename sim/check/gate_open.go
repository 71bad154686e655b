package check

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawGate = "gate open at the restart"

// policyGrace is how old an edit of a policy may be without KICK's cache knowing
// of it.
const policyGrace = time.Second

// gateOpen judges a restart at the instant KICK sends it: what happens on the
// wire, up to a patch that lands late, is not in KICK's hand.
type gateOpen struct {
	sent map[types.NamespacedName][]string // verdicts of calls not landed yet; "" is open
}

// OnCall judges a patch of a workload as it is sent.
func (g *gateOpen) OnCall(c *Context, w Write) {
	if w.Done || w.Kind.Group != "apps" || w.Sub != "" {
		return
	}
	target, ok := c.workload(w.Key.Namespace, w.Kind.Kind, w.Key.Name)
	if !ok {
		return
	}
	if g.sent == nil {
		g.sent = map[types.NamespacedName][]string{}
	}
	g.sent[w.Key] = append(g.sent[w.Key], c.gateShut(target))
}

// OnKick reports a restart if no call that may have caused it met an open gate.
func (g *gateOpen) OnKick(c *Context, ev cluster.Event) {
	w, ok := restarted(ev)
	if !ok {
		return
	}
	verdicts := g.sent[ev.Key]
	delete(g.sent, ev.Key)
	if len(verdicts) == 0 {
		verdicts = []string{c.gateShut(w)}
	}
	if slices.Contains(verdicts, "") {
		return
	}
	c.report(lawGate, "restart of %s at %s, but %s", w.id(), c.KickNow().UTC().Format("15:04:05.000000Z"), verdicts[len(verdicts)-1])
}

// gateShut says what forbids a restart now, or nothing.
func (c *Context) gateShut(w workload) string {
	if c.Loop.Now().Sub(c.policyEdit[w.GetNamespace()]) < policyGrace {
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
		return ""
	}
	return closedSince(policies[0], c.KickNow())
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
