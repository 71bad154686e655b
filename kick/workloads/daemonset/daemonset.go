// Package daemonset teaches KICK about apps/v1 DaemonSets.
package daemonset

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/workloads"
)

// Kind is the DaemonSet adapter.
type Kind struct {
	workloads.ControllerRevisions
	workloads.TemplateStamp
}

var _ workloads.Kind = Kind{}

// Name is "DaemonSet".
func (Kind) Name() string { return "DaemonSet" }

// APIVersion is "apps/v1".
func (Kind) APIVersion() string { return appsv1.SchemeGroupVersion.String() }

// New returns an empty DaemonSet.
func (Kind) New() client.Object { return &appsv1.DaemonSet{} }

// NewList returns an empty list of DaemonSets.
func (Kind) NewList() client.ObjectList { return &appsv1.DaemonSetList{} }

// Objects are the DaemonSets of a list.
func (Kind) Objects(list client.ObjectList) []client.Object {
	return workloads.Pointers(list.(*appsv1.DaemonSetList).Items)
}

// Template is spec.template.
func (Kind) Template(o client.Object) *corev1.PodTemplateSpec {
	return &o.(*appsv1.DaemonSet).Spec.Template
}

// Stamp is an annotation of the template.
func (k Kind) Stamp(o client.Object) string { return k.Template(o).Annotations[model.StampAnnotation] }

// Selector is spec.selector.
func (Kind) Selector(o client.Object) *metav1.LabelSelector {
	return o.(*appsv1.DaemonSet).Spec.Selector
}

// Rollout reads the status; a DaemonSet has no conditions and no deadline.
func (Kind) Rollout(o client.Object) model.Rollout {
	d := o.(*appsv1.DaemonSet)
	st := &d.Status
	r := model.Rollout{
		Observed: st.ObservedGeneration >= d.Generation,
		Replicas: st.DesiredNumberScheduled,
		OnDelete: d.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType,
	}
	behind := st.UpdatedNumberScheduled < st.DesiredNumberScheduled
	switch {
	case !r.Observed:
		r.Detail = fmt.Sprintf("generation %d of %d is seen by its controller", st.ObservedGeneration, d.Generation)
	case behind:
		r.Detail = workloads.PodsAre(st.UpdatedNumberScheduled, st.DesiredNumberScheduled, "of the wanted revision")
	case st.NumberAvailable < st.DesiredNumberScheduled:
		r.Detail = workloads.PodsAre(st.NumberAvailable, st.DesiredNumberScheduled, "available")
	}
	r.Rolling = !r.Observed || behind && !r.OnDelete
	r.Complete = !r.Rolling && st.NumberAvailable >= st.DesiredNumberScheduled
	return r
}

// Describe marks the revision with the highest number as the wanted one: that is
// true once the generation is observed, and nothing is judged before.
func (Kind) Describe(_ client.Object, all []client.Object) []model.Revision {
	return workloads.DescribeRevisions(all, workloads.NewestRevision(all))
}

// RevisionOf matches the hash label of pod and revision.
func (Kind) RevisionOf(pod *corev1.Pod, workload client.Object, all []client.Object) (string, bool) {
	owned := workloads.OwnedPod(pod, workload)
	hash := pod.Labels[appsv1.ControllerRevisionHashLabelKey]
	for _, r := range all {
		if hash != "" && r.GetLabels()[appsv1.ControllerRevisionHashLabelKey] == hash {
			return r.GetName(), owned
		}
	}
	return "", owned
}
