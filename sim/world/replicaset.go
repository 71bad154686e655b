package world

import (
	"cmp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
)

// replicaSets keeps as many pods per ReplicaSet as its spec says.
type replicaSets struct {
	w     *World
	queue *queue[types.NamespacedName]
}

func newReplicaSets(w *World) {
	c := &replicaSets{w: w}
	c.queue = newKeyQueue(w, "replicaset", c.sync)
	w.on(kindReplicaSet, func(ev cluster.Event) { c.queue.add(ev.Key) })
	w.on(kindPod, func(ev cluster.Event) {
		if owner := w.objects.controller(ev.Object, kindReplicaSet); owner != nil {
			c.queue.add(owner.key)
		}
	})
}

// sync brings one ReplicaSet closer to its spec and reports where it stands. The
// status shows the pods from before this sync's own creations and deletions, as
// upstream's does: the events of those lead to the next sync.
func (c *replicaSets) sync(key types.NamespacedName) error {
	rs, ok := c.w.server.Get(kindReplicaSet, key).(*appsv1.ReplicaSet)
	if !ok {
		c.queue.forget(key)
		return nil
	}
	var active []*corev1.Pod
	terminating := int32(0)
	for _, pod := range c.w.objects.pods(rs.UID) {
		if isActive(pod) {
			active = append(active, pod)
		} else if pod.DeletionTimestamp != nil && !isFinished(pod) {
			terminating++
		}
	}
	var failure error
	if rs.DeletionTimestamp == nil {
		failure = c.manage(rs, active)
	}
	now := c.w.opt.KCM.Now()
	if err := c.report(rs, replicaSetStatus(rs, active, terminating, failure, now)); err != nil {
		return err
	}
	if left, ok := untilAvailable(active, rs.Spec.MinReadySeconds, now); ok {
		c.queue.addAfter(key, left)
	}
	return failure
}

// manage creates the missing pods or deletes the surplus ones.
func (c *replicaSets) manage(rs *appsv1.ReplicaSet, active []*corev1.Pod) error {
	surplus := len(active) - int(replicasOf(rs.Spec.Replicas))
	for ; surplus < 0; surplus++ {
		if err := c.createPod(rs); err != nil {
			if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
				return nil
			}
			return err
		}
	}
	if surplus == 0 {
		return nil
	}
	for _, pod := range c.victims(rs, active)[:surplus] {
		if err := c.w.deleteAs(managerKCM, kindPod, pod); err != nil {
			return err
		}
	}
	return nil
}

// createPod adds one pod; a taken name costs one number of the counter.
func (c *replicaSets) createPod(rs *appsv1.ReplicaSet) error {
	pod := podFromTemplate(&rs.Spec.Template, rs, appsKind("ReplicaSet"))
	pod.GenerateName = rs.Name + "-"
	for {
		pod.Name = c.w.podName(rs)
		_, err := c.w.create(pod)
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
}

// victims orders pods by how gladly they are given up: unscheduled, pending, not
// ready, doubled on a node, ready for a shorter time, restarted more, younger.
func (c *replicaSets) victims(rs *appsv1.ReplicaSet, active []*corev1.Pod) []*corev1.Pod {
	perNode := c.podsPerNode(rs)
	out := slices.Clone(active)
	slices.SortStableFunc(out, func(a, b *corev1.Pod) int {
		return cmp.Or(
			boolean(a.Spec.NodeName != "", b.Spec.NodeName != ""),
			phaseRank(a)-phaseRank(b),
			boolean(isReady(a), isReady(b)),
			perNode[b.Spec.NodeName]-perNode[a.Spec.NodeName],
			readySince(b).Compare(readySince(a)),
			int(restarts(b)-restarts(a)),
			b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
		)
	})
	return out
}

// podsPerNode counts the active pods of all ReplicaSets with the same owner.
func (c *replicaSets) podsPerNode(rs *appsv1.ReplicaSet) map[string]int {
	family := []*appsv1.ReplicaSet{rs}
	if ref := metav1.GetControllerOfNoCopy(rs); ref != nil {
		family = c.w.objects.replicaSets(ref.UID)
	}
	count := map[string]int{}
	for _, related := range family {
		for _, pod := range c.w.objects.pods(related.UID) {
			if isActive(pod) {
				count[pod.Spec.NodeName]++
			}
		}
	}
	return count
}

// boolean orders false before true.
func boolean(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// phaseRank orders the phases of living pods.
func phaseRank(pod *corev1.Pod) int {
	switch pod.Status.Phase {
	case corev1.PodRunning:
		return 2
	case corev1.PodUnknown:
		return 1
	default:
		return 0
	}
}

// replicaSetStatus computes the status of a ReplicaSet.
func replicaSetStatus(rs *appsv1.ReplicaSet, active []*corev1.Pod, terminating int32, failure error, now time.Time) appsv1.ReplicaSetStatus {
	status := appsv1.ReplicaSetStatus{
		Replicas:             int32(len(active)),
		FullyLabeledReplicas: int32(len(active)),
		TerminatingReplicas:  &terminating,
		ObservedGeneration:   rs.Generation,
		Conditions:           rs.Status.Conditions,
	}
	for _, pod := range active {
		if isReady(pod) {
			status.ReadyReplicas++
		}
		if isAvailable(pod, rs.Spec.MinReadySeconds, now) {
			status.AvailableReplicas++
		}
	}
	switch {
	case failure == nil:
		status.Conditions = nil
	case len(status.Conditions) == 0:
		reason := "FailedDelete"
		if len(active) < int(replicasOf(rs.Spec.Replicas)) {
			reason = "FailedCreate"
		}
		status.Conditions = []appsv1.ReplicaSetCondition{{
			Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue,
			Reason: reason, Message: failure.Error(), LastTransitionTime: seconds(now),
		}}
	}
	return status
}

// report writes a status that differs from the stored one.
func (c *replicaSets) report(rs *appsv1.ReplicaSet, status appsv1.ReplicaSetStatus) error {
	old := &rs.Status
	same := old.Replicas == status.Replicas && old.FullyLabeledReplicas == status.FullyLabeledReplicas &&
		old.ReadyReplicas == status.ReadyReplicas && old.AvailableReplicas == status.AvailableReplicas &&
		old.TerminatingReplicas != nil && *old.TerminatingReplicas == *status.TerminatingReplicas &&
		old.ObservedGeneration == status.ObservedGeneration && len(old.Conditions) == len(status.Conditions)
	if same {
		return nil
	}
	changed := *rs
	changed.Status = status
	_, err := c.w.updateStatus(&changed, managerKCM)
	return client.IgnoreNotFound(err)
}
