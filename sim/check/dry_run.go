package check

import "github.com/corewire/kick/sim/cluster"

const lawDryRun = "dry-run never writes"

// dryRun guards workloads under a policy that only wants to know.
type dryRun struct{ sent sent }

// OnCall judges a write to a workload as it is sent.
func (d *dryRun) OnCall(c *Context, w Write) {
	if target, ok := c.patched(w); ok {
		d.sent.call(c, w, func() string { return c.onlyWantsToKnow(target, w.Known) })
	}
}

// OnKick reports a write to such a workload.
func (d *dryRun) OnKick(c *Context, ev cluster.Event) {
	w, ok := workloadOf(ev.Object)
	if !ok {
		return
	}
	if policy := d.sent.landed(c, ev.Kind, ev.Key, func() string { return c.onlyWantsToKnow(w, Known{}) }); policy != "" {
		c.report(lawDryRun, "%s was written at %s, but its policy %s is a dry-run", w.id(), clockTime(c.Loop.Now()), policy)
	}
}

// onlyWantsToKnow names the dry-run policy of a workload, if it has one.
func (c *Context) onlyWantsToKnow(w workload, known Known) string {
	if w.Object == nil || c.policyEditedSince(w, known) {
		return ""
	}
	for _, p := range c.policiesOf(w) {
		if p.Spec.DryRun {
			return p.Name
		}
	}
	return ""
}
