package check

import (
	"cmp"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawBounds = "only what is managed is touched"

// bounds guards namespaces and workloads that are not KICK's business.
type bounds struct{}

// OnKick reports a write outside the namespaces KICK was told to watch.
func (bounds) OnKick(c *Context, ev cluster.Event) {
	if ns := ev.Key.Namespace; !c.watched(ns) && ns != c.Own {
		c.report(lawBounds, "KICK wrote %s %s (%s), but it watches only %s", ev.Kind.Kind, ev.Key, ev.Verb, join(c.Watched))
	}
}

// AtEnd reports an unfinished request for a workload that no policy selects, or
// that does not exist.
func (bounds) AtEnd(c *Context) {
	for _, object := range c.API.List(requestKind, "") {
		r := object.(*v1alpha1.KickRequest)
		if terminal(r.Status.Phase) || r.DeletionTimestamp != nil || !c.watched(r.Namespace) {
			continue
		}
		w, ok := c.workload(r.Namespace, string(r.Spec.TargetRef.Kind), r.Spec.TargetRef.Name)
		switch {
		case !ok:
			c.report(lawBounds, "request %s/%s is %s, but its workload does not exist", r.Namespace, r.Name, phaseOf(r))
		case len(c.policiesOf(w)) == 0 && !c.queuesBehind(r):
			c.report(lawBounds, "request %s/%s is %s, but no policy selects %s", r.Namespace, r.Name, phaseOf(r), w.id())
		}
	}
}

// queuesBehind reports that another unfinished request for the same workload is served
// first: an older one, or one that waits for no date.
func (c *Context) queuesBehind(r *v1alpha1.KickRequest) bool {
	now := c.KickNow()
	return slices.ContainsFunc(c.API.List(requestKind, r.Namespace), func(object client.Object) bool {
		other := object.(*v1alpha1.KickRequest)
		if other.UID == r.UID || other.Spec.TargetRef != r.Spec.TargetRef || terminal(other.Status.Phase) {
			return false
		}
		if dated, otherDated := ofLater(r, now), ofLater(other, now); dated != otherDated {
			return dated
		}
		return cmp.Or(other.CreationTimestamp.Compare(r.CreationTimestamp.Time), cmp.Compare(other.Name, r.Name)) < 0
	})
}

// ofLater reports whether somebody asked for a restart that is not to be made yet.
func ofLater(r *v1alpha1.KickRequest, now time.Time) bool {
	return r.Spec.Trigger != v1alpha1.TriggerDependency && r.Spec.ChangedAt != nil && r.Spec.ChangedAt.After(now)
}

// watched reports whether KICK was told to look at a namespace.
func (c *Context) watched(namespace string) bool {
	return len(c.Watched) == 0 || slices.Contains(c.Watched, namespace)
}
