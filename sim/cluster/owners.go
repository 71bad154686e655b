package cluster

import (
	"crypto/sha256"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ownersLimit bounds the memory of remembered managedFields; a full one starts anew.
const ownersLimit = 8192

// Working out who owns which field costs hundreds of microseconds and depends on
// nothing but the two objects, so the answer is kept for the process: millions of
// schedules write the same few objects.
var (
	ownersLock sync.Mutex
	ownersSeen = map[[sha256.Size]byte][]metav1.ManagedFieldsEntry{}
)

// wire is what built-in types offer for a fast and ordered encoding.
type wire interface {
	client.Object
	Marshal() ([]byte, error)
}

// owners returns the managedFields of a change, with ranks for times, from memory or by
// asking the field manager, which writes them into after.
func (k *kind) owners(p past, live, in client.Object, o WriteOptions, ask func(before, after client.Object)) []metav1.ManagedFieldsEntry {
	before, after := k.view(p, live, o.Subresource), k.view(p, in, o.Subresource)
	sameValues(before, after)
	key, ok := ownersKey(before, after, k.gvk.String()+" "+o.Manager+" "+o.Subresource)
	if ok {
		ownersLock.Lock()
		entries, found := ownersSeen[key]
		ownersLock.Unlock()
		if found {
			return entries
		}
	}
	before, after = k.managed(before, live.GetUID() != ""), k.managed(after, true)
	ask(before, after)
	entries := after.GetManagedFields()
	if ok {
		ownersLock.Lock()
		defer ownersLock.Unlock()
		if len(ownersSeen) >= ownersLimit {
			clear(ownersSeen)
		}
		ownersSeen[key] = entries
	}
	return entries
}

// view copies the parts of an object that ownership depends on. Names, versions and
// system fields are owned by nobody; what an endpoint does not let a request set, such
// as a status with a subresource, is left out by the field manager anyway.
func (k *kind) view(p past, obj client.Object, subresource string) client.Object {
	out := k.shallow(obj)
	switch {
	case subresource == "status":
		k.keep(out, k.zero, k.spec)
	case k.hasStatus:
		k.keep(out, k.zero, k.status)
	}
	m := objectMeta(obj)
	*objectMeta(out) = metav1.ObjectMeta{
		Labels: m.Labels, Annotations: m.Annotations, Finalizers: m.Finalizers, OwnerReferences: m.OwnerReferences,
		GenerateName: m.GenerateName, DeletionTimestamp: m.DeletionTimestamp, DeletionGracePeriodSeconds: m.DeletionGracePeriodSeconds,
		ManagedFields: p.of(m.ManagedFields),
	}
	if m.UID != "" {
		out.SetUID("set") // the field manager tells a create from an update by it
	}
	return out
}

// sameValues replaces the values of plain maps by whether they changed: ownership is of
// keys, and values are what differs from one schedule to the next.
func sameValues(before, after client.Object) {
	a, b := mapsOf(before), mapsOf(after)
	for i := range a.texts {
		*a.texts[i], *b.texts[i] = canonical(*a.texts[i], *b.texts[i], func(x, y string) bool { return x == y }, "0", "1")
	}
	for i := range a.bytes {
		*a.bytes[i], *b.bytes[i] = canonical(*a.bytes[i], *b.bytes[i],
			func(x, y []byte) bool { return string(x) == string(y) }, []byte("0"), []byte("1"))
	}
}

// canonical gives equal values one value and changed ones another.
func canonical[V any](before, after map[string]V, equal func(a, b V) bool, same, changed V) (map[string]V, map[string]V) {
	a, b := make(map[string]V, len(before)), make(map[string]V, len(after))
	for key := range before {
		a[key] = same
	}
	for key, value := range after {
		b[key] = same
		if was, ok := before[key]; ok && !equal(was, value) {
			b[key] = changed
		}
	}
	return a, b
}

// plainMaps are the places of an object's maps of plain values.
type plainMaps struct {
	texts []*map[string]string
	bytes []*map[string][]byte
}

// mapsOf finds the plain maps of a view; only a struct of its own may be changed.
func mapsOf(obj client.Object) plainMaps {
	m := objectMeta(obj)
	out := plainMaps{texts: []*map[string]string{&m.Labels, &m.Annotations}}
	template := func(t *corev1.PodTemplateSpec) { out.texts = append(out.texts, &t.Labels, &t.Annotations) }
	switch o := obj.(type) {
	case *corev1.Secret:
		out.bytes = append(out.bytes, &o.Data)
	case *corev1.ConfigMap:
		out.texts = append(out.texts, &o.Data)
		out.bytes = append(out.bytes, &o.BinaryData)
	case *appsv1.Deployment:
		template(&o.Spec.Template)
	case *appsv1.StatefulSet:
		template(&o.Spec.Template)
	case *appsv1.DaemonSet:
		template(&o.Spec.Template)
	}
	return out
}

// ownersKey hashes the question; false for types without a fast encoding.
func ownersKey(before, after client.Object, who string) (key [sha256.Size]byte, ok bool) {
	h := sha256.New()
	for _, obj := range []client.Object{before, after} {
		w, ok := obj.(wire)
		if !ok {
			return key, false
		}
		raw, err := w.Marshal()
		if err != nil {
			return key, false
		}
		h.Write(raw)
		h.Write([]byte{0})
	}
	h.Write([]byte(who))
	return [sha256.Size]byte(h.Sum(nil)), true
}
