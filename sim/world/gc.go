package world

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/sched"
)

// collector deletes objects whose owners are gone. An owner is known by its UID
// alone, so an object of the same name is no heir.
type collector struct {
	w     *World
	queue *queue[types.UID]
}

func newCollector(w *World) {
	c := &collector{w: w}
	c.queue = newQueue(w, c.label, c.sync)
	w.onAny(c.observe)
}

// label names the object of a sync.
func (c *collector) label(uid types.UID) sched.Label {
	if n := c.w.objects.get(uid); n != nil {
		return about("gc "+n.kind.Kind, n.key)
	}
	return sched.Label{What: "gc " + string(uid)}
}

// observe queues what a write may have made garbage.
func (c *collector) observe(ev cluster.Event) {
	uid := ev.Object.GetUID()
	if ev.Type != cluster.Deleted {
		if ev.Object.GetDeletionTimestamp() != nil || c.orphaned(uid, ev) {
			c.queue.add(uid)
		}
		return
	}
	for _, child := range c.w.objects.children(uid) {
		c.queue.add(child.uid)
	}
	// An owner that waits for its dependents counts them again.
	for _, ref := range ev.Object.GetOwnerReferences() {
		if owner := c.w.objects.get(ref.UID); owner != nil && owner.object != nil && owner.object.GetDeletionTimestamp() != nil {
			c.queue.add(owner.uid)
		}
	}
}

// orphaned reports that an object names an owner that does not exist.
func (c *collector) orphaned(uid types.UID, ev cluster.Event) bool {
	if len(ev.Object.GetOwnerReferences()) == 0 {
		return false
	}
	n := c.w.objects.get(uid)
	return n != nil && slices.ContainsFunc(n.owners, func(owner *node) bool { return owner.object == nil })
}

// sync decides about one object.
func (c *collector) sync(uid types.UID) error {
	n := c.w.objects.get(uid)
	if n == nil || n.object == nil {
		return nil
	}
	if n.object.GetDeletionTimestamp() != nil {
		switch {
		case hasFinalizer(n, metav1.FinalizerOrphanDependents):
			return c.orphan(n)
		case hasFinalizer(n, metav1.FinalizerDeleteDependents):
			return c.deleteDependents(n)
		}
		return nil
	}
	return c.judge(n)
}

// hasFinalizer reports that an object has a finalizer.
func hasFinalizer(n *node, name string) bool { return slices.Contains(n.object.GetFinalizers(), name) }

// waits reports that an owner is being deleted and waits for its dependents.
func waits(owner *node) bool {
	return owner.object.GetDeletionTimestamp() != nil && hasFinalizer(owner, metav1.FinalizerDeleteDependents)
}

// judge deletes an object whose owners are all gone or wait for it. While one solid
// owner is left, only the references to the others are dropped.
func (c *collector) judge(n *node) error {
	solid, waiting, dangling := 0, 0, 0
	for _, owner := range n.owners {
		switch {
		case owner.object == nil:
			dangling++
		case waits(owner):
			waiting++
		default:
			solid++
		}
	}
	switch {
	case dangling+waiting == 0:
		return nil
	case solid > 0:
		return c.keepOwners(n, func(owner *node) bool { return owner.object != nil && !waits(owner) })
	}
	policy := metav1.DeletePropagationBackground
	switch {
	case waiting > 0 && len(n.children) > 0, hasFinalizer(n, metav1.FinalizerDeleteDependents):
		policy = metav1.DeletePropagationForeground
	case hasFinalizer(n, metav1.FinalizerOrphanDependents):
		policy = metav1.DeletePropagationOrphan
	}
	return c.w.deleteAs(managerKCM, n.kind, n.object, client.PropagationPolicy(policy))
}

// keepOwners drops the references to all other owners.
func (c *collector) keepOwners(n *node, keep func(*node) bool) error {
	var refs []metav1.OwnerReference
	for i, ref := range n.object.GetOwnerReferences() {
		if keep(n.owners[i]) {
			refs = append(refs, ref)
		}
	}
	changed := n.object.DeepCopyObject().(client.Object)
	changed.SetOwnerReferences(refs)
	_, err := c.w.update(changed)
	return client.IgnoreNotFound(err)
}

// orphan sets the dependents free, then lets their owner go.
func (c *collector) orphan(n *node) error {
	for _, child := range slices.Clone(n.children) {
		if err := c.keepOwners(child, func(owner *node) bool { return owner != n }); err != nil {
			return err
		}
	}
	return c.dropFinalizer(n, metav1.FinalizerOrphanDependents)
}

// deleteDependents deletes the dependents of an owner that waits for them, and lets
// it go when none is left that blocks its deletion.
func (c *collector) deleteDependents(n *node) error {
	blocking := false
	for _, child := range slices.Clone(n.children) {
		for _, ref := range child.object.GetOwnerReferences() {
			if ref.UID == n.uid && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion {
				blocking = true
			}
		}
		c.queue.add(child.uid)
	}
	if blocking {
		return nil
	}
	return c.dropFinalizer(n, metav1.FinalizerDeleteDependents)
}

// dropFinalizer takes one finalizer off an object.
func (c *collector) dropFinalizer(n *node, name string) error {
	changed := n.object.DeepCopyObject().(client.Object)
	changed.SetFinalizers(slices.DeleteFunc(changed.GetFinalizers(), func(f string) bool { return f == name }))
	_, err := c.w.update(changed)
	return client.IgnoreNotFound(err)
}
