package statefulset_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/workloads/statefulset"
)

func rolling(partition *int32) appsv1.StatefulSetUpdateStrategy {
	return appsv1.StatefulSetUpdateStrategy{
		Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: partition},
	}
}

// Proves: KICK-FEAT-022, I3.
func TestRollout(t *testing.T) {
	three, two, five := int32(3), int32(2), int32(5)
	onDelete := appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
	tests := map[string]struct {
		spec   appsv1.StatefulSetSpec
		status appsv1.StatefulSetStatus
		want   model.Rollout
	}{
		"complete": {
			spec:   appsv1.StatefulSetSpec{Replicas: &three, UpdateStrategy: rolling(nil)},
			status: appsv1.StatefulSetStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3, CurrentRevision: "b", UpdateRevision: "b"},
			want:   model.Rollout{Observed: true, Replicas: 3, Complete: true},
		},
		"no status, no strategy, no replicas": {
			want: model.Rollout{Replicas: 1, Rolling: true, Detail: "generation 0 of 2 is seen by its controller"},
		},
		"one of three is new": {
			spec:   appsv1.StatefulSetSpec{Replicas: &three, UpdateStrategy: rolling(nil)},
			status: appsv1.StatefulSetStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 1, AvailableReplicas: 3, CurrentRevision: "a", UpdateRevision: "b"},
			want:   model.Rollout{Observed: true, Replicas: 3, Rolling: true, Detail: "1 of 3 pods are of the wanted revision"},
		},
		"all new, the last one not available": {
			spec:   appsv1.StatefulSetSpec{Replicas: &three, UpdateStrategy: rolling(nil)},
			status: appsv1.StatefulSetStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 2, CurrentRevision: "a", UpdateRevision: "b"},
			want:   model.Rollout{Observed: true, Replicas: 3, Detail: "2 of 3 pods are available"},
		},
		"scaling down: old pods are still there": {
			spec:   appsv1.StatefulSetSpec{Replicas: new(int32), UpdateStrategy: rolling(nil)},
			status: appsv1.StatefulSetStatus{ObservedGeneration: 2, Replicas: 3, CurrentRevision: "a", UpdateRevision: "b"},
			want:   model.Rollout{Observed: true, Detail: "3 pods are there, 0 are wanted"},
		},
		"scaling up: pods are still to come": {
			spec:   appsv1.StatefulSetSpec{Replicas: &three, UpdateStrategy: rolling(nil)},
			status: appsv1.StatefulSetStatus{ObservedGeneration: 2, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1, CurrentRevision: "a", UpdateRevision: "a"},
			want:   model.Rollout{Observed: true, Replicas: 3, Rolling: true, Detail: "1 of 3 pods are of the wanted revision"},
		},
		"reverted half-way: pods of the abandoned revision are still there": {
			spec:   appsv1.StatefulSetSpec{Replicas: &three, UpdateStrategy: rolling(nil)},
			status: appsv1.StatefulSetStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 2, AvailableReplicas: 3, CurrentRevision: "a", UpdateRevision: "a"},
			want:   model.Rollout{Observed: true, Replicas: 3, Rolling: true, Detail: "2 of 3 pods are of the wanted revision"},
		},
		"partition: those above are new": {
			spec:   appsv1.StatefulSetSpec{Replicas: &three, UpdateStrategy: rolling(&two)},
			status: appsv1.StatefulSetStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 1, AvailableReplicas: 3, CurrentRevision: "a", UpdateRevision: "b"},
			want:   model.Rollout{Observed: true, Replicas: 3, Partition: 2, Complete: true},
		},
		"partition: one above is old": {
			spec:   appsv1.StatefulSetSpec{Replicas: &three, UpdateStrategy: rolling(&two)},
			status: appsv1.StatefulSetStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 0, AvailableReplicas: 3, CurrentRevision: "a", UpdateRevision: "b"},
			want:   model.Rollout{Observed: true, Replicas: 3, Partition: 2, Rolling: true, Detail: "0 of 1 pod is of the wanted revision"},
		},
		"partition beyond all replicas": {
			spec:   appsv1.StatefulSetSpec{Replicas: &three, UpdateStrategy: rolling(&five)},
			status: appsv1.StatefulSetStatus{ObservedGeneration: 2, Replicas: 3, AvailableReplicas: 3, CurrentRevision: "a", UpdateRevision: "b"},
			want:   model.Rollout{Observed: true, Replicas: 3, Partition: 5, Complete: true},
		},
		"OnDelete: nobody has deleted a pod": {
			spec:   appsv1.StatefulSetSpec{Replicas: &three, UpdateStrategy: onDelete},
			status: appsv1.StatefulSetStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 1, AvailableReplicas: 3, CurrentRevision: "a", UpdateRevision: "b"},
			want:   model.Rollout{Observed: true, Replicas: 3, OnDelete: true, Complete: true, Detail: "1 of 3 pods are of the wanted revision"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Spec: tt.spec, Status: tt.status}
			if diff := cmp.Diff(tt.want, statefulset.Kind{}.Rollout(s)); diff != "" {
				t.Errorf("Rollout() (-want +got):\n%s", diff)
			}
		})
	}
}

const data = `{"spec":{"template":{"$patch":"replace","metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-03-01T12:00:00.000001Z"}}}}}`

func TestDescribe(t *testing.T) {
	s := &appsv1.StatefulSet{Status: appsv1.StatefulSetStatus{UpdateRevision: "db-2", CurrentRevision: "db-1"}}
	revision := func(name, raw string) *appsv1.ControllerRevision {
		return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: runtime.RawExtension{Raw: []byte(raw)}}
	}
	tests := map[string]struct {
		revision *appsv1.ControllerRevision
		wanted   bool
		stamp    string
	}{
		"update revision":  {revision("db-2", data), true, "2026-03-01T12:00:00.000001Z"},
		"current revision": {revision("db-1", `{"spec":{"template":{"metadata":{}}}}`), false, ""},
		"unreadable":       {revision("db-2", `nonsense`), true, ""},
		"empty":            {revision("db-2", ``), true, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k := statefulset.Kind{}
			for range 2 { // straight, and as the cache holds it
				got := k.Describe(s, []client.Object{tt.revision})[0]
				if got.Wanted != tt.wanted || got.Stamp != tt.stamp {
					t.Errorf("Describe() = %+v, want Wanted = %v, Stamp = %q", got, tt.wanted, tt.stamp)
				}
				k.StripRevision(tt.revision)
			}
			if len(tt.revision.Data.Raw) != 0 {
				t.Error("the data is still in the cache")
			}
		})
	}
}

func TestRevisionOf(t *testing.T) {
	yes := true
	s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "db", UID: "db"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Labels:          map[string]string{appsv1.ControllerRevisionHashLabelKey: "db-2"},
		OwnerReferences: []metav1.OwnerReference{{Kind: "StatefulSet", Name: "db", UID: "db", Controller: &yes}},
	}}
	if got, owned := (statefulset.Kind{}).RevisionOf(pod, s, []client.Object{}); got != "db-2" || !owned {
		t.Errorf("RevisionOf() = %q, %v, want db-2, true", got, owned)
	}
	pod.OwnerReferences[0].UID = "another incarnation"
	if _, owned := (statefulset.Kind{}).RevisionOf(pod, s, nil); owned {
		t.Error("a pod of another incarnation is taken for ours")
	}
}
