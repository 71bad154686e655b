package check

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/sim/cluster"
)

// Stamp is the one annotation KICK writes on a pod template.
const Stamp = "kubectl.kubernetes.io/restartedAt"

// workloadKinds are the kinds KICK restarts, in the order laws visit them.
var workloadKinds = []schema.GroupKind{
	{Group: "apps", Kind: "DaemonSet"},
	{Group: "apps", Kind: "Deployment"},
	{Group: "apps", Kind: "StatefulSet"},
	rolloutKind,
}

// workload is the view of a Deployment, StatefulSet, DaemonSet or Rollout that laws need.
type workload struct {
	client.Object
	kind     string
	template *corev1.PodTemplateSpec

	desired, updated, ready, available, total int32

	observed         int64 // status.observedGeneration
	paused, onDelete bool
	partition        int32
	rollout          *argorollouts.Rollout // nil: it is none
}

// id is how scenarios name a workload: namespace/Kind/name.
func (w workload) id() string { return w.GetNamespace() + "/" + w.kind + "/" + w.GetName() }

// stamp is the restartedAt annotation of the template, of a Rollout its restartAt.
func (w workload) stamp() string {
	if w.rollout != nil {
		return w.restartAt()
	}
	return w.template.Annotations[Stamp]
}

// stampedBy reports whether a manager wrote the stamp that stands.
func stampedBy(w workload, manager string) bool {
	field := Stamp
	if w.rollout != nil {
		field = "f:restartAt"
	}
	return slices.ContainsFunc(w.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == manager && entry.FieldsV1 != nil && bytes.Contains(entry.FieldsV1.GetRawBytes(), []byte(field))
	})
}

// complete reports that the controller has seen the newest generation and every
// pod is of it and ready.
func (w workload) complete() bool {
	if w.rollout != nil {
		return w.settled() && w.ready >= w.desired
	}
	return w.observed >= w.GetGeneration() && w.updated >= w.desired-w.partition && w.total <= max(w.updated, w.desired) && w.ready >= w.desired
}

// workloadOf views an object, false for other kinds.
func workloadOf(object client.Object) (workload, bool) {
	switch o := object.(type) {
	case *appsv1.Deployment:
		return workload{
			Object: o, kind: "Deployment", template: &o.Spec.Template, desired: replicas(o.Spec.Replicas), paused: o.Spec.Paused,
			updated: o.Status.UpdatedReplicas, ready: o.Status.ReadyReplicas, available: o.Status.AvailableReplicas, total: o.Status.Replicas, observed: o.Status.ObservedGeneration,
		}, true
	case *appsv1.StatefulSet:
		w := workload{
			Object: o, kind: "StatefulSet", template: &o.Spec.Template, desired: replicas(o.Spec.Replicas),
			updated: o.Status.UpdatedReplicas, ready: o.Status.ReadyReplicas, available: o.Status.AvailableReplicas, total: o.Status.Replicas, observed: o.Status.ObservedGeneration,
			onDelete: o.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType,
		}
		if rolling := o.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil && !w.onDelete {
			w.partition = min(*rolling.Partition, w.desired)
		}
		return w, true
	case *appsv1.DaemonSet:
		return workload{
			Object: o, kind: "DaemonSet", template: &o.Spec.Template, desired: o.Status.DesiredNumberScheduled,
			updated: o.Status.UpdatedNumberScheduled, ready: o.Status.NumberReady, available: o.Status.NumberAvailable, total: o.Status.CurrentNumberScheduled,
			observed: o.Status.ObservedGeneration, onDelete: o.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType,
		}, true
	case *argorollouts.Rollout:
		return rolloutOf(o), true
	default:
		return workload{}, false
	}
}

func replicas(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}

// restarted reports that a write of KICK changed the stamp of a workload.
func (c *Context) restarted(ev cluster.Event) (workload, bool) {
	if ev.Type != cluster.Modified || ev.Kind.Group != "apps" && ev.Kind != rolloutKind {
		return workload{}, false
	}
	now, ok := workloadOf(ev.Object)
	if !ok {
		return workload{}, false
	}
	before, _ := workloadOf(ev.Old)
	return c.resolved(now), now.stamp() != before.stamp()
}

// workloads lists every workload of the cluster.
func (c *Context) workloads() []workload {
	var out []workload
	for _, kind := range workloadKinds {
		if kind == rolloutKind && !c.Rollouts {
			continue
		}
		for _, object := range c.API.List(kind, "") {
			if w, ok := workloadOf(object); ok {
				out = append(out, c.resolved(w))
			}
		}
	}
	return out
}

// workload finds one workload by kind and name.
func (c *Context) workload(namespace, kind, name string) (workload, bool) {
	object := c.API.Get(groupKindOf(kind), types.NamespacedName{Namespace: namespace, Name: name})
	if object == nil {
		return workload{}, false
	}
	w, ok := workloadOf(object)
	return c.resolved(w), ok
}

// groupKindOf is the kind of a workload by its name.
func groupKindOf(kind string) schema.GroupKind {
	if kind == rolloutKind.Kind {
		return rolloutKind
	}
	return schema.GroupKind{Group: "apps", Kind: kind}
}

// clockTime is an instant as messages show it.
func clockTime(t time.Time) string { return t.UTC().Format("15:04:05.000Z") }

func plural(n int, one string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", one)
	}
	return fmt.Sprintf("%d %ss", n, one)
}
