package world

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/corewire/kick/sim/cluster"
)

// daemonSets keeps one pod of each DaemonSet on every node.
type daemonSets struct {
	w     *World
	queue *queue[types.NamespacedName]
}

func newDaemonSets(w *World) {
	c := &daemonSets{w: w}
	c.queue = newKeyQueue(w, "daemonset", c.sync)
	w.on(kindDaemonSet, func(ev cluster.Event) { c.queue.add(ev.Key) })
	w.on(kindPod, func(ev cluster.Event) {
		if owner := w.objects.controller(ev.Object, kindDaemonSet); owner != nil {
			c.queue.add(owner.key)
		}
	})
}

// nodePods is a DaemonSet and its pods by node as one sync sees them.
type nodePods struct {
	ds   *appsv1.DaemonSet
	hash string
	on   [][]*corev1.Pod // by node, oldest first, terminating ones included
	now  time.Time
}

// nodeName is the name of the i-th node.
func nodeName(i int) string { return "node-" + strconv.Itoa(i) }

// sync does one step for one DaemonSet.
func (c *daemonSets) sync(key types.NamespacedName) error {
	ds, ok := c.w.server.Get(kindDaemonSet, key).(*appsv1.DaemonSet)
	if !ok {
		c.queue.forget(key)
		return nil
	}
	if ds.DeletionTimestamp != nil {
		return nil
	}
	revisions := c.w.objects.revisions(ds.UID)
	sortRevisions(revisions)
	collisions := int32(0)
	if ds.Status.CollisionCount != nil {
		collisions = *ds.Status.CollisionCount
	}
	current, err := c.w.currentRevision(ds, appsv1.DefaultDaemonSetUniqueLabelKey, revisions, &collisions)
	if err != nil {
		return err
	}
	n := &nodePods{ds: ds, hash: current.Labels[appsv1.DefaultDaemonSetUniqueLabelKey], now: c.w.opt.KCM.Now()}
	pods := c.w.objects.pods(ds.UID)
	n.place(pods, c.w.opt.Nodes)
	if err := cmp.Or(c.step(n), c.report(n, collisions)); err != nil {
		return err
	}
	if left, ok := untilAvailable(pods, ds.Spec.MinReadySeconds, n.now); ok {
		c.queue.addAfter(key, left)
	}
	return c.w.trimRevisions(revisions, ds.Spec.RevisionHistoryLimit, func(revision *appsv1.ControllerRevision) bool {
		hash := revision.Labels[appsv1.DefaultDaemonSetUniqueLabelKey]
		return revision.UID == current.UID ||
			slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return podRevision(pod) == hash })
	})
}

// step gives each node its pod, or replaces outdated ones where all nodes have theirs.
func (c *daemonSets) step(n *nodePods) error {
	changed, err := c.manage(n)
	switch {
	case err != nil || changed || n.ds.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType:
		return err
	case n.surge() > 0:
		return c.rollSurge(n)
	}
	return c.roll(n)
}

// place sorts the pods by node and age.
func (n *nodePods) place(pods []*corev1.Pod, nodes int) {
	n.on = make([][]*corev1.Pod, nodes)
	for i := range n.on {
		name := nodeName(i)
		for _, pod := range pods {
			if boundFor(pod) == name {
				n.on[i] = append(n.on[i], pod)
			}
		}
		slices.SortStableFunc(n.on[i], func(a, b *corev1.Pod) int {
			return cmp.Or(boolean(a.Spec.NodeName == "", b.Spec.NodeName == ""),
				a.CreationTimestamp.Compare(b.CreationTimestamp.Time))
		})
	}
}

// manage gives each node exactly one pod and reports whether it changed anything. A
// node whose pod is still terminating waits, unless pods may surge: then an old and a
// new pod may stand side by side until the new one is available.
func (c *daemonSets) manage(n *nodePods) (bool, error) {
	changed := false
	for i, pods := range n.on {
		surplus, missing := n.judge(pods)
		for _, pod := range surplus {
			changed = true
			if err := c.w.deleteAs(managerKCM, kindPod, pod); err != nil {
				return changed, err
			}
		}
		if !missing {
			continue
		}
		changed = true
		if err := c.createPod(n, nodeName(i)); err != nil {
			if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
				return changed, nil
			}
			return changed, err
		}
	}
	return changed, nil
}

// judge says which pods of a node are too many, and whether one is missing.
func (n *nodePods) judge(pods []*corev1.Pod) (surplus []*corev1.Pod, missing bool) {
	if len(pods) == 0 {
		return nil, true
	}
	fresh, old, finished := n.split(pods)
	surplus = finished
	for _, list := range [][]*corev1.Pod{fresh, old} {
		if len(list) > 1 {
			surplus = append(surplus, list[1:]...)
		}
	}
	if len(fresh) > 0 && len(old) > 0 && (!isReady(old[0]) || n.available(fresh[0])) {
		surplus = append(surplus, old[0])
	}
	none := len(fresh)+len(old)+len(finished) == 0
	return surplus, none && n.surge() > 0
}

