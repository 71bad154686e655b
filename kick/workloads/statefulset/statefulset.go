// Package statefulset teaches KICK about apps/v1 StatefulSets.
package statefulset

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/workloads"
)

// Kind is the StatefulSet adapter.
type Kind struct {
	workloads.ControllerRevisions
	workloads.TemplateStamp
}

var _ workloads.Kind = Kind{}

// Name is "StatefulSet".
func (Kind) Name() string { return "StatefulSet" }

// APIVersion is "apps/v1".
func (Kind) APIVersion() string { return appsv1.SchemeGroupVersion.String() }

// New returns an empty StatefulSet.
func (Kind) New() client.Object { return &appsv1.StatefulSet{} }

// NewList returns an empty list of StatefulSets.
func (Kind) NewList() client.ObjectList { return &appsv1.StatefulSetList{} }

// Objects are the StatefulSets of a list.
func (Kind) Objects(list client.ObjectList) []client.Object {
	return workloads.Pointers(list.(*appsv1.StatefulSetList).Items)
}

// Template is spec.template.
func (Kind) Template(o client.Object) *corev1.PodTemplateSpec {
	return &o.(*appsv1.StatefulSet).Spec.Template
}

// Stamp is an annotation of the template.
func (k Kind) Stamp(o client.Object) string { return k.Template(o).Annotations[model.StampAnnotation] }

// Selector is spec.selector.
func (Kind) Selector(o client.Object) *metav1.LabelSelector {
	return o.(*appsv1.StatefulSet).Spec.Selector
}

// Rollout reads the status. Pods below the partition stay at their revision for
// ever, so they are not waited for.
func (Kind) Rollout(o client.Object) model.Rollout {
	s := o.(*appsv1.StatefulSet)
	want := int32(1)
	if s.Spec.Replicas != nil {
		want = *s.Spec.Replicas
	}
	r := model.Rollout{
		Observed: s.Status.ObservedGeneration >= s.Generation,
		Replicas: want,
		OnDelete: s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType,
	}
	if u := s.Spec.UpdateStrategy.RollingUpdate; u != nil && u.Partition != nil && !r.OnDelete {
		r.Partition = *u.Partition
	}
	updated := max(want-r.Partition, 0)
	behind := s.Status.UpdatedReplicas < updated
	r.Detail = detail(s, r.Observed, want, updated)
	r.Rolling = !r.Observed || behind && !r.OnDelete
	r.Complete = !r.Rolling && s.Status.AvailableReplicas >= want && s.Status.Replicas <= want
	return r
}

// detail says what is still to come, in words.
func detail(s *appsv1.StatefulSet, observed bool, want, updated int32) string {
	switch st := &s.Status; {
	case !observed:
		return fmt.Sprintf("generation %d of %d is seen by its controller", st.ObservedGeneration, s.Generation)
	case st.UpdatedReplicas < updated:
		return workloads.PodsAre(st.UpdatedReplicas, updated, "of the wanted revision")
	case st.AvailableReplicas < want:
		return workloads.PodsAre(st.AvailableReplicas, want, "available")
	case st.Replicas == 1 && want == 0:
		return "1 pod is there, 0 are wanted"
	case st.Replicas > want:
		return fmt.Sprintf("%d pods are there, %d are wanted", st.Replicas, want)
	}
	return ""
}

// Describe marks status.updateRevision as the wanted one.
func (Kind) Describe(workload client.Object, all []client.Object) []model.Revision {
	return workloads.DescribeRevisions(all, workload.(*appsv1.StatefulSet).Status.UpdateRevision)
}

// RevisionOf reads the pod's label, which holds the name of the revision.
func (Kind) RevisionOf(pod *corev1.Pod, workload client.Object, _ []client.Object) (string, bool) {
	return pod.Labels[appsv1.ControllerRevisionHashLabelKey], workloads.OwnedPod(pod, workload)
}
