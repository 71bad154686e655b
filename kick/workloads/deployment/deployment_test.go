package deployment_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/workloads/deployment"
)

// progressing is the condition with its reason; "" is a Deployment without a
// progress deadline, which has none.
func progressing(status corev1.ConditionStatus, reason string) []appsv1.DeploymentCondition {
	if reason == "" {
		return nil
	}
	return []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentProgressing, Status: status, Reason: reason,
		LastUpdateTime: metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
	}}
}

// Proves: KICK-FEAT-022, I3.
func TestRollout(t *testing.T) {
	const done = "NewReplicaSetAvailable"
	three, zero := int32(3), int32(0)
	resumed := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		replicas   *int32
		paused     bool
		generation int64
		status     appsv1.DeploymentStatus
		want       model.Rollout
	}{
		"complete": {
			replicas: &three, generation: 2,
			status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3, Conditions: progressing("True", done)},
			want:   model.Rollout{Observed: true, Replicas: 3, Complete: true},
		},
		"just made: no status at all": {
			replicas: &three, generation: 1,
			want: model.Rollout{Replicas: 3, Rolling: true, Detail: "generation 0 of 1 is seen by its controller"},
		},
		"replicas unset means one": {
			generation: 1,
			status:     appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1, Conditions: progressing("True", done)},
			want:       model.Rollout{Observed: true, Replicas: 1, Complete: true},
		},
		"new template not seen by the controller": {
			replicas: &three, generation: 3,
			status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3, Conditions: progressing("True", done)},
			want:   model.Rollout{Replicas: 3, Rolling: true, Detail: "generation 2 of 3 is seen by its controller"},
		},
		"one of three is new": {
			replicas: &three, generation: 2,
			status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 4, UpdatedReplicas: 1, AvailableReplicas: 3, Conditions: progressing("True", "ReplicaSetUpdated")},
			want:   model.Rollout{Observed: true, Replicas: 3, Rolling: true, Detail: "1 of 3 pods are of the wanted revision"},
		},
		"an old pod is left (kubectl's test alone would not do)": {
			replicas: &three, generation: 2,
			status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 4, UpdatedReplicas: 3, AvailableReplicas: 3, Conditions: progressing("True", "ReplicaSetUpdated")},
			want:   model.Rollout{Observed: true, Replicas: 3, Rolling: true, Detail: "1 pod of an older revision is left"},
		},
		"all new, one not available yet": {
			replicas: &three, generation: 2,
			status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 2, Conditions: progressing("True", "ReplicaSetUpdated")},
			want:   model.Rollout{Observed: true, Replicas: 3, Rolling: true, Detail: "2 of 3 pods are available"},
		},
		"sick pods long after the rollout are no rollout": {
			replicas: &three, generation: 2,
			status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 0, Conditions: progressing("True", done)},
			want:   model.Rollout{Observed: true, Replicas: 3, Detail: "0 of 3 pods are available"},
		},
		"no progress deadline: unavailability alone is no rollout": {
			replicas: &three, generation: 2,
			status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 2},
			want:   model.Rollout{Observed: true, Replicas: 3, Detail: "2 of 3 pods are available"},
		},
		"deadline exceeded": {
			replicas: &three, generation: 2,
			status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 4, UpdatedReplicas: 1, AvailableReplicas: 3, Conditions: progressing("False", "ProgressDeadlineExceeded")},
			want:   model.Rollout{Observed: true, Replicas: 3, Rolling: true, DeadlineExceeded: true, Detail: "1 of 3 pods are of the wanted revision"},
		},
		"a replica set that cannot be made is no passed deadline": {
			replicas: &three, generation: 2,
			status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, AvailableReplicas: 3, Conditions: progressing("False", "ReplicaSetCreateError")},
			want:   model.Rollout{Observed: true, Replicas: 3, Rolling: true, Detail: "0 of 3 pods are of the wanted revision"},
		},
		"paused with a template that is not rolled out": {
			replicas: &three, generation: 2, paused: true,
			status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, AvailableReplicas: 3, Conditions: progressing("Unknown", "DeploymentPaused")},
			want:   model.Rollout{Observed: true, Replicas: 3, Rolling: true, Paused: true, Detail: "0 of 3 pods are of the wanted revision"},
		},
		"paused and at rest": {
			replicas: &three, generation: 2, paused: true,
			status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3, Conditions: progressing("Unknown", "DeploymentPaused")},
			want:   model.Rollout{Observed: true, Replicas: 3, Complete: true, Paused: true},
		},
		"resumed": {
			replicas: &three, generation: 2,
			status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 0, AvailableReplicas: 3, Conditions: progressing("Unknown", "DeploymentResumed")},
			want:   model.Rollout{Observed: true, Replicas: 3, Rolling: true, Resumed: resumed, Detail: "0 of 3 pods are of the wanted revision"},
		},
		"scaled to zero": {
			replicas: &zero, generation: 2,
			status: appsv1.DeploymentStatus{ObservedGeneration: 2, Conditions: progressing("True", done)},
			want:   model.Rollout{Observed: true, Complete: true},
		},
		"scaling to zero": {
			replicas: &zero, generation: 2,
			status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1, Conditions: progressing("True", done)},
			want:   model.Rollout{Observed: true, Complete: true},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := &appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Generation: tt.generation},
				Spec:       appsv1.DeploymentSpec{Replicas: tt.replicas, Paused: tt.paused}, Status: tt.status,
			}
			if diff := cmp.Diff(tt.want, deployment.Kind{}.Rollout(d)); diff != "" {
				t.Errorf("Rollout() (-want +got):\n%s", diff)
			}
		})
	}
}

