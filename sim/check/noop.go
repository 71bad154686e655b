package check

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawNoop = "no write without a change"

// noop looks at updates of KICK's own kinds; leases are renewed for their own sake. A patch
// that is sent again by the pass that made it, as a client does that had no answer, is one.
type noop struct{ patched map[sentKey]int64 } // the pass that patched an object last

// OnKick reports a write after which the object says the same as before.
func (*noop) OnKick(c *Context, ev cluster.Event) {
	if ev.Type != cluster.Modified || ev.Kind.Group != v1alpha1.GroupVersion.Group || !sameMeta(ev.Old, ev.Object) {
		return
	}
	if apiequality.Semantic.DeepEqual(said(ev.Old), said(ev.Object)) {
		c.report(lawNoop, "%s %s was written (%s) and says the same as before", ev.Kind.Kind, ev.Key, ev.Verb)
	}
}

// OnCall reports a write that the API server took and did not need to store.
func (n *noop) OnCall(c *Context, w Write) {
	if !w.Done || w.Err != nil || w.After == 0 || w.Kind.Kind == "Lease" {
		return
	}
	again := n.sentAgain(w)
	if w.Before == w.After && !again {
		c.report(lawNoop, "%s of %s %s was sent and changed nothing", w.Verb, w.Kind.Kind, w.Key)
	}
}

// sentAgain notes patches and reports whether one is of the pass that patched the object
// last.
func (n *noop) sentAgain(w Write) bool {
	if w.Verb != "patch" {
		return false
	}
	target := sentKey{w.Kind, w.Key}
	if w.Before == w.After {
		return w.Known.Pass > 0 && n.patched[target] == w.Known.Pass
	}
	if n.patched == nil {
		n.patched = map[sentKey]int64{}
	}
	n.patched[target] = w.Known.Pass
	return false
}

// said is the content of an object without the times that a careless writer
// renews on every pass.
func said(object any) []any {
	switch o := object.(type) {
	case *v1alpha1.KickRequest:
		status := o.Status
		status.Conditions = timeless(status.Conditions)
		return []any{o.Spec, status}
	case *v1alpha1.KickPolicy:
		status := o.Status
		status.Conditions = timeless(status.Conditions)
		return []any{o.Spec, status}
	case *v1alpha1.ConfigBundle:
		status := o.Status
		status.Conditions = timeless(status.Conditions)
		return []any{o.Spec, status}
	case *v1alpha1.NotificationPolicy:
		status := o.Status
		status.Conditions = timeless(status.Conditions)
		return []any{o.Spec, status}
	case *v1alpha1.SourceObservation:
		return []any{o.Spec}
	default:
		return []any{object}
	}
}

func timeless(conditions []metav1.Condition) []metav1.Condition {
	out := make([]metav1.Condition, len(conditions))
	for i, condition := range conditions {
		condition.LastTransitionTime = metav1.Time{}
		out[i] = condition
	}
	return out
}
