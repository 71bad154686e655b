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

func (h *bundleHeld) fork() Law { return &bundleHeld{authors: maps.Clone(h.authors)} }

// OnCall follows refusals.
func (h *bundleHeld) OnCall(_ *Context, w Write) {
	if w.Kind != configMapKind || !w.Done {
		return
	}
	if h.refused == nil {
		h.refused = map[types.NamespacedName]bool{}
	}
	if apierrors.IsForbidden(w.Err) || apierrors.IsInvalid(w.Err) || apierrors.IsBadRequest(w.Err) || apierrors.IsRequestEntityTooLargeError(w.Err) {
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
	cm, had := c.configMapOf(key), b.Status.ConfigMap != nil
	reason, ready := readyReason(b)
	own := cm != nil && (ownerUID(cm) == b.UID || had && cm.UID == types.UID(b.Status.ConfigMap.UID))
	switch {
	case b.Status.ObservedGeneration != b.Generation:
		c.report(lawBundleHeld, "the status of ConfigBundle %s is of generation %d, and it has %d", key, b.Status.ObservedGeneration, b.Generation)
	case own && cm.DeletionTimestamp == nil:
		h.compare(c, b, cm)
		if !ready || b.Status.ConfigMap == nil || b.Status.ConfigMap.UID != string(cm.UID) {
			c.report(lawBundleHeld, "ConfigMap %s is there, and the status of its bundle says %s", key, reason)
		}
	case ready:
		c.report(lawBundleHeld, "ConfigBundle %s is Ready, and there is no ConfigMap of its own", key)
	case cm != nil: // somebody else's, or one that cannot go: nothing to be done
	case had:
		c.report(lawBundleHeld, "ConfigBundle %s had a ConfigMap, and it was not made again", key)
	case !h.refused[key] && reason != "NameTaken":
		c.report(lawBundleHeld, "ConfigBundle %s has no ConfigMap (%s), and nobody refused it one", key, reason)
	}
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
	declared, there := metadataOf(b), metadataOf(cm)
	for _, field := range []string{"label", "annotation"} {
		for _, k := range slices.Sorted(maps.Keys(declared[field])) {
			if v, ok := there[field][k]; handedOn(k) && (!ok || v != declared[field][k]) {
				c.report(lawBundleHeld, "ConfigMap %s lacks the %s %s of its bundle", key, field, k)
			}
		}
		for _, k := range slices.Sorted(maps.Keys(there[field])) {
			if _, ok := declared[field][k]; h.leftOver(cm, field, k) && (!ok || !handedOn(k)) {
				c.report(lawBundleHeld, "ConfigMap %s still has the %s %s that KICK put there, and its bundle does not", key, field, k)
			}
		}
	}
}

// leftOver reports that a label or annotation is there by KICK's doing alone.
func (h *bundleHeld) leftOver(cm *corev1.ConfigMap, field, key string) bool {
	kicks := key == "kick.corewire.io/heals" || key == "kick.corewire.io/last-heal"
	return !kicks && h.authors[authored{cm.UID, field, key}] == Manager && !others(cm, field, key)
}
