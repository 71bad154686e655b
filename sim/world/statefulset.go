package world

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/corewire/kick/sim/cluster"
)

// statefulSets keeps the numbered pods of StatefulSets.
type statefulSets struct {
	w     *World
	queue *queue[types.NamespacedName]
}

func newStatefulSets(w *World) {
	c := &statefulSets{w: w}
	c.queue = newKeyQueue(w, "statefulset", c.sync)
	w.on(kindStatefulSet, func(ev cluster.Event) { c.queue.add(ev.Key) })
	w.on(kindPod, func(ev cluster.Event) {
		if owner := w.objects.controller(ev.Object, kindStatefulSet); owner != nil {
			c.queue.add(owner.key)
		}
	})
}

// ordinals is a StatefulSet and its pods as one sync sees them.
type ordinals struct {
	set       *appsv1.StatefulSet
	current   *appsv1.ControllerRevision
	update    *appsv1.ControllerRevision
	replicas  []*corev1.Pod // by ordinal; nil where a pod is missing
	condemned []*corev1.Pod // beyond spec.replicas, highest ordinal first
	monotonic bool          // OrderedReady: one pod at a time
	now       time.Time
	status    appsv1.StatefulSetStatus
}

// sync does one step for one StatefulSet.
func (c *statefulSets) sync(key types.NamespacedName) error {
	set, ok := c.w.server.Get(kindStatefulSet, key).(*appsv1.StatefulSet)
	if !ok {
		c.queue.forget(key)
		return nil
	}
	revisions := c.w.objects.revisions(set.UID)
	sortRevisions(revisions)
	o, err := c.look(set, revisions)
	if err != nil {
		return err
	}
	if set.DeletionTimestamp == nil {
		err = c.step(o)
	}
	if err := cmp.Or(err, c.report(o)); err != nil {
		return err
	}
	pods := c.w.objects.pods(set.UID)
	if left, ok := untilAvailable(pods, set.Spec.MinReadySeconds, o.now); ok {
		c.queue.addAfter(key, left)
	}
	return c.w.trimRevisions(revisions, set.Spec.RevisionHistoryLimit, func(revision *appsv1.ControllerRevision) bool {
		return revision.Name == o.current.Name || revision.Name == o.update.Name ||
			slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return podRevision(pod) == revision.Name })
	})
}

// look collects what a sync needs to know, and makes the update revision.
func (c *statefulSets) look(set *appsv1.StatefulSet, revisions []*appsv1.ControllerRevision) (*ordinals, error) {
	collisions := ptr.Deref(set.Status.CollisionCount, 0)
	update, err := c.w.currentRevision(set, labelRevisionHash, revisions, &collisions)
	if err != nil {
		return nil, err
	}
	o := &ordinals{set: set, current: update, update: update, now: c.w.opt.KCM.Now()}
	for _, revision := range revisions {
		if revision.Name == set.Status.CurrentRevision {
			o.current = revision
		}
	}
	o.monotonic = set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
	o.place(c.w.objects.pods(set.UID))
	o.count(collisions)
	return o, nil
}

// start is the first ordinal of a StatefulSet.
func start(set *appsv1.StatefulSet) int {
	if set.Spec.Ordinals == nil {
		return 0
	}
	return int(set.Spec.Ordinals.Start)
}

// ordinalOf is the number in a pod's name, -1 when there is none.
func ordinalOf(pod *corev1.Pod) int {
	n, err := strconv.Atoi(pod.Name[strings.LastIndexByte(pod.Name, '-')+1:])
	if err != nil {
		return -1
	}
	return n
}

// podRevision is the revision a pod was made from.
func podRevision(pod *corev1.Pod) string { return pod.Labels[appsv1.ControllerRevisionHashLabelKey] }

// place sorts the pods into wanted and condemned ones.
func (o *ordinals) place(pods []*corev1.Pod) {
	first := start(o.set)
	o.replicas = make([]*corev1.Pod, replicasOf(o.set.Spec.Replicas))
	for _, pod := range pods {
		n := ordinalOf(pod)
		switch {
		case n >= first && n < first+len(o.replicas):
			o.replicas[n-first] = pod
		case n >= 0:
			o.condemned = append(o.condemned, pod)
		}
	}
	slices.SortFunc(o.condemned, func(a, b *corev1.Pod) int { return cmp.Compare(ordinalOf(b), ordinalOf(a)) })
}

// count computes the status from the pods as they were before this step.
func (o *ordinals) count(collisions int32) {
	o.status = appsv1.StatefulSetStatus{
		ObservedGeneration: o.set.Generation, CollisionCount: &collisions,
		CurrentRevision: o.current.Name, UpdateRevision: o.update.Name, Conditions: o.set.Status.Conditions,
	}
	for _, list := range [][]*corev1.Pod{o.replicas, o.condemned} {
		for _, pod := range list {
			if pod != nil {
				o.countPod(pod)
			}
		}
	}
}

// countPod adds one pod to the status.
func (o *ordinals) countPod(pod *corev1.Pod) {
	o.status.Replicas++
	if isRunningReady(pod) {
		o.status.ReadyReplicas++
		if isAvailable(pod, o.set.Spec.MinReadySeconds, o.now) {
			o.status.AvailableReplicas++
		}
	}
	if pod.DeletionTimestamp != nil {
		return
	}
	if podRevision(pod) == o.current.Name {
		o.status.CurrentReplicas++
	}
	if podRevision(pod) == o.update.Name {
		o.status.UpdatedReplicas++
	}
}

// isRunningReady reports that a pod runs and is ready.
func isRunningReady(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && isReady(pod)
}

// unavailable reports that a slot cannot serve now.
func (o *ordinals) unavailable(pod *corev1.Pod) bool {
	return pod == nil || pod.DeletionTimestamp != nil || !isAvailable(pod, o.set.Spec.MinReadySeconds, o.now)
}

// report writes the status if it differs. The set counts as updated as soon as all
// pods are ready at the update revision; availability is not asked for.
func (c *statefulSets) report(o *ordinals) error {
	s, want := &o.status, replicasOf(o.set.Spec.Replicas)
	if s.UpdatedReplicas == want && s.ReadyReplicas == want && s.Replicas == want {
		s.CurrentReplicas, s.CurrentRevision = s.UpdatedReplicas, s.UpdateRevision
	}
	old := &o.set.Status
	same := old.CurrentRevision == s.CurrentRevision && old.UpdateRevision == s.UpdateRevision &&
		old.ObservedGeneration >= s.ObservedGeneration && sameReplicas(old, s)
	if same {
		return nil
	}
	changed := *o.set
	changed.Status = *s
	_, err := c.w.updateStatus(&changed, managerKCM)
	return err
}

// sameReplicas compares what the controller counts.
func sameReplicas(a, b *appsv1.StatefulSetStatus) bool {
	return a.Replicas == b.Replicas && a.CurrentReplicas == b.CurrentReplicas && a.ReadyReplicas == b.ReadyReplicas &&
		a.UpdatedReplicas == b.UpdatedReplicas && a.AvailableReplicas == b.AvailableReplicas
}

// partition is the lowest ordinal that updates reach, counted from the first.
func (o *ordinals) partition() int {
	if rolling := o.set.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		return int(ptr.Deref(rolling.Partition, 0))
	}
	return 0
}

// maxUnavailable is how many pods an update may take down at once.
func (o *ordinals) maxUnavailable() int {
	rolling := o.set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil {
		return 1
	}
	return max(1, int(scaled(rolling.MaxUnavailable, intstr.FromInt32(1), replicasOf(o.set.Spec.Replicas), false)))
}
