package world

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
)

// version is one state of a source; its object is nil when there was none.
type version struct {
	from   time.Time // true time
	object client.Object
	sum    *Content // computed at first use
}

// absent stands for a source that was never there.
var absent = &version{}

// content is the version's payload.
func (v *version) content() Content {
	if v.sum == nil {
		sum := contentOf(v.object)
		v.sum = &sum
	}
	return *v.sum
}

// has reports that the object exists and holds a key.
func (v *version) has(key string) bool {
	switch o := v.object.(type) {
	case *corev1.Secret:
		_, ok := o.Data[key]
		return ok
	case *corev1.ConfigMap:
		_, text := o.Data[key]
		_, binary := o.BinaryData[key]
		return text || binary
	}
	return false
}

// immutable reports that the object says it never changes.
func (v *version) immutable() bool {
	switch o := v.object.(type) {
	case *corev1.Secret:
		return o.Immutable != nil && *o.Immutable
	case *corev1.ConfigMap:
		return o.Immutable != nil && *o.Immutable
	}
	return false
}

// sources remembers the recent versions of every source by true time, which a step
// of the API server's clock cannot disturb, and which pods read it.
type sources struct {
	w     *World
	log   map[SourceRef][]*version
	users map[SourceRef][]*podState
	cache map[nodeSource]*version // copies of immutable objects that nodes hold on to
}

// nodeSource is a source as one node sees it.
type nodeSource struct {
	node string
	ref  SourceRef
}

// logWindow is how long old versions are kept at least, so that a cache lag that
// begins later can show them.
const logWindow = 2 * time.Minute

func newSources(w *World) *sources {
	s := &sources{
		w: w, log: map[SourceRef][]*version{}, users: map[SourceRef][]*podState{}, cache: map[nodeSource]*version{},
	}
	w.on(kindSecret, s.observe)
	w.on(kindConfigMap, s.observe)
	return s
}

// groupKind is the kind of a source.
func (r SourceRef) groupKind() schema.GroupKind {
	if r.isClass() {
		return kindClass
	}
	return schema.GroupKind{Kind: r.Kind}
}

// key is the key of a source.
func (r SourceRef) key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// observe records a version and tells the kubelet of every pod that reads the source.
func (s *sources) observe(ev cluster.Event) {
	ref := SourceRef{Kind: ev.Kind.Kind, Namespace: ev.Key.Namespace, Name: ev.Key.Name}
	v := &version{from: s.w.loop.Now()}
	if ev.Type != cluster.Deleted {
		v.object = ev.Object
	}
	log := append(s.log[ref], v)
	horizon := v.from.Add(-max(logWindow, s.w.opt.KubeletCacheLag))
	for len(log) > 1 && !log[1].from.After(horizon) {
		log = log[1:]
	}
	s.log[ref] = log
	for _, p := range s.users[ref] {
		s.w.kubelet.sourceChanged(p, ref, v)
	}
}

// at is the version that was current at an instant of true time.
func (s *sources) at(ref SourceRef, t time.Time) *version {
	for _, v := range slices.Backward(s.log[ref]) {
		if !v.from.After(t) {
			return v
		}
	}
	return absent
}

// read is the version a node's kubelet serves now: its cache lags behind, and it
// holds on to a copy of an immutable object while a pod on the node refers to it.
func (s *sources) read(node string, ref SourceRef) (v *version, cached bool) {
	at := nodeSource{node, ref}
	if v := s.cache[at]; v != nil {
		return v, v != s.at(ref, s.w.loop.Now())
	}
	v = s.at(ref, s.w.loop.Now().Add(-s.w.opt.KubeletCacheLag))
	if v.immutable() && !s.w.opt.NoImmutable {
		s.cache[at] = v
	}
	return v, false
}

// register notes that a pod refers to a source.
func (s *sources) register(p *podState, ref SourceRef) {
	if !slices.Contains(s.users[ref], p) {
		s.users[ref] = append(s.users[ref], p)
	}
}

// unregister forgets a pod, and the node's copy when it was the last one there.
func (s *sources) unregister(p *podState, ref SourceRef) {
	users := slices.DeleteFunc(s.users[ref], func(other *podState) bool { return other == p })
	s.users[ref] = users
	if !slices.ContainsFunc(users, func(other *podState) bool { return other.node == p.node }) {
		delete(s.cache, nodeSource{p.node, ref})
	}
}
