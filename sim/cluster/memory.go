package cluster

import (
	"reflect"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// memory keeps answers by digest, for all servers of a process.
type memory[V any] struct {
	lock sync.RWMutex
	seen map[uint64]V
}

// memoryLimit bounds a memory; a full one starts anew.
const memoryLimit = 1 << 16

func newMemory[V any]() *memory[V] { return &memory[V]{seen: map[uint64]V{}} }

func (m *memory[V]) get(key uint64) (V, bool) {
	m.lock.RLock()
	defer m.lock.RUnlock()
	v, ok := m.seen[key]
	return v, ok
}

func (m *memory[V]) put(key uint64, v V) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if len(m.seen) >= memoryLimit {
		clear(m.seen)
	}
	m.seen[key] = v
}

// forms remembers forms by their parts.
type forms struct{ *memory[struct{}] }

func newForms() forms { return forms{newMemory[struct{}]()} }

// has reports whether all parts of the forms are known.
func (m forms) has(all ...form) bool {
	m.lock.RLock()
	defer m.lock.RUnlock()
	for _, f := range all {
		for _, part := range f {
			if _, ok := m.seen[part]; !ok {
				return false
			}
		}
	}
	return true
}

func (m forms) learn(all ...form) {
	for _, f := range all {
		for _, part := range f {
			m.put(part, struct{}{})
		}
	}
}

// fast reports that the kind is a custom resource whose writes may be judged by memory;
// see Options.Fast.
func (k *kind) fast() bool { return k.digests != nil }

// form is what a verdict on a write follows from: the digest of what is judged as a
// whole, and those of the list items that are judged by themselves.
type form []uint64

// formOf is the form of a write to a custom resource: all that its schema and its
// rules can see of what the write may change. Of a time they see how it is written, which a
// typed time always is well, so only its presence counts; of an opaque text, its length.
// What stands already was judged when it was written.
func (k *kind) formOf(in, old client.Object, subresource string) form {
	var items []uint64
	d := newDigest(false)
	d.opaque, d.loose, d.items = k.crd.opaque, k.crd.loose, &items
	k.form(d, in, subresource)
	d.flag(old != nil)
	if old != nil && k.crd.compares(k.apart(), subresource) {
		k.form(d, old, subresource)
	}
	d.text(subresource)
	return append(items, d.Sum64())
}

// apart reports that the status and the rest of a custom resource are written apart, and
// that no rule sees both.
func (k *kind) apart() bool {
	return k.hasStatus && len(k.crd.structural.XValidations) == 0 && !looksBelow(k.crd.structural)
}

// form adds what the schema and the rules of a custom resource can see of an object in a
// write: the body or the status, or both and the name where a rule sees all.
func (k *kind) form(d *digest, obj client.Object, subresource string) {
	v, apart := reflect.ValueOf(obj).Elem(), k.apart()
	for _, f := range k.digests {
		if !apart || (f.index == k.status) == (subresource == "status") {
			f.add(d, v.Field(f.index))
		}
	}
	if !apart {
		d.text(obj.GetName())
		d.text(obj.GetGenerateName())
	}
}

// remembered decodes by memory: an object of forms that decoding left as they were needs
// no decoding.
func (k *kind) remembered(obj client.Object, decode func() (client.Object, error)) (client.Object, error) {
	body := k.formOf(obj, nil, "")
	status := body
	if k.apart() {
		status = k.formOf(obj, nil, "status")
	}
	if k.crd.plain.has(body, status) {
		return obj, nil
	}
	out, err := decode()
	if err == nil && k.compare(out, obj).none() {
		k.crd.plain.learn(body, status)
	}
	return out, err
}
