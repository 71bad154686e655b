package check

import (
	"bytes"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

// sourceLog is the true history of every source: when its content changed, and
// which of these changes its own metadata can date.
type sourceLog struct {
	bySource map[Source]*history
}

// history is what happened to one source, oldest first.
type history struct {
	changes []change
	touches []time.Time // metadata-only writes that moved the time of the content's own manager
	records []time.Time // when KICK wrote its record of this source; the first is its baseline
	newest  client.Object
}

// change is one write that altered content; creation and deletion count.
type change struct {
	at      time.Time // true time
	written time.Time // API server's clock
	// dated says that the object's metadata proves the time of this change: the
	// newest time of its content's managers moved with it and no key was lost.
	dated bool
	gone  bool // the source was deleted
	// flagsOnly says that type, immutability or the field that holds a value
	// changed, and no byte of it did.
	flagsOnly bool
}

func newSourceLog() *sourceLog { return &sourceLog{bySource: map[Source]*history{}} }

// of is the history of a source, never nil.
func (l *sourceLog) of(s Source) *history {
	if h := l.bySource[s]; h != nil {
		return h
	}
	return &history{}
}

// last is the newest change, false where the source never existed.
func (h *history) last() (change, bool) {
	if len(h.changes) == 0 {
		return change{}, false
	}
	return h.changes[len(h.changes)-1], true
}

func (l *sourceLog) record(now time.Time, ev cluster.Event) {
	if record, ok := ev.Object.(*v1alpha1.SourceObservation); ok {
		l.recorded(now, ev, record)
		return
	}
	source, ok := sourceOf(ev.Object)
	if !ok {
		return
	}
	h := l.entry(source)
	defer func() { h.newest = ev.Object }()
	switch ev.Type {
	case cluster.Added:
		// A source that comes back without a key it had is a change its new
		// creation time does not prove to anybody who remembers the key.
		dated := h.newest == nil || !lostKey(h.newest, ev.Object)
		flags := h.newest != nil && !sameContent(h.newest, ev.Object) && sameBytes(h.newest, ev.Object)
		h.changes = append(h.changes, change{at: now, written: ev.At, dated: dated, flagsOnly: flags})
	case cluster.Deleted:
		h.changes = append(h.changes, change{at: now, written: ev.At, gone: true})
	case cluster.Modified:
		h.modified(now, ev)
	}
}

func (l *sourceLog) entry(source Source) *history {
	h := l.bySource[source]
	if h == nil {
		h = &history{}
		l.bySource[source] = h
	}
	return h
}

// recorded notes that KICK wrote down what it knows of a source. A new record is
// a new baseline.
func (l *sourceLog) recorded(now time.Time, ev cluster.Event, record *v1alpha1.SourceObservation) {
	h := l.entry(Source{string(record.Spec.Source.Kind), record.Namespace, record.Spec.Source.Name})
	switch ev.Type {
	case cluster.Added:
		h.records = append(h.records[:0], now)
	case cluster.Modified:
		h.records = append(h.records, now)
	case cluster.Deleted: // what KICK knew it knew; the next record is a baseline
	}
}

func (h *history) modified(now time.Time, ev cluster.Event) {
	before, after := lastWrite(ev.Old), lastWrite(ev.Object)
	if sameContent(ev.Old, ev.Object) {
		if after.After(before) {
			h.touches = append(h.touches, now)
		}
		return
	}
	dated := after.After(before) && !lostKey(ev.Old, ev.Object)
	h.changes = append(h.changes, change{at: now, written: ev.At, dated: dated, flagsOnly: sameBytes(ev.Old, ev.Object)})
}

func sameBytes(a, b client.Object) bool { return maps.EqualFunc(payload(a), payload(b), bytes.Equal) }

// sameContent compares what containers can read, and what else counts as content:
// type, immutability, and whether a value stands in data or in binaryData.
func sameContent(a, b client.Object) bool {
	switch a := a.(type) {
	case *corev1.Secret:
		b := b.(*corev1.Secret)
		return a.Type == b.Type && flag(a.Immutable) == flag(b.Immutable) && maps.EqualFunc(a.Data, b.Data, bytes.Equal)
	case *corev1.ConfigMap:
		b := b.(*corev1.ConfigMap)
		return flag(a.Immutable) == flag(b.Immutable) && maps.Equal(a.Data, b.Data) &&
			maps.EqualFunc(a.BinaryData, b.BinaryData, bytes.Equal)
	default:
		return true
	}
}

// payload is data and binaryData of a source as one map.
func payload(object client.Object) map[string][]byte {
	switch o := object.(type) {
	case *corev1.Secret:
		return o.Data
	case *corev1.ConfigMap:
		if len(o.BinaryData) == 0 && len(o.Data) == 0 {
			return nil
		}
		all := make(map[string][]byte, len(o.Data)+len(o.BinaryData))
		for k, v := range o.Data {
			all[k] = []byte(v)
		}
		maps.Copy(all, o.BinaryData)
		return all
	default:
		return nil
	}
}

func lostKey(old, new client.Object) bool {
	now := payload(new)
	for key := range payload(old) {
		if _, ok := now[key]; !ok {
			return true
		}
	}
	return false
}

// contentFields are how managedFields name what counts as content.
var contentFields = [][]byte{
	[]byte(`"f:data"`), []byte(`"f:stringData"`), []byte(`"f:binaryData"`), []byte(`"f:immutable"`), []byte(`"f:type"`),
}

// lastWrite is the newest time among managers that own content, else the
// creation: what anybody could learn from the object alone.
func lastWrite(object client.Object) time.Time {
	newest := object.GetCreationTimestamp().Time
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource != "" || entry.Time == nil || entry.FieldsV1 == nil {
			continue
		}
		for _, field := range contentFields {
			if bytes.Contains(entry.FieldsV1.GetRawBytes(), field) {
				if entry.Time.After(newest) {
					newest = entry.Time.Time
				}
				break
			}
		}
	}
	return newest
}

func flag(b *bool) bool { return b != nil && *b }
