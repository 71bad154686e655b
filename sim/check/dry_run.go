package check

import "github.com/corewire/kick/sim/cluster"

const lawDryRun = "dry-run never writes"

// dryRun guards workloads under a policy that only wants to know.
type dryRun struct{}

// OnKick reports a write to such a workload.
func (dryRun) OnKick(c *Context, ev cluster.Event) {
	w, ok := workloadOf(ev.Object)
	if !ok || c.Loop.Now().Sub(c.policyEdit[w.GetNamespace()]) < policyGrace {
		return
	}
	for _, p := range c.policiesOf(w) {
		if p.Spec.DryRun {
			c.report(lawDryRun, "%s was written at %s, but its policy %s is a dry-run", w.id(), clockTime(c.Loop.Now()), p.Name)
		}
	}
}