// split sorts the pods of a node that are not being deleted: those of the current
// revision, outdated ones and finished ones. Without surge all count as one sort,
// since no node may hold two.
func (n *nodePods) split(pods []*corev1.Pod) (fresh, old, finished []*corev1.Pod) {
	for _, pod := range pods {
		switch {
		case pod.DeletionTimestamp != nil:
		case isFinished(pod):
			finished = append(finished, pod)
		case n.surge() > 0 && podRevision(pod) == n.hash:
			fresh = append(fresh, pod)
		default:
			old = append(old, pod)
		}
	}
	return fresh, old, finished
}

// available reports that a pod has been ready for long enough.
func (n *nodePods) available(pod *corev1.Pod) bool {
	return isAvailable(pod, n.ds.Spec.MinReadySeconds, n.now)
}

// surge is how many nodes may hold an old and a new pod at once.
func (n *nodePods) surge() int32 {
	if rolling := n.ds.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		return scaled(rolling.MaxSurge, intstr.FromInt32(0), int32(len(n.on)), true)
	}
	return 0
}

// createPod adds the pod of one node; an affinity names the node for the scheduler.
func (c *daemonSets) createPod(n *nodePods, node string) error {
	pod := podFromTemplate(&n.ds.Spec.Template, n.ds, appsKind("DaemonSet"))
	pod.GenerateName = n.ds.Name + "-"
	pod.Labels = withKey(pod.Labels, appsv1.DefaultDaemonSetUniqueLabelKey, n.hash)
	if generation := n.ds.Annotations[appsv1.DeprecatedTemplateGeneration]; generation != "" {
		pod.Labels["pod-template-generation"] = generation
	}
	pod.Spec.Affinity = affinityFor(pod.Spec.Affinity, node)
	for {
		pod.Name = c.w.podName(n.ds)
		_, err := c.w.create(pod)
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
}

// roll deletes outdated pods: those that are not available at once, others while
// maxUnavailable allows.
func (c *daemonSets) roll(n *nodePods) error {
	down := 0
	var broken, working []*corev1.Pod
	for _, pods := range n.on {
		pod := living(pods)
		switch {
		case pod == nil:
			down++
		case podRevision(pod) == n.hash:
			if !n.available(pod) {
				down++
			}
		case !n.available(pod):
			down++
			broken = append(broken, pod)
		default:
			working = append(working, pod)
		}
	}
	allowed := int32(1)
	if rolling := n.ds.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		allowed = scaled(rolling.MaxUnavailable, intstr.FromInt32(1), int32(len(n.on)), true)
	}
	budget := min(max(int(allowed)-down, 0), len(working))
	for _, pod := range append(broken, working[:budget]...) {
		if err := c.w.deleteAs(managerKCM, kindPod, pod); err != nil {
			return err
		}
	}
	return nil
}

// rollSurge adds new pods beside outdated ones: at once where the old one is not
// available, elsewhere while maxSurge allows. manage ends the old ones.
func (c *daemonSets) rollSurge(n *nodePods) error {
	budget := int(n.surge())
	var broken, working []int
	for i, pods := range n.on {
		fresh, old, _ := n.split(pods)
		switch {
		case len(old) == 0:
		case len(fresh) > 0:
			budget--
		case n.available(old[0]):
			working = append(working, i)
		default:
			broken = append(broken, i)
		}
	}
	for _, i := range append(broken, working[:min(max(budget, 0), len(working))]...) {
		if err := c.createPod(n, nodeName(i)); err != nil {
			return err
		}
	}
	return nil
}

// living is the pod of a node that is not being deleted, or nil.
func living(pods []*corev1.Pod) *corev1.Pod {
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil {
			return pod
		}
	}
	return nil
}

// report writes the status if it differs; it speaks of the oldest pod of each node,
// and it has no conditions.
func (c *daemonSets) report(n *nodePods, collisions int32) error {
	old := &n.ds.Status
	status := appsv1.DaemonSetStatus{
		ObservedGeneration: n.ds.Generation, DesiredNumberScheduled: int32(len(n.on)),
		CollisionCount: old.CollisionCount, Conditions: old.Conditions,
	}
	if collisions > 0 {
		status.CollisionCount = &collisions
	}
	for _, pods := range n.on {
		if len(pods) > 0 {
			n.count(pods[0], &status)
		}
	}
	status.NumberUnavailable = status.DesiredNumberScheduled - status.NumberAvailable
	if old.ObservedGeneration >= status.ObservedGeneration && sameCounts(old, &status) {
		return nil
	}
	changed := *n.ds
	changed.Status = status
	_, err := c.w.updateStatus(&changed, managerKCM)
	return err
}

// count adds the oldest pod of one node to the status.
func (n *nodePods) count(pod *corev1.Pod, status *appsv1.DaemonSetStatus) {
	status.CurrentNumberScheduled++
	if podRevision(pod) == n.hash {
		status.UpdatedNumberScheduled++
	}
	if isReady(pod) {
		status.NumberReady++
	}
	if n.available(pod) {
		status.NumberAvailable++
	}
}

// sameCounts compares what the controller counts.
func sameCounts(a, b *appsv1.DaemonSetStatus) bool {
	return a.DesiredNumberScheduled == b.DesiredNumberScheduled && a.CurrentNumberScheduled == b.CurrentNumberScheduled &&
		a.UpdatedNumberScheduled == b.UpdatedNumberScheduled && a.NumberReady == b.NumberReady &&
		a.NumberAvailable == b.NumberAvailable && a.NumberUnavailable == b.NumberUnavailable
}
