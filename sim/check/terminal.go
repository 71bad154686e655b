package check

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawTerminal = "a finished request is inert"

// terminalInert guards requests that have come to an end.
type terminalInert struct{}

// OnKick reports a write to a finished request that does not reopen it.
func (terminalInert) OnKick(c *Context, ev cluster.Event) {
	now, ok := ev.Object.(*v1alpha1.KickRequest)
	if !ok || ev.Type != cluster.Modified {
		return
	}
	before := ev.Old.(*v1alpha1.KickRequest)
	if !terminal(before.Status.Phase) || !terminal(now.Status.Phase) {
		return
	}
	if !sameMeta(before, now) || !apiequality.Semantic.DeepEqual(before.Status, now.Status) || !apiequality.Semantic.DeepEqual(before.Spec, now.Spec) {
		c.report(lawTerminal, "request %s is %s and was written without being reopened", ev.Key, before.Status.Phase)
	}
}
