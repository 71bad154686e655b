package check

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawBundleFrozen = "an immutable bundle never changes its content"

// bundleFrozen remembers what immutable bundles declared when KICK accepted them: the
// content of the ConfigMap when the record was made.
type bundleFrozen struct{ accepted map[types.UID]declaration }

// OnKick takes an acceptance, and judges what KICK writes afterwards.
func (f *bundleFrozen) OnKick(c *Context, ev cluster.Event) {
	switch o := ev.Object.(type) {
	case *appsv1.ControllerRevision:
		owner := owningBundle(o)
		uid := owner.UID
		cm := c.configMapOf(types.NamespacedName{Namespace: o.Namespace, Name: owner.Name})
		if _, known := f.accepted[uid]; known || ev.Type != cluster.Added || cm == nil || owningBundle(cm).UID != uid {
			return
		}
		if f.accepted == nil {
			f.accepted = map[types.UID]declaration{}
		}
		f.accepted[uid] = heldBy(cm)
	case *corev1.ConfigMap:
		if first, known := f.accepted[owningBundle(o).UID]; known && ev.Type != cluster.Deleted && !heldBy(o).equal(first) {
			c.report(lawBundleFrozen, "KICK gave ConfigMap %s another content, and its bundle was accepted as immutable", ev.Key)
		}
	}
}

// AtEnd reports an immutable bundle that says something else.
func (f *bundleFrozen) AtEnd(c *Context) {
	for _, object := range c.API.List(bundleKind, "") {
		b := object.(*v1alpha1.ConfigBundle)
		if first, known := f.accepted[b.UID]; known && b.DeletionTimestamp == nil && c.Bundles && !declaredBy(&b.Spec).equal(first) {
			c.report(lawBundleFrozen, "ConfigBundle %s/%s was accepted as immutable and says something else now", b.Namespace, b.Name)
		}
	}
}
