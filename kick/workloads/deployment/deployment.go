// Package deployment teaches KICK about apps/v1 Deployments.
package deployment

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/workloads"
)

// Kind is the Deployment adapter.
type Kind struct{ workloads.TemplateStamp }

var _ workloads.Kind = Kind{}

// Name is "Deployment".
func (Kind) Name() string { return "Deployment" }

// APIVersion is "apps/v1".
func (Kind) APIVersion() string { return appsv1.SchemeGroupVersion.String() }

// New returns an empty Deployment.
func (Kind) New() client.Object { return &appsv1.Deployment{} }

// NewList returns an empty list of Deployments.
func (Kind) NewList() client.ObjectList { return &appsv1.DeploymentList{} }

// Objects are the Deployments of a list.
func (Kind) Objects(list client.ObjectList) []client.Object {
	return workloads.Pointers(list.(*appsv1.DeploymentList).Items)
}

// Template is spec.template.
func (Kind) Template(o client.Object) *corev1.PodTemplateSpec {
	return &o.(*appsv1.Deployment).Spec.Template
}

// Stamp is an annotation of the template.
func (k Kind) Stamp(o client.Object) string { return k.Template(o).Annotations[model.StampAnnotation] }

// Selector is spec.selector.
func (Kind) Selector(o client.Object) *metav1.LabelSelector {
	return o.(*appsv1.Deployment).Spec.Selector
}

// Rollout reads the status as kubectl does, with the one test more that old pods
// are gone. Available matters only while the running rollout has not been seen to
// complete: later it falls with every sick pod, which is no rollout.
func (Kind) Rollout(o client.Object) model.Rollout {
	d := o.(*appsv1.Deployment)
	want := replicas(d)
	progressing := condition(d, appsv1.DeploymentProgressing)
	completed := progressing.Status == corev1.ConditionTrue && progressing.Reason == "NewReplicaSetAvailable"
	st := &d.Status
	r := model.Rollout{
		Observed:         st.ObservedGeneration >= d.Generation,
		Replicas:         want,
		Paused:           d.Spec.Paused,
		DeadlineExceeded: progressing.Status == corev1.ConditionFalse && progressing.Reason == "ProgressDeadlineExceeded",
	}
	if progressing.Reason == "DeploymentResumed" {
		r.Resumed = progressing.LastUpdateTime.UTC()
	}
	unavailable := st.AvailableReplicas < want
	r.Detail = detail(d, r.Observed, want)
	r.Rolling = !r.Observed || st.UpdatedReplicas < want || st.Replicas > st.UpdatedReplicas ||
		unavailable && progressing.Type != "" && !completed
	r.Complete = !r.Rolling && !unavailable
	return r
}

// detail says what is still to come, in words.
func detail(d *appsv1.Deployment, observed bool, want int32) string {
	switch st := &d.Status; {
	case !observed:
		return fmt.Sprintf("generation %d of %d is seen by its controller", st.ObservedGeneration, d.Generation)
	case st.UpdatedReplicas < want:
		return workloads.PodsAre(st.UpdatedReplicas, want, "of the wanted revision")
	case st.Replicas == st.UpdatedReplicas+1:
		return "1 pod of an older revision is left"
	case st.Replicas > st.UpdatedReplicas:
		return fmt.Sprintf("%d pods of older revisions are left", st.Replicas-st.UpdatedReplicas)
	case st.AvailableReplicas < want:
		return workloads.PodsAre(st.AvailableReplicas, want, "available")
	}
	return ""
}

func replicas(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

func condition(d *appsv1.Deployment, kind appsv1.DeploymentConditionType) appsv1.DeploymentCondition {
	for _, c := range d.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return appsv1.DeploymentCondition{}
}

// RevisionKind is "ReplicaSet".
func (Kind) RevisionKind() string { return "ReplicaSet" }

// Revision returns an empty ReplicaSet.
func (Kind) Revision() client.Object { return &appsv1.ReplicaSet{} }

// NewRevisions returns an empty list of ReplicaSets.
func (Kind) NewRevisions() client.ObjectList { return &appsv1.ReplicaSetList{} }

// Items are the ReplicaSets of a list.
func (Kind) Items(list client.ObjectList) []client.Object {
	return workloads.Pointers(list.(*appsv1.ReplicaSetList).Items)
}

// Describe compares templates, as the Deployment controller does: no label or
// annotation says which ReplicaSet is the wanted one.
func (Kind) Describe(workload client.Object, all []client.Object) []model.Revision {
	if len(all) == 0 {
		return nil
	}
	want := workloads.TemplateHash(&workload.(*appsv1.Deployment).Spec.Template)
	described := make([]model.Revision, 0, len(all))
	for _, o := range all {
		rs := o.(*appsv1.ReplicaSet)
		workloads.StripReplicaSet(rs, &rs.Spec.Template)
		described = append(described, model.Revision{
			Name: rs.Name, Created: rs.CreationTimestamp.UTC(),
			Wanted: workloads.NotedHash(rs) == want, Stamp: workloads.NotedStamp(rs),
		})
	}
	return described
}

// RevisionOf is the ReplicaSet of the pod.
func (Kind) RevisionOf(pod *corev1.Pod, workload client.Object, all []client.Object) (string, bool) {
	return workloads.ReplicaSetOf(pod, workload, all, appsv1.DefaultDeploymentUniqueLabelKey)
}

// StripRevision drops what the cache does not need of a ReplicaSet.
func (Kind) StripRevision(o client.Object) {
	rs := o.(*appsv1.ReplicaSet)
	workloads.StripReplicaSet(rs, &rs.Spec.Template)
}
