package world

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var kindBudget = schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"}

// restart makes one pass of the restarter. early: the sync ends here, as it does for a
// canary after an eviction; status.restartedAt then waits for the next.
func (t *turn) restart() (early bool, err error) {
	at, now := t.ro.Spec.RestartAt, t.w.opt.KCM.Now()
	if at == nil || at.Equal(t.ro.Status.RestartedAt) {
		return false, nil
	}
	if !now.After(at.Time) {
		t.queue.addAfter(t.key, min(at.Sub(now), rolloutsResync)+time.Millisecond)
		return false, nil
	}
	old, evicted, err := t.evict(at, int(t.mayGo(now)))
	if err != nil {
		return false, err
	}
	early = evicted > 0 && t.ro.Spec.Strategy.BlueGreen == nil
	switch {
	case old > evicted:
		t.queue.addAfter(t.key, rolloutsRetry)
	case early:
		t.queue.add(t.key)
	default:
		t.ro.Status.RestartedAt = at.DeepCopy()
	}
	return early, nil
}

// inOrder are the ReplicaSets as the restarter takes them: what serves, what is new, then
// the others, oldest first.
func (t *turn) inOrder() []*appsv1.ReplicaSet {
	var out []*appsv1.ReplicaSet
	for _, rs := range append([]*appsv1.ReplicaSet{t.stable, t.next}, t.all...) {
		if rs != nil && !slices.Contains(out, rs) {
			out = append(out, rs)
		}
	}
	return out
}

// mayGo is how many pods may be evicted now: at least one of all that are wanted, but only
// while the others are available.
func (t *turn) mayGo(now time.Time) int32 {
	available, total := int32(0), totalReplicas(t.all)
	for _, rs := range t.all {
		for _, pod := range t.w.objects.pods(rs.UID) {
			if pod.DeletionTimestamp == nil && isAvailable(pod, t.ro.Spec.MinReadySeconds, now) {
				available++
			}
		}
	}
	return available - (max(t.want(), total) - max(t.maxUnavailable(), 1))
}

func (t *turn) maxUnavailable() int32 {
	value := intstr.FromString("25%")
	switch s := t.ro.Spec.Strategy; {
	case s.BlueGreen != nil && s.BlueGreen.MaxUnavailable != nil:
		value = *s.BlueGreen.MaxUnavailable
	case s.Canary != nil && s.Canary.MaxUnavailable != nil:
		value = *s.Canary.MaxUnavailable
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(&value, int(t.want()), false)
	if err != nil {
		return 1
	}
	return int32(n)
}

// refused reports whether a PodDisruptionBudget keeps a pod from being evicted.
func (t *turn) refused(pod *corev1.Pod) bool {
	for _, o := range t.w.server.List(kindBudget, pod.Namespace) {
		b := o.(*policyv1.PodDisruptionBudget)
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) && t.disruptions(b, selector) <= 0 {
			return true
		}
	}
	return false
}

// disruptions is how many more pods a budget lets go.
func (t *turn) disruptions(b *policyv1.PodDisruptionBudget, selector labels.Selector) int {
	ready, total := 0, 0
	for _, o := range t.w.server.List(kindPod, b.Namespace) {
		pod := o.(*corev1.Pod)
		if !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		total++
		if pod.DeletionTimestamp == nil && isReady(pod) {
			ready++
		}
	}
	scaled := func(v *intstr.IntOrString) int {
		n, err := intstr.GetScaledValueFromIntOrPercent(v, total, true)
		if err != nil {
			return total
		}
		return n
	}
	switch {
	case b.Spec.MinAvailable != nil:
		return ready - scaled(b.Spec.MinAvailable)
	case b.Spec.MaxUnavailable != nil:
		return ready - (total - scaled(b.Spec.MaxUnavailable))
	}
	return ready
}

// evict takes away pods made before a time, as many as may go, and counts both.
func (t *turn) evict(at *metav1.Time, may int) (old, evicted int, err error) {
	for _, rs := range t.inOrder() {
		for _, pod := range t.w.objects.pods(rs.UID) {
			if !pod.CreationTimestamp.Before(at) {
				continue
			}
			if old++; may <= evicted || pod.DeletionTimestamp != nil || t.refused(pod) {
				continue
			}
			if err := t.w.deleteAs(managerRollouts, kindPod, pod); err != nil {
				return old, evicted, err
			}
			evicted++
		}
	}
	return old, evicted, nil
}
