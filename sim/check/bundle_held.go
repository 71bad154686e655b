package check

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawBundleHeld = "a bundle's ConfigMap is as declared"

// bundleHeld holds each bundle against its ConfigMap at the end.
type bundleHeld struct {
	authors authors
	refused map[types.NamespacedName]bool // the API server refused a write of the ConfigMap
}

// OnWrite follows who wrote what.
func (h *bundleHeld) OnWrite(_ *Context, ev cluster.Event) {
	cm, ok := ev.Object.(*corev1.ConfigMap)
	if !ok || ev.Type == cluster.Deleted {
		return
	}
	if h.authors == nil {
		h.authors = authors{}
	}
	var old metav1.Object
	if ev.Type == cluster.Modified {
		old = ev.Old
	}
	h.authors.note(old, cm, ev.Manager)
}

func (h *bundleHeld) fork() Law { return &bundleHeld{maps.Clone(h.authors), maps.Clone(h.refused)} }

// OnCall follows refusals.
func (h *bundleHeld) OnCall(_ *Context, w Write) {
	if w.Kind != configMapKind || !w.Done {
		return
	}
	if h.refused == nil {
		h.refused = map[types.NamespacedName]bool{}
	}
	if refused(w.Err) || apierrors.IsRequestEntityTooLargeError(w.Err) {
		h.refused[w.Key] = true
	}
}

// AtEnd judges every bundle.
func (h *bundleHeld) AtEnd(c *Context) {
	if !c.Bundles {
		return
	}
	for _, object := range c.API.List(bundleKind, "") {
		b := object.(*v1alpha1.ConfigBundle)
		if b.DeletionTimestamp == nil && c.watched(b.Namespace) {
			h.judge(c, b)
		}
	}
}

func (h *bundleHeld) judge(c *Context, b *v1alpha1.ConfigBundle) {
	key := types.NamespacedName{Namespace: b.Namespace, Name: b.Name}
	cm := c.configMapOf(key)
	reason, ready := readyReason(b)
	switch {
	case b.Status.ObservedGeneration != b.Generation:
		c.report(lawBundleHeld, "the status of ConfigBundle %s is of generation %d, and it has %d", key, b.Status.ObservedGeneration, b.Generation)
	case own(b, cm) && cm.DeletionTimestamp == nil:
		h.compare(c, b, cm)
		if !ready || !inStatus(b, cm) {
			c.report(lawBundleHeld, "ConfigMap %s is there, and the status of its bundle says %s", key, reason)
		}
	case ready:
		c.report(lawBundleHeld, "ConfigBundle %s is Ready, and there is no ConfigMap of its own", key)
	default:
		h.without(c, b, cm)
	}
}

// without judges a bundle that has no ConfigMap of its own, and says so.
func (h *bundleHeld) without(c *Context, b *v1alpha1.ConfigBundle, other *corev1.ConfigMap) {
	key := types.NamespacedName{Namespace: b.Namespace, Name: b.Name}
	reason, _ := readyReason(b)
	switch {
	case other != nil: // somebody else's, or one that cannot go: nothing to be done
	case b.Status.ConfigMap != nil:
		c.report(lawBundleHeld, "ConfigBundle %s had a ConfigMap, and it was not made again", key)
	case !h.refused[key] && reason != "NameTaken":
		c.report(lawBundleHeld, "ConfigBundle %s has no ConfigMap (%s), and nobody refused it one", key, reason)
	}
}

// own reports whether a ConfigMap is the bundle's.
func own(b *v1alpha1.ConfigBundle, cm *corev1.ConfigMap) bool {
	return cm != nil && (owningBundle(cm).UID == b.UID || inStatus(b, cm))
}

// inStatus reports whether the status names this ConfigMap.
func inStatus(b *v1alpha1.ConfigBundle, cm *corev1.ConfigMap) bool {
	return b.Status.ConfigMap != nil && b.Status.ConfigMap.UID == string(cm.UID)
}

// compare holds a ConfigMap of the bundle's own against the declaration.
func (h *bundleHeld) compare(c *Context, b *v1alpha1.ConfigBundle, cm *corev1.ConfigMap) {
	key := b.Namespace + "/" + b.Name
	if !heldBy(cm).equal(declaredBy(&b.Spec)) {
		c.report(lawBundleHeld, "ConfigMap %s does not hold what its bundle declares", key)
	}
	if ref := metav1.GetControllerOf(cm); ref == nil || ref.UID != b.UID || ref.Name != b.Name {
		c.report(lawBundleHeld, "ConfigMap %s is not controlled by its bundle", key)
	}
	for _, field := range []string{"label", "annotation"} {
		h.compareMetadata(c, field, b, cm)
	}
}

// compareMetadata holds labels or annotations against those of the bundle.
func (h *bundleHeld) compareMetadata(c *Context, field string, b *v1alpha1.ConfigBundle, cm *corev1.ConfigMap) {
	key, declared, there := b.Namespace+"/"+b.Name, metadataOf(b)[field], metadataOf(cm)[field]
	for _, k := range slices.Sorted(maps.Keys(declared)) {
		if handedOn(k) && !has(there, k, declared[k]) {
			c.report(lawBundleHeld, "ConfigMap %s lacks the %s %s of its bundle", key, field, k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(there)) {
		if _, ok := declared[k]; h.leftOver(cm, field, k) && (!ok || !handedOn(k)) {
			c.report(lawBundleHeld, "ConfigMap %s still has the %s %s that KICK put there, and its bundle does not", key, field, k)
		}
	}
}

// leftOver reports that a label or annotation is there by KICK's doing alone.
func (h *bundleHeld) leftOver(cm *corev1.ConfigMap, field, key string) bool {
	kicks := key == "kick.corewire.io/heals" || key == "kick.corewire.io/last-heal"
	return !kicks && h.authors[authored{cm.UID, field, key}] == Manager && !others(cm, field, key)
}
