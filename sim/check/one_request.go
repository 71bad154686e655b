package check

import (
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawOneRequest = "one active request per workload"

// oneRequest looks whenever KICK opens or reopens a request. Requests that users
// make for themselves are theirs to count.
type oneRequest struct{}

// OnKick reports a second unfinished request for one target.
func (oneRequest) OnKick(c *Context, ev cluster.Event) {
	r, ok := ev.Object.(*v1alpha1.KickRequest)
	if !ok || ev.Type == cluster.Deleted || !openForChange(r) {
		return
	}
	if old, ok := ev.Old.(*v1alpha1.KickRequest); ok && !terminal(old.Status.Phase) {
		return
	}
	for _, object := range c.API.List(requestKind, r.Namespace) {
		other := object.(*v1alpha1.KickRequest)
		if other.Name != r.Name && other.Spec.TargetRef == r.Spec.TargetRef && openForChange(other) {
			c.report(lawOneRequest, "requests %s and %s in %s are both open for %s/%s", other.Name, r.Name, r.Namespace, r.Spec.TargetRef.Kind, r.Spec.TargetRef.Name)
		}
	}
}

func openForChange(r *v1alpha1.KickRequest) bool {
	return !terminal(r.Status.Phase) && r.Spec.Trigger == v1alpha1.TriggerDependency
}
