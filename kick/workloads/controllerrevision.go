package workloads

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model"
)

// ControllerRevisions is what StatefulSet and DaemonSet have in common: their
// revisions are ControllerRevisions. Embed it in an adapter.
type ControllerRevisions struct{}

// RevisionKind is "ControllerRevision".
func (ControllerRevisions) RevisionKind() string { return "ControllerRevision" }

// Revision returns an empty ControllerRevision.
func (ControllerRevisions) Revision() client.Object { return &appsv1.ControllerRevision{} }

// NewRevisions returns an empty list of ControllerRevisions.
func (ControllerRevisions) NewRevisions() client.ObjectList { return &appsv1.ControllerRevisionList{} }

// Items are the ControllerRevisions of a list.
func (ControllerRevisions) Items(list client.ObjectList) []client.Object {
	return Pointers(list.(*appsv1.ControllerRevisionList).Items)
}

// StripRevision drops the data of a ControllerRevision.
func (ControllerRevisions) StripRevision(o client.Object) {
	StripControllerRevision(o, &o.(*appsv1.ControllerRevision).Data.Raw)
}

// DescribeRevisions reads ControllerRevisions; which one is wanted is for the kind
// to say.
func DescribeRevisions(all []client.Object, wanted string) []model.Revision {
	described := make([]model.Revision, 0, len(all))
	for _, o := range all {
		r := o.(*appsv1.ControllerRevision)
		StripControllerRevision(r, &r.Data.Raw)
		described = append(described, model.Revision{
			Name: r.Name, Created: r.CreationTimestamp.UTC(), Wanted: r.Name == wanted, Stamp: NotedStamp(r),
		})
	}
	return described
}

// NewestRevision is the revision with the highest number: a workload's controller
// raises the number of an old revision when it becomes the wanted one again.
func NewestRevision(all []client.Object) string {
	name, newest := "", int64(-1)
	for _, o := range all {
		if r := o.(*appsv1.ControllerRevision); r.Revision > newest {
			name, newest = r.Name, r.Revision
		}
	}
	return name
}

// OwnedPod reports whether the workload itself controls the pod.
func OwnedPod(pod *corev1.Pod, workload client.Object) bool {
	ref := metav1.GetControllerOf(pod)
	return ref != nil && ref.UID == workload.GetUID()
}
