package cluster

import (
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

// fast reports that the kind is a custom resource whose writes may be judged by memory;
// see Options.Fast.
func (k *kind) fast() bool { return k.digests != nil }

// formOf is the digest of a write to a custom resource: all that its schema and its
// rules can see. Of a time they see how it is written, which a typed time always is
// well, so only its presence counts; of an opaque text, its length.
func (k *kind) formOf(in, old client.Object, subresource string) uint64 {
	d := newDigest(false)
	d.opaque = k.crd.opaque
	k.form(d, in)
	d.flag(old != nil)
	if old != nil {
		k.form(d, old)
	}
	d.text(subresource)
	return d.Sum64()
}

// remembered decodes by memory: an object of a form that decoding left as it was needs
// no decoding.
func (k *kind) remembered(obj client.Object, decode func() (client.Object, error)) (client.Object, error) {
	form := k.formOf(obj, nil, "")
	if _, plain := k.crd.plain.get(form); plain {
		return obj, nil
	}
	out, err := decode()
	if err == nil && k.compare(out, obj).none() {
		k.crd.plain.put(form, struct{}{})
	}
	return out, err
}
