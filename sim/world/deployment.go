package world

import (
	"cmp"
	"errors"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/cluster"
)

// The annotations of the Deployment controller.
const (
	annRevision = "deployment.kubernetes.io/revision"
	annHistory  = "deployment.kubernetes.io/revision-history"
	annDesired  = "deployment.kubernetes.io/desired-replicas"
	annMax      = "deployment.kubernetes.io/max-replicas"
)

// deployments rolls Deployments out by way of ReplicaSets.
type deployments struct {
	w     *World
	queue *queue[types.NamespacedName]
	wrote bool // this sync has written the Deployment's status already
}

func newDeployments(w *World) *deployments {
	c := &deployments{w: w}
	c.queue = newKeyQueue(w, "deployment", func(key types.NamespacedName) error {
		if err := c.sync(key); !errors.Is(err, errWritten) {
			return err
		}
		return nil
	})
	w.on(kindDeployment, func(ev cluster.Event) { c.queue.add(ev.Key) })
	w.on(kindReplicaSet, func(ev cluster.Event) {
		if owner := w.objects.controller(ev.Object, kindDeployment); owner != nil {
			c.queue.add(owner.key)
		}
	})
	w.on(kindPod, c.podGone)
	return c
}

// podGone wakes a Deployment of strategy Recreate, which waits for its last pod.
func (c *deployments) podGone(ev cluster.Event) {
	if ev.Type != cluster.Deleted {
		return
	}
	rs := c.w.objects.controller(ev.Object, kindReplicaSet)
	if rs == nil {
		return
	}
	owner := c.w.objects.controller(rs.object, kindDeployment)
	if owner != nil && !isRolling(owner.object.(*appsv1.Deployment)) {
		c.queue.add(owner.key)
	}
}

// family is a Deployment and its ReplicaSets as one sync sees them. Like upstream,
// a sync goes on with what it read although it has scaled in between; the event of
// that write leads to the next sync. next is the ReplicaSet of the current
// template, nil when there is none.
type family struct {
	d    *appsv1.Deployment
	next *appsv1.ReplicaSet
	old  []*appsv1.ReplicaSet // oldest first
	all  []*appsv1.ReplicaSet // oldest first
}

// sync does one step for one Deployment.
func (c *deployments) sync(key types.NamespacedName) error {
	stored, ok := c.w.server.Get(kindDeployment, key).(*appsv1.Deployment)
	if !ok {
		c.queue.forget(key)
		return nil
	}
	// The copy's parts are replaced below, never edited.
	d := *stored
	c.wrote = false
	f := c.family(&d)
	if d.DeletionTimestamp != nil {
		return c.reportStatus(f)
	}
	if err := c.checkPaused(&d); err != nil {
		return err
	}
	if err := c.adopt(f, false); err != nil {
		return err
	}
	if d.Spec.Paused || f.isScaling() {
		return c.scaleAndReport(f)
	}
	if isRolling(&d) {
		return c.rollRolling(f)
	}
	return c.rollRecreate(f)
}

// family collects the ReplicaSets of a Deployment and finds the current one: the
// oldest whose template equals, whatever its labels or annotations say.
func (c *deployments) family(d *appsv1.Deployment) *family {
	all := c.w.objects.replicaSets(d.UID)
	sortByCreation(all)
	f := &family{d: d, all: all}
	want := c.w.objects.templateOf(d)
	for _, rs := range all {
		if f.next == nil && c.w.objects.templateOf(rs) == want {
			f.next = rs
		} else {
			f.old = append(f.old, rs)
		}
	}
	return f
}

// sortByCreation sorts the oldest first, equal seconds by name.
func sortByCreation(list []*appsv1.ReplicaSet) {
	slices.SortFunc(list, func(a, b *appsv1.ReplicaSet) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
}

// isScaling reports that spec.replicas changed since a live ReplicaSet was scaled.
func (f *family) isScaling() bool {
	for _, rs := range f.all {
		if replicasOf(rs.Spec.Replicas) == 0 {
			continue
		}
		desired, err := strconv.Atoi(rs.Annotations[annDesired])
		if err == nil && int32(desired) != replicasOf(f.d.Spec.Replicas) {
			return true
		}
	}
	return false
}

// scaleAndReport follows a change of spec.replicas; a paused Deployment does nothing
// else. Of the conditions only Available is computed anew.
func (c *deployments) scaleAndReport(f *family) error {
	if err := c.scale(f); err != nil {
		return err
	}
	if f.d.Spec.Paused {
		if err := c.cleanUp(f); err != nil {
			return err
		}
	}
	return c.reportStatus(f)
}

// rollRolling does one step of a rolling update.
func (c *deployments) rollRolling(f *family) error {
	if err := c.adopt(f, true); err != nil {
		return err
	}
	moved, err := c.growNext(f)
	if err != nil {
		return err
	}
	if !moved {
		if moved, err = c.shrinkOld(f); err != nil {
			return err
		}
	}
	if !moved && isComplete(f.d, &f.d.Status) {
		if err := c.cleanUp(f); err != nil {
			return err
		}
	}
	return c.reportRollout(f)
}

// rollRecreate does one step of an update that ends all old pods first.
func (c *deployments) rollRecreate(f *family) error {
	down := false
	for _, rs := range f.old {
		scaledNow, err := c.scaleTo(f.d, rs, 0, false)
		if err != nil {
			return err
		}
		down = down || scaledNow
	}
	if down || c.oldPodsRun(f) {
		return c.reportRollout(f)
	}
	if err := c.adopt(f, true); err != nil {
		return err
	}
	if _, err := c.scaleTo(f.d, f.next, replicasOf(f.d.Spec.Replicas), false); err != nil {
		return err
	}
	if isComplete(f.d, &f.d.Status) {
		if err := c.cleanUp(f); err != nil {
			return err
		}
	}
	return c.reportRollout(f)
}

// oldPodsRun reports that a pod of an old ReplicaSet still exists, terminating or not.
func (c *deployments) oldPodsRun(f *family) bool {
	for _, rs := range f.old {
		if rs.Status.Replicas > 0 {
			return true
		}
		for _, pod := range c.w.objects.pods(rs.UID) {
			if pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded {
				return true
			}
		}
	}
	return false
}
