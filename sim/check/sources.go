package check

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

// sourceLog is the true history of every source: when its content changed, and
// which of these changes its own metadata can date.
type sourceLog struct {
	bySource map[Source]*history
	sent     map[types.NamespacedName]Known     // what KICK knew when it sent a record
	mounts   map[types.NamespacedName]time.Time // of a class: what it knew at least of those that may be on their way
}

// history is what happened to one source, oldest first.
type history struct {
	changes []change
	touches []touch   // metadata-only writes that moved the time of the content's own manager
	records []note    // what KICK wrote down of this source; the first is its baseline
	labels  time.Time // when its labels changed last
	keyID   string    // that sealed the newest record; another one is a new baseline
	newest  client.Object

	// Of a class alone.
	turns   []turn            // what pods told of it since its record was made
	tellers map[string]teller // by the path that is mounted
}

// touch is one write that altered no content and moved its time all the same.
type touch struct {
	at      time.Time // true time
	written time.Time // API server's clock
	date    time.Time // what the source's metadata says since, which somebody may have made up
}

// change is one write that altered content; creation and deletion count.
type change struct {
	at      time.Time     // true time
	order   int64         // among all writes
	content Content       // since then
	object  client.Object // as it was written; nil: gone
	written time.Time     // API server's clock
	// dated says that the object's metadata proves the time of this change: the
	// newest time of its content's managers moved with it and no key was lost.
	dated bool
	// erased says that who wrote it has given up its fields since, and with them the
	// only note of the time: an apply that leaves them out, for one.
	erased bool
	// ahead says that the date is one that somebody made up: it lies in the future.
	ahead bool
	gone  bool // the source was deleted
	// flagsOnly says that type, immutability or the field that holds a value
	// changed, and no byte of it did.
	flagsOnly bool
}

// timed reports whether the source's metadata shows when the change came.
func (c change) timed() bool { return c.dated && !c.ahead }

func newSourceLog() *sourceLog { return &sourceLog{bySource: map[Source]*history{}} }

// of is the history of a source, never nil.
func (l *sourceLog) of(s Source) *history {
	if h := l.bySource[s]; h != nil {
		return h
	}
	return &history{}
}

// was reports whether there was any content but the given one in [from, now], or up
// to from.
func (h *history) was(other Content, from time.Time) bool {
	for _, c := range slices.Backward(h.changes) {
		if c.content.Exists && c.content != other {
			return true
		}
		if c.at.Before(from) {
			return false
		}
	}
	return false
}

// at is the content that stood at an instant.
func (h *history) at(instant time.Time) Content {
	for _, c := range slices.Backward(h.changes) {
		if !c.at.After(instant) {
			return c.content
		}
	}
	return Content{}
}

// around are the changes that decide what a container that started at an instant reads
// and has to read: the last one before it, and the newest.
func (h *history) around(started time.Time) []change {
	var out []change
	for i, c := range slices.Backward(h.changes) {
		if i == len(h.changes)-1 || !c.at.After(started) {
			out = append(out, c)
		}
		if !c.at.After(started) {
			break
		}
	}
	return out
}

// seen counts the records of one who had seen those up to an instant; zero: all.
func (h *history) seen(until time.Time) int {
	n := len(h.records)
	for n > 0 && !until.IsZero() && !h.records[n-1].at.Before(until) {
		n--
	}
	return n
}

// told is the instant up to which one knows of changes who had seen KICK's records up
// to another one; false: not a single record.
func (h *history) told(seen time.Time) (time.Time, bool) {
	if n := h.seen(seen); n > 0 {
		return h.records[n-1].knew, true
	}
	return time.Time{}, false
}

// origin is the change that made the content what it is now. For one who requires
// the source its absence is no content: a return to what stood before is no change.
func (h *history) origin(required bool) (origin change, found bool) {
	return h.originBefore(math.MaxInt64, required)
}

// originBefore is the origin of the content that stood before a write.
func (h *history) originBefore(order int64, required bool) (origin change, found bool) {
	for _, c := range slices.Backward(h.changes) {
		if required && c.gone || c.order >= order {
			continue
		}
		if found && c.content != origin.content {
			break
		}
		origin, found = c, true
	}
	return origin, found
}

