package bundle

import (
	"bytes"
	"maps"
	"slices"

	"github.com/corewire/kick/kick/model"
)

// APIVersion is that of a bundle, as owner references name it.
const APIVersion = domain + "/v1alpha1"

// Difference is what keeps a ConfigMap from being as declared.
type Difference struct {
	// Names are the parts that differ, in order: "data key message", "label team",
	// "immutable", "ownerReference". Never a value.
	Names []string
	// Extra are keys of data and binaryData that nobody declared and that KICK did not
	// bring: an apply leaves them where they are.
	Extra Keys
	// barred: the API server does not allow to mend it in place.
	barred bool
}

// Keys are keys of data and of binaryData.
type Keys struct{ Data, Binary []string }

// None reports whether there are no such keys.
func (k Keys) None() bool { return len(k.Data)+len(k.Binary) == 0 }

// None reports whether the ConfigMap is as declared.
func (d *Difference) None() bool { return len(d.Names) == 0 }

func (d *Difference) add(name string) { d.Names = append(d.Names, name) }

// compare holds a ConfigMap of the bundle's own against the declaration.
func compare(b *Bundle, declared Content, cm *ConfigMap) Difference {
	var d Difference
	content(&d, "data", declared.Data, cm.Content.Data, func(a, b string) bool { return a == b })
	content(&d, "binaryData", declared.Binary, cm.Content.Binary, bytes.Equal)
	d.Extra = Keys{
		Data:   extra(declared.Data, cm.Content.Data, cm.Owned.Data),
		Binary: extra(declared.Binary, cm.Content.Binary, cm.Owned.Binary),
	}
	if declared.Immutable != cm.Content.Immutable {
		d.add("immutable")
	}
	d.barred = cm.Content.Immutable && !d.None()
	metadata(&d, "label", b.Meta.Labels, cm.Meta.Labels, cm.Owned.Labels)
	metadata(&d, "annotation", b.Meta.Annotations, cm.Meta.Annotations, cm.Owned.Annotations)
	mine, other := owners(b, cm)
	if !mine || other {
		d.add("ownerReference")
	}
	d.barred = d.barred || other // two controllers are refused, and an apply drops nobody else's
	return d
}

// content compares keys and values of one map.
func content[V any](d *Difference, field string, want, got map[string]V, equal func(V, V) bool) {
	for _, k := range union(want, got) {
		w, wanted := want[k]
		if g, there := got[k]; wanted != there || wanted && !equal(w, g) {
			d.add(field + " key " + k)
		}
	}
}

// metadata compares what is handed on; keys of others are no difference. One of KICK's
// that is declared no longer is.
func metadata(d *Difference, field string, want, got map[string]string, owned map[string]bool) {
	for _, k := range union(want, owned) {
		w, wanted := want[k]
		g, there := got[k]
		if wanted && (!there || g != w) || !wanted && there && Copied(k) {
			d.add(field + " " + k)
		}
	}
}

// extra are undeclared keys that are not KICK's own.
func extra[V any](want, got map[string]V, owned map[string]bool) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if _, wanted := want[k]; !wanted && !owned[k] {
			out = append(out, k)
		}
	}
	return out
}

// owners looks for the bundle's own owner reference, and for another controller.
func owners(b *Bundle, cm *ConfigMap) (mine, other bool) {
	for _, o := range cm.Owners {
		switch {
		case o.UID == b.UID:
			mine = o.Controller && o.APIVersion == APIVersion && o.Kind == Kind && o.Name == b.ID.Name
		case o.Controller:
			other = true
		}
	}
	return mine, other
}

// belongs reports whether a ConfigMap is the bundle's own: it carries its UID, or it is
// the one of the status, of which somebody took the owner reference away.
func belongs(b *Bundle, cm *ConfigMap) bool {
	return b.Status.ConfigMap != "" && cm.UID == b.Status.ConfigMap ||
		slices.ContainsFunc(cm.Owners, func(o Owner) bool { return o.UID == b.UID })
}

// ofPredecessor reports whether a ConfigMap is that of an earlier bundle of the same
// name, which garbage collection is about to remove.
func ofPredecessor(b *Bundle, cm *ConfigMap) bool {
	return slices.ContainsFunc(cm.Owners, func(o Owner) bool {
		return o.Controller && o.APIVersion == APIVersion && o.Kind == Kind && o.Name == b.ID.Name && o.UID != b.UID
	})
}

// controllerOf is who controls a ConfigMap; zero: nobody does.
func controllerOf(id model.Key, cm *ConfigMap) model.Key {
	for _, o := range cm.Owners {
		if o.Controller {
			return model.Key{Kind: o.Kind, Namespace: id.Namespace, Name: o.Name}
		}
	}
	return model.Key{}
}

func union[A, B any](a map[string]A, b map[string]B) []string {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	return slices.Sorted(maps.Keys(keys))
}
