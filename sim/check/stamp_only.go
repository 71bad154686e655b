package check

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/sim/cluster"
)

const lawStampOnly = "only the stamp is written"

// stampOnly guards everything that is not KICK's.
type stampOnly struct{}

// OnKick reports a write of KICK to somebody else's object that is more than the
// stamp on a workload.
func (stampOnly) OnKick(c *Context, ev cluster.Event) {
	if c.Bundles && (ev.Kind == configMapKind || ev.Kind.Kind == "ControllerRevision" && owningBundle(ev.Object).UID != "") {
		return // bundleForeign judges it
	}
	switch ev.Object.(type) {
	case *corev1.Pod, *corev1.ConfigMap, *corev1.Namespace, *corev1.Node, *appsv1.ReplicaSet, *appsv1.ControllerRevision:
		c.report(lawStampOnly, "KICK wrote %s %s (%s)", ev.Kind.Kind, ev.Key, ev.Verb)
		return
	}
	w, ok := workloadOf(ev.Object)
	if !ok {
		return
	}
	if ev.Type != cluster.Modified || ev.Sub != "" {
		c.report(lawStampOnly, "KICK wrote %s (%s %s)", w.id(), ev.Verb, ev.Sub)
		return
	}
	if !sameMeta(ev.Old, ev.Object) || !apiequality.Semantic.DeepEqual(withoutStamp(ev.Old), withoutStamp(ev.Object)) {
		c.report(lawStampOnly, "KICK changed more of %s than %s", w.id(), w.stampField())
	}
}

// sameMeta compares metadata, bookkeeping of the server left out.
func sameMeta(a, b client.Object) bool {
	return a.GetUID() == b.GetUID() &&
		apiequality.Semantic.DeepEqual(a.GetLabels(), b.GetLabels()) &&
		apiequality.Semantic.DeepEqual(drop(a.GetAnnotations(), appsv1.DeprecatedTemplateGeneration), drop(b.GetAnnotations(), appsv1.DeprecatedTemplateGeneration)) &&
		apiequality.Semantic.DeepEqual(a.GetOwnerReferences(), b.GetOwnerReferences()) &&
		apiequality.Semantic.DeepEqual(a.GetFinalizers(), b.GetFinalizers()) &&
		apiequality.Semantic.DeepEqual(a.GetDeletionTimestamp(), b.GetDeletionTimestamp())
}

// withoutStamp is the spec and status of a workload without the stamp. The copy
// is shallow: stored objects must not change.
func withoutStamp(object client.Object) []any {
	var spec, status any
	switch o := object.(type) {
	case *appsv1.Deployment:
		s := o.Spec
		s.Template.Annotations = drop(s.Template.Annotations, Stamp)
		spec, status = s, o.Status
	case *appsv1.StatefulSet:
		s := o.Spec
		s.Template.Annotations = drop(s.Template.Annotations, Stamp)
		spec, status = s, o.Status
	case *appsv1.DaemonSet:
		s := o.Spec
		s.Template.Annotations = drop(s.Template.Annotations, Stamp)
		spec, status = s, o.Status
	case *argorollouts.Rollout:
		s := o.Spec
		s.RestartAt = nil
		spec, status = s, o.Status
	}
	return []any{spec, status}
}

// drop leaves one annotation out. The API server itself counts the templates of a
// DaemonSet in one, whoever writes the template.
func drop(annotations map[string]string, name string) map[string]string {
	out := make(map[string]string, len(annotations))
	for k, v := range annotations {
		if k != name {
			out[k] = v
		}
	}
	return out
}
