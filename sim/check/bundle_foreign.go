package check

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/cluster"
)

const lawBundleForeign = "a bundle leaves alone what is somebody else's"

// bundleForeign guards ConfigMaps that are no bundle's, and what others put on those
// that are.
type bundleForeign struct {
	authors authors
	made    map[types.UID]bool // ConfigMaps that KICK made
}

// OnWrite follows who wrote what, and judges what KICK did.
func (f *bundleForeign) OnWrite(c *Context, ev cluster.Event) {
	cm, ok := ev.Object.(*corev1.ConfigMap)
	if !ok {
		return
	}
	if f.authors == nil {
		f.authors, f.made = authors{}, map[types.UID]bool{}
	}
	old, _ := ev.Old.(*corev1.ConfigMap)
	if ev.Manager == Manager {
		f.judge(c, ev, old, cm)
	}
	switch ev.Type {
	case cluster.Added:
		f.made[cm.UID] = ev.Manager == Manager
		f.authors.note(nil, cm, ev.Manager)
	case cluster.Modified:
		f.authors.note(old, cm, ev.Manager)
	case cluster.Deleted:
	}
}

func (f *bundleForeign) fork() Law {
	return &bundleForeign{authors: maps.Clone(f.authors), made: maps.Clone(f.made)}
}

func (f *bundleForeign) judge(c *Context, ev cluster.Event, old, cm *corev1.ConfigMap) {
	if ev.Type == cluster.Added {
		if owningBundle(cm).UID == "" {
			c.report(lawBundleForeign, "KICK made ConfigMap %s for no bundle", ev.Key)
		}
		return
	}
	before := cm // of a deletion
	if ev.Type == cluster.Modified {
		before = old
	}
	if !f.made[before.UID] && owningBundle(before).UID == "" {
		c.report(lawBundleForeign, "KICK wrote (%s) ConfigMap %s, which is no bundle's", ev.Verb, ev.Key)
		return
	}
	if ev.Type == cluster.Modified && cm.DeletionTimestamp == nil {
		f.keeps(c, ev, old, cm)
	}
}

// keeps reports metadata of others that a write of KICK took away or changed.
func (f *bundleForeign) keeps(c *Context, ev cluster.Event, old, cm *corev1.ConfigMap) {
	declared := map[string]map[string]string{}
	if b := c.bundleOf(ev.Key); b != nil {
		declared = metadataOf(b)
	}
	was, is := metadataOf(old), metadataOf(cm)
	for _, field := range []string{"label", "annotation"} {
		for _, k := range slices.Sorted(maps.Keys(was[field])) {
			_, ours := declared[field][k]
			theirs := f.authors[authored{cm.UID, field, k}] != Manager && handedOn(k) && !ours
			if theirs && !has(is[field], k, was[field][k]) {
				c.report(lawBundleForeign, "KICK took the %s %s off ConfigMap %s, which somebody else put there", field, k, ev.Key)
			}
		}
	}
	f.keepsOwners(c, ev, old, cm)
}

// has reports whether a map holds a value.
func has(m map[string]string, k, value string) bool {
	v, there := m[k]
	return there && v == value
}

// keepsOwners reports owners and finalizers that a write of KICK took away.
func (*bundleForeign) keepsOwners(c *Context, ev cluster.Event, old, cm *corev1.ConfigMap) {
	for _, ref := range old.OwnerReferences {
		if !slices.ContainsFunc(cm.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == ref.UID }) {
			c.report(lawBundleForeign, "KICK took the owner %s %s off ConfigMap %s", ref.Kind, ref.Name, ev.Key)
		}
	}
	if len(cm.Finalizers) < len(old.Finalizers) {
		c.report(lawBundleForeign, "KICK took a finalizer off ConfigMap %s", ev.Key)
	}
}
