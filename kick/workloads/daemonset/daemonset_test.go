package daemonset_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/workloads/daemonset"
)

// Proves: KICK-FEAT-022, I3.
func TestRollout(t *testing.T) {
	onDelete := appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	tests := map[string]struct {
		strategy appsv1.DaemonSetUpdateStrategy
		status   appsv1.DaemonSetStatus
		want     model.Rollout
	}{
		"complete": {
			status: appsv1.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: 3, UpdatedNumberScheduled: 3, NumberAvailable: 3},
			want:   model.Rollout{Observed: true, Replicas: 3, Complete: true},
		},
		"no status": {
			want: model.Rollout{Rolling: true, Detail: "generation 0 of 2 is seen by its controller"},
		},
		"no node matches": {
			status: appsv1.DaemonSetStatus{ObservedGeneration: 2},
			want:   model.Rollout{Observed: true, Complete: true},
		},
		"one of three is new": {
			status: appsv1.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: 3, UpdatedNumberScheduled: 1, NumberAvailable: 3},
			want:   model.Rollout{Observed: true, Replicas: 3, Rolling: true, Detail: "1 of 3 pods are of the wanted revision"},
		},
		"all new, one sick": {
			status: appsv1.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: 3, UpdatedNumberScheduled: 3, NumberAvailable: 2},
			want:   model.Rollout{Observed: true, Replicas: 3, Detail: "2 of 3 pods are available"},
		},
		"OnDelete: nobody has deleted a pod": {
			strategy: onDelete,
			status:   appsv1.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: 3, UpdatedNumberScheduled: 0, NumberAvailable: 3},
			want:     model.Rollout{Observed: true, Replicas: 3, OnDelete: true, Complete: true, Detail: "0 of 3 pods are of the wanted revision"},
		},
		"generation not observed": {
			status: appsv1.DaemonSetStatus{ObservedGeneration: 1, DesiredNumberScheduled: 3, UpdatedNumberScheduled: 3, NumberAvailable: 3},
			want:   model.Rollout{Replicas: 3, Rolling: true, Detail: "generation 1 of 2 is seen by its controller"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Spec: appsv1.DaemonSetSpec{UpdateStrategy: tt.strategy}, Status: tt.status}
			if diff := cmp.Diff(tt.want, daemonset.Kind{}.Rollout(d)); diff != "" {
				t.Errorf("Rollout() (-want +got):\n%s", diff)
			}
		})
	}
}

func revision(name, hash string, number int64) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: hash}}, Revision: number,
	}
}

// A rollback raises the number of the old revision instead of making a new one.
func TestTheHighestNumberIsWanted(t *testing.T) {
	all := []client.Object{revision("agent-a", "a", 3), revision("agent-b", "b", 2)}
	want := map[string]bool{"agent-a": true, "agent-b": false}
	for _, got := range (daemonset.Kind{}).Describe(&appsv1.DaemonSet{}, all) {
		if got.Wanted != want[got.Name] {
			t.Errorf("%s: Wanted = %v, want %v", got.Name, got.Wanted, want[got.Name])
		}
	}
}

func TestRevisionOfGoesByHashNotByName(t *testing.T) {
	yes := true
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "agent", UID: "agent"}}
	pod := func(hash string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Labels:          map[string]string{appsv1.ControllerRevisionHashLabelKey: hash},
			OwnerReferences: []metav1.OwnerReference{{Kind: "DaemonSet", Name: "agent", UID: "agent", Controller: &yes}},
		}}
	}
	all := []client.Object{revision("agent-a", "a", 1), revision("odd name", "b", 2), revision("unlabelled", "", 3)}
	tests := map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"hash of a revision":    {pod("a"), "agent-a"},
		"name does not matter":  {pod("b"), "odd name"},
		"hash nobody knows":     {pod("c"), ""},
		"no hash on either one": {pod(""), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, owned := (daemonset.Kind{}).RevisionOf(tt.pod, d, all); got != tt.want || !owned {
				t.Errorf("RevisionOf() = %q, %v, want %q, true", got, owned, tt.want)
			}
		})
	}
	if _, owned := (daemonset.Kind{}).RevisionOf(&corev1.Pod{}, d, all); owned {
		t.Error("a pod of nobody is taken for ours")
	}
}
