package world

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
)

// namespaces empties namespaces that are being deleted.
type namespaces struct {
	w     *World
	queue *queue[types.NamespacedName]
	dying map[string]bool
}

func newNamespaces(w *World) *namespaces {
	c := &namespaces{w: w, dying: map[string]bool{}}
	c.queue = newKeyQueue(w, "namespace", c.sync)
	w.on(kindNamespace, func(ev cluster.Event) {
		if ev.Type == cluster.Deleted {
			delete(c.dying, ev.Key.Name)
		} else if ev.Object.GetDeletionTimestamp() != nil {
			c.dying[ev.Key.Name] = true
			c.queue.add(types.NamespacedName{Name: ev.Key.Name})
		}
	})
	w.onAny(func(ev cluster.Event) {
		if len(c.dying) > 0 && ev.Type == cluster.Deleted && c.dying[ev.Key.Namespace] {
			c.queue.add(types.NamespacedName{Name: ev.Key.Namespace})
		}
	})
	return c
}

// sync deletes what is left in a namespace, and finalizes it once it is empty.
func (c *namespaces) sync(key types.NamespacedName) error {
	namespace, ok := c.w.server.Get(kindNamespace, key).(*corev1.Namespace)
	if !ok || namespace.DeletionTimestamp == nil {
		return nil
	}
	left := false
	for _, n := range c.w.objects.inNamespace(key.Name) {
		left = true
		if n.object == nil || n.object.GetDeletionTimestamp() != nil {
			continue
		}
		if err := c.w.deleteAs(managerKCM, n.kind, n.object, client.PropagationPolicy("Background")); err != nil {
			return err
		}
	}
	if left {
		return nil // each deletion brings the next sync
	}
	final := *namespace
	final.Spec.Finalizers = nil
	_, err := c.w.server.Update(&final, cluster.WriteOptions{Manager: managerKCM, Subresource: "finalize"})
	return client.IgnoreNotFound(err)
}