// firstRecord is what KICK wrote down first of the source since it last came to be;
// false: nothing yet.
func (h *history) firstRecord() (note, bool) {
	var came time.Time
	for i, c := range h.changes {
		if !c.gone && (i == 0 || h.changes[i-1].gone) {
			came = c.at
		}
	}
	return h.recordSince(came)
}

// recordSince is the first record since an instant; false: there is none.
func (h *history) recordSince(at time.Time) (note, bool) {
	for _, r := range h.records {
		if !r.at.Before(at) {
			return r, true
		}
	}
	return note{}, false
}

// recordedIn reports whether KICK wrote its record in [from, to).
func (h *history) recordedIn(from, to time.Time) bool {
	for _, r := range h.records {
		if !r.at.Before(from) && r.at.Before(to) {
			return true
		}
	}
	return false
}

// createdBy reports whether a change created the source.
func (h *history) createdBy(c change) bool {
	i := slices.IndexFunc(h.changes, func(other change) bool { return other.order == c.order })
	return i == 0 || i > 0 && h.changes[i-1].gone
}

// missed reports whether the process that first noted a change did not watch yet when it came.
func (h *history) missed(c change) bool {
	i := slices.IndexFunc(h.records, func(n note) bool { return n.knew.After(c.at) })
	return i >= 0 && h.records[i].began.After(c.at)
}

// labelsMissed reports that nobody can know the labels that a source had before it went:
// it got them and went while KICK was away.
func (h *history) labelsMissed() bool {
	last, ok := h.last()
	return ok && last.gone && h.missed(change{at: h.labels})
}

// last is the newest change, false where the source never existed.
func (h *history) last() (change, bool) {
	if len(h.changes) == 0 {
		return change{}, false
	}
	return h.changes[len(h.changes)-1], true
}

func (l *sourceLog) record(c *Context, ev cluster.Event) {
	now := c.Loop.Now()
	if observed, ok := ev.Object.(*v1alpha1.SourceObservation); ok {
		l.recorded(now, ev, observed)
		return
	}
	source, ok := sourceOf(ev.Object)
	if !ok {
		l.recordMounted(now, ev)
		return
	}
	h := l.entry(source)
	before := len(h.changes)
	h.take(now, ev)
	if len(h.changes) > before {
		h.changes[before].content = c.Truth.Current(source)
	}
	h.newest = ev.Object
}

// take notes what a write did to the source.
func (h *history) take(now time.Time, ev cluster.Event) {
	if ev.Type == cluster.Added || h.newest == nil || !maps.Equal(h.newest.GetLabels(), ev.Object.GetLabels()) {
		h.labels = now
	}
	switch ev.Type {
	case cluster.Added:
		// A source that comes back without a key it had is a change its new
		// creation time does not prove to anybody who remembers the key.
		dated := h.newest == nil || !lostKey(h.newest, ev.Object)
		flags := h.newest != nil && !sameContent(h.newest, ev.Object) && sameBytes(h.newest, ev.Object)
		h.changes = append(h.changes, change{at: now, order: ev.Revision, object: ev.Object, written: ev.At, dated: dated, ahead: lastWrite(ev.Object).After(ev.At), flagsOnly: flags})
	case cluster.Deleted:
		h.changes = append(h.changes, change{at: now, order: ev.Revision, written: ev.At, gone: true})
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

func (h *history) modified(now time.Time, ev cluster.Event) {
	before, after := lastWrite(ev.Old), lastWrite(ev.Object)
	if sameContent(ev.Old, ev.Object) {
		switch {
		case after.After(before):
			h.touches = append(h.touches, touch{now, ev.At, after})
		case after.Before(before):
			h.erase(after)
		}
		return
	}
	dated := after.After(before) && !lostKey(ev.Old, ev.Object)
	h.changes = append(h.changes, change{at: now, order: ev.Revision, object: ev.Object, written: ev.At, dated: dated, ahead: after.After(ev.At), flagsOnly: sameBytes(ev.Old, ev.Object)})
}

// erase notes that the source's metadata dates no change later than an instant any
// more. Forks share what is below their length, so the list is copied.
func (h *history) erase(after time.Time) {
	h.changes = slices.Clone(h.changes)
	for i := range h.changes {
		if h.changes[i].written.Truncate(time.Second).After(after) {
			h.changes[i].erased = true
		}
	}
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
