package cluster

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// historyLimit bounds the log of one object, so that a run of simulated years does
// not grow without end. A kubelet's cache lags by seconds, not by 64 writes.
const historyLimit = 64

// record is one stored object.
type record struct {
	key      types.NamespacedName
	object   client.Object
	pristine client.Object // a copy, when Options.DetectMutation is set
}

// version is one entry of an object's log; object is nil for a deletion.
type version struct {
	at     time.Time
	object client.Object
}

// change is what a commit says besides its objects.
type change struct {
	manager, verb, sub string
}

// compareKeys orders as etcd does: by the bytes of "namespace/name".
func compareKeys(a, b types.NamespacedName) int {
	if a.Namespace == b.Namespace {
		return strings.Compare(a.Name, b.Name)
	}
	short := min(len(a.Namespace), len(b.Namespace))
	if c := strings.Compare(a.Namespace[:short], b.Namespace[:short]); c != 0 {
		return c
	}
	// One is a prefix of the other: its "/" meets the next character of the other.
	if len(a.Namespace) == short {
		return strings.Compare("/", b.Namespace[short:short+1])
	}
	return strings.Compare(a.Namespace[short:short+1], "/")
}

// find returns where a key is, or would be, in the order.
func (k *kind) find(key types.NamespacedName) int {
	return sort.Search(len(k.order), func(i int) bool { return compareKeys(k.order[i].key, key) >= 0 })
}

// span returns the records of a namespace, in order; all for "".
func (k *kind) span(namespace string) []*record {
	if namespace == "" || !k.namespaced {
		return k.order
	}
	from := k.find(types.NamespacedName{Namespace: namespace})
	to := from
	for to < len(k.order) && k.order[to].key.Namespace == namespace {
		to++
	}
	return k.order[from:to]
}

// at answers Server.At from the log.
func (k *kind) at(key types.NamespacedName, at time.Time) client.Object {
	log := k.history[key]
	for _, l := range slices.Backward(log) {
		if !l.at.After(at) {
			return l.object
		}
	}
	return nil
}

// remember appends to the log of an object.
func (k *kind) remember(key types.NamespacedName, v version) {
	if !k.logged {
		return
	}
	log := append(k.history[key], v)
	if len(log) > historyLimit {
		log = slices.Delete(log, 0, len(log)-historyLimit)
	}
	k.history[key] = log
}

// nextRevision moves the cluster's one counter and stamps the object with it.
func (s *Server) nextRevision(obj client.Object) {
	s.revision++
	obj.SetResourceVersion(strconv.FormatInt(s.revision, 10))
}

// insert commits a new object.
func (s *Server) insert(k *kind, obj client.Object, c change) {
	s.nextRevision(obj)
	r := &record{key: client.ObjectKeyFromObject(obj), object: obj}
	s.guard(r)
	k.records[r.key] = r
	k.order = slices.Insert(k.order, k.find(r.key), r)
	now := s.Now()
	k.remember(r.key, version{now, obj})
	s.publish(Event{Type: Added, Kind: k.gk, Key: r.key, Object: obj,
		Revision: s.revision, At: now, Manager: c.manager, Verb: c.verb, Sub: c.sub})
}

// replace commits a new version of an object.
func (s *Server) replace(k *kind, r *record, obj client.Object, c change) {
	s.verify(k, r)
	old := r.object
	s.nextRevision(obj)
	r.object = obj
	s.guard(r)
	now := s.Now()
	k.remember(r.key, version{now, obj})
	s.publish(Event{Type: Modified, Kind: k.gk, Key: r.key, Object: obj, Old: old,
		Revision: s.revision, At: now, Manager: c.manager, Verb: c.verb, Sub: c.sub})
}

// remove commits a deletion. The event carries the last state at the revision of the
// deletion, as a watch does.
func (s *Server) remove(k *kind, r *record, c change) {
	s.verify(k, r)
	last := k.shallow(r.object)
	s.nextRevision(last)
	delete(k.records, r.key)
	i := k.find(r.key)
	k.order = slices.Delete(k.order, i, i+1)
	now := s.Now()
	k.remember(r.key, version{now, nil})
	s.publish(Event{Type: Deleted, Kind: k.gk, Key: r.key, Object: last, Old: r.object,
		Revision: s.revision, At: now, Manager: c.manager, Verb: c.verb, Sub: c.sub})
}

// guard keeps a copy to compare with later.
func (s *Server) guard(r *record) {
	if s.opts.DetectMutation {
		r.pristine = r.object.DeepCopyObject().(client.Object)
	}
}

// verify panics when somebody changed a shared object: the run is worthless from
// there on, and the stack of the next write is the nearest clue.
func (s *Server) verify(k *kind, r *record) {
	if err := r.mutated(k); err != nil {
		panic(err.Error())
	}
}

// mutated compares a record with its copy, if there is one.
func (r *record) mutated(k *kind) error {
	if r.pristine == nil || apiequality.Semantic.DeepEqual(r.object, r.pristine) {
		return nil
	}
	return fmt.Errorf("shared %s %s was changed in place: a reader must deep-copy before it edits", k.gk.Kind, r.key)
}

// CheckMutation reports the first stored object that was changed in place. It needs
// Options.DetectMutation.
func (s *Server) CheckMutation() error {
	for _, k := range s.sortedKinds() {
		for _, r := range k.order {
			if err := r.mutated(k); err != nil {
				return err
			}
		}
	}
	return nil
}
