package world

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
)

func TestGarbageCollection(t *testing.T) {
	tests := []struct {
		name          string
		policy        metav1.DeletionPropagation
		replicaSets   int
		pods          int
		ownerOutlives bool // the pods, in foreground
	}{
		{"background", metav1.DeletePropagationBackground, 0, 0, false},
		{"foreground", metav1.DeletePropagationForeground, 0, 0, true},
		{"orphan", metav1.DeletePropagationOrphan, 1, 2, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, Options{})
			r.apply(secret("db", "password", "old"))
			r.apply(deployment("web", 2))
			r.run(10 * time.Second)
			r.remove(kindDeployment, "web", client.PropagationPolicy(tt.policy))
			r.run(500 * time.Millisecond)
			if got := r.server.Get(kindDeployment, keyOf(deployment("web", 2))) != nil; got != tt.ownerOutlives {
				t.Errorf("Deployment exists while its pods end: %v, want %v", got, tt.ownerOutlives)
			}
			r.run(10 * time.Second)
			if r.server.Get(kindDeployment, keyOf(deployment("web", 2))) != nil {
				t.Error("the Deployment is still there")
			}
			if got := len(r.server.List(kindReplicaSet, "shop")); got != tt.replicaSets {
				t.Errorf("%d ReplicaSets, want %d", got, tt.replicaSets)
			}
			if got := len(r.server.List(kindPod, "shop")); got != tt.pods {
				t.Errorf("%d pods, want %d", got, tt.pods)
			}
		})
	}
}

func TestOwnersAreKnownByUID(t *testing.T) {
	r := newRig(t, Options{})
	owner := r.apply(secret("owner", "k", "v"))
	other := r.apply(secret("other", "k", "v"))
	ref := func(o client.Object) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: o.GetName(), UID: o.GetUID()}
	}
	one := secret("one-owner", "k", "v")
	one.OwnerReferences = []metav1.OwnerReference{ref(owner)}
	two := secret("two-owners", "k", "v")
	two.OwnerReferences = []metav1.OwnerReference{ref(owner), ref(other)}
	r.apply(one)
	r.apply(two)
	r.run(time.Second)
	r.remove(kindSecret, "owner")
	r.apply(secret("owner", "k", "v")) // of the same name, but another UID
	r.run(time.Second)
	if r.server.Get(kindSecret, keyOf(one)) != nil {
		t.Error("the dependent of a dead owner lives")
	}
	left := r.server.Get(kindSecret, keyOf(two))
	if left == nil || len(left.GetOwnerReferences()) != 1 || left.GetOwnerReferences()[0].UID != other.GetUID() {
		t.Errorf("the dependent of a living owner: %v", left)
	}
	// An object that is born with a dead owner goes as well.
	late := secret("late", "k", "v")
	late.OwnerReferences = []metav1.OwnerReference{ref(owner)}
	r.apply(late)
	r.run(time.Second)
	if r.server.Get(kindSecret, keyOf(late)) != nil {
		t.Error("an object with a dead owner lives")
	}
}

func TestNamespaceDeletionTakesItsContent(t *testing.T) {
	r := newRig(t, Options{})
	r.apply(secret("db", "password", "old"))
	r.apply(deployment("web", 2))
	r.apply(statefulSet("data", 2))
	r.run(10 * time.Second)
	namespace := client.ObjectKey{Name: "shop"}
	r.must(r.server.Delete(kindNamespace, namespace, client.DeleteOptions{}, cluster.WriteOptions{Manager: managerKubectl}))
	r.run(10 * time.Second)
	if got := r.server.Get(kindNamespace, namespace); got != nil {
		t.Errorf("the namespace is still there: %+v", got)
	}
	for n := r.world.objects.first; n != nil; n = n.next {
		if n.key.Namespace == "shop" {
			t.Errorf("%s %s is remembered", n.kind.Kind, n.key)
		}
	}
	if len(r.world.kubelet.pods) != 0 || !r.world.Settled() {
		t.Error("the kubelet still has pods")
	}
}

func TestSameNameDoesNotInheritPods(t *testing.T) {
	r := newRig(t, Options{})
	r.apply(secret("db", "password", "old"))
	r.apply(deployment("web", 1))
	r.run(10 * time.Second)
	r.remove(kindDeployment, "web")
	r.apply(deployment("web", 1))
	r.run(20 * time.Second)
	d := r.server.Get(kindDeployment, keyOf(deployment("web", 1))).(*appsv1.Deployment)
	if d.Status.AvailableReplicas != 1 || len(r.server.List(kindPod, "shop")) != 1 {
		t.Errorf("status %+v", d.Status)
	}
	pod := r.server.List(kindPod, "shop")[0].(*corev1.Pod)
	if got := r.world.workloadOf(pod); got != (workload{"Deployment", keyOf(d)}) {
		t.Errorf("the pod belongs to %v", got)
	}
}