func template(image string, labels map[string]string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: image}}},
	}
}

func TestWhichReplicaSetIsWanted(t *testing.T) {
	d := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: template("app:2", map[string]string{"app": "web"})}}
	tests := map[string]struct {
		template corev1.PodTemplateSpec
		want     bool
	}{
		"same template, and the label the controller adds": {template("app:2", map[string]string{"app": "web", "pod-template-hash": "6d4b"}), true},
		"other image":      {template("app:1", map[string]string{"app": "web", "pod-template-hash": "6d4b"}), false},
		"one label more":   {template("app:2", map[string]string{"app": "web", "tier": "x", "pod-template-hash": "6d4b"}), false},
		"empty, not unset": {emptied(template("app:2", map[string]string{"app": "web"})), true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web-6d4b"}, Spec: appsv1.ReplicaSetSpec{Template: tt.template}}
			if got := (deployment.Kind{}).Describe(d, []client.Object{rs})[0]; got.Wanted != tt.want || got.Name != "web-6d4b" {
				t.Errorf("Describe() = %+v, want Wanted = %v", got, tt.want)
			}
		})
	}
}

// emptied is a template with empty maps and lists where there were none.
func emptied(t corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	t.Annotations = map[string]string{}
	t.Spec.Volumes = []corev1.Volume{}
	t.Spec.NodeSelector = map[string]string{}
	t.Spec.Containers[0].Env = []corev1.EnvVar{}
	return t
}

func TestDescribeReadsTheStampOfAStrippedReplicaSet(t *testing.T) {
	tmpl := template("app:2", map[string]string{"app": "web", "pod-template-hash": "6d4b"})
	tmpl.Annotations = map[string]string{model.StampAnnotation: "2026-03-01T12:00:00.000001Z"}
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web-6d4b"}, Spec: appsv1.ReplicaSetSpec{Template: tmpl}}
	d := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: template("app:2", map[string]string{"app": "web"})}}
	d.Spec.Template.Annotations = tmpl.Annotations
	k := deployment.Kind{}
	k.StripRevision(rs)
	k.StripRevision(rs) // a second time changes nothing
	if len(rs.Spec.Template.Spec.Containers) != 0 {
		t.Error("the template is still in the cache")
	}
	if got := k.Describe(d, []client.Object{rs})[0]; !got.Wanted || got.Stamp != "2026-03-01T12:00:00.000001Z" {
		t.Errorf("Describe() = %+v, want the wanted revision with its stamp", got)
	}
}

func TestRevisionOf(t *testing.T) {
	yes := true
	pod := func(kind, name, uid, hash string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Labels:          map[string]string{"app": "web", "pod-template-hash": hash},
			OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: name, UID: types.UID(uid), Controller: &yes}},
		}}
	}
	born := metav1.Unix(1000, 0)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "d", CreationTimestamp: born}}
	of := func(p *corev1.Pod, created int64) *corev1.Pod {
		p.CreationTimestamp = metav1.Unix(created, 0)
		return p
	}
	all := []client.Object{&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web-1", UID: "rs1"}}}
	tests := map[string]struct {
		pod   *corev1.Pod
		want  string
		owned bool
	}{
		"of a replica set of the workload":       {pod("ReplicaSet", "web-1", "rs1", "1"), "web-1", true},
		"of one the cache has not seen":          {of(pod("ReplicaSet", "web-6d4b", "rs2", "6d4b"), 1000), "", true},
		"of a workload before of the same name":  {of(pod("ReplicaSet", "web-6d4b", "rs2", "6d4b"), 999), "", false},
		"of another Deployment of the prefix":    {pod("ReplicaSet", "web-api-6d4b", "rs3", "6d4b"), "", false},
		"of a StatefulSet that is named alike":   {pod("StatefulSet", "web-6d4b", "sts", "6d4b"), "", false},
		"of nobody":                              {&corev1.Pod{}, "", false},
		"of a replica set without the hash":      {pod("ReplicaSet", "web-", "rs4", ""), "", false},
		"of a replica set named like the target": {pod("ReplicaSet", "web", "rs5", "6d4b"), "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, owned := deployment.Kind{}.RevisionOf(tt.pod, d, all)
			if got != tt.want || owned != tt.owned {
				t.Errorf("RevisionOf() = %q, %v, want %q, %v", got, owned, tt.want, tt.owned)
			}
		})
	}
}
