package argorollout

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/workloads"
)

// Kind is the Rollout adapter.
type Kind struct{}

var _ workloads.Referrer = Kind{}

// Name is "Rollout".
func (Kind) Name() string { return argorollouts.RolloutKind.Kind }

// APIVersion is "argoproj.io/v1alpha1".
func (Kind) APIVersion() string { return argorollouts.GroupVersion.String() }

// New returns an empty Rollout.
func (Kind) New() client.Object { return &argorollouts.Rollout{} }

// NewList returns an empty list of Rollouts.
func (Kind) NewList() client.ObjectList { return &argorollouts.RolloutList{} }

// Objects are the Rollouts of a list.
func (Kind) Objects(list client.ObjectList) []client.Object {
	return workloads.Pointers(list.(*argorollouts.RolloutList).Items)
}

// Template is spec.template; empty where the Rollout runs another workload's.
func (Kind) Template(o client.Object) *corev1.PodTemplateSpec {
	return &o.(*argorollouts.Rollout).Spec.Template
}

// Selector is spec.selector; nil where the Rollout takes another workload's.
func (Kind) Selector(o client.Object) *metav1.LabelSelector {
	return o.(*argorollouts.Rollout).Spec.Selector
}

// Stamp is spec.restartAt.
func (Kind) Stamp(o client.Object) string {
	at := o.(*argorollouts.Rollout).Spec.RestartAt
	if at == nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// StampPath leads to spec.restartAt.
func (Kind) StampPath() []string { return []string{"spec", "restartAt"} }

// StampValue is RFC 3339, whole seconds, UTC.
func (Kind) StampValue(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// Reference is the Deployment that spec.workloadRef names. Another kind is not
// followed: KICK keeps no template of it.
func (Kind) Reference(o client.Object) (model.Key, bool) {
	ref := o.(*argorollouts.Rollout).Spec.WorkloadRef
	if ref == nil || ref.APIVersion != appsv1.SchemeGroupVersion.String() || ref.Kind != "Deployment" {
		return model.Key{}, false
	}
	return model.Key{Kind: ref.Kind, Namespace: o.GetNamespace(), Name: ref.Name}, true
}

// Resolve puts the template of the referenced workload into a shallow copy.
func (Kind) Resolve(o client.Object, template *corev1.PodTemplateSpec, selector *metav1.LabelSelector) client.Object {
	resolved := *o.(*argorollouts.Rollout)
	resolved.Spec.Template = *template
	if resolved.Spec.Selector == nil {
		resolved.Spec.Selector = selector
	}
	return &resolved
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

// Describe marks the ReplicaSet of status.currentPodHash as the wanted one.
func (Kind) Describe(workload client.Object, all []client.Object) []model.Revision {
	want := workload.(*argorollouts.Rollout).Status.CurrentPodHash
	described := make([]model.Revision, 0, len(all))
	for _, o := range all {
		hash := o.GetLabels()[argorollouts.HashLabel]
		described = append(described, model.Revision{
			Name: o.GetName(), Created: o.GetCreationTimestamp().UTC(), Wanted: hash != "" && hash == want,
		})
	}
	return described
}

// RevisionOf is the ReplicaSet of the pod.
func (Kind) RevisionOf(pod *corev1.Pod, workload client.Object, all []client.Object) (string, bool) {
	return workloads.ReplicaSetOf(pod, workload, all, argorollouts.HashLabel)
}

// StripRevision drops what the cache does not need of a ReplicaSet. The template's hash
// is noted for Deployments, which share the kind.
func (Kind) StripRevision(o client.Object) {
	rs := o.(*appsv1.ReplicaSet)
	workloads.StripReplicaSet(rs, &rs.Spec.Template)
}
