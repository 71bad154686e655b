package check

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

// note is one write of KICK's record of a source.
type note struct {
	at      time.Time
	order   int64     // among all writes
	written time.Time // API server's clock
	knew    time.Time // it tells of no change at or after that instant
	began   time.Time // since when the process that wrote it had watched
	// returned says that it notes a content that was another in between.
	returned bool
}

// send notes what KICK knows when it writes a record.
func (l *sourceLog) send(w Write) {
	if w.Kind != recordKind || w.Done {
		return
	}
	if l.sent == nil {
		l.sent = map[types.NamespacedName]Known{}
	}
	l.sent[w.Key] = w.Known
	if before, waits := l.mounts[w.Key]; !w.Known.Classes.IsZero() && (!waits || w.Known.Classes.Before(before)) {
		if l.mounts == nil {
			l.mounts = map[types.NamespacedName]time.Time{}
		}
		l.mounts[w.Key] = w.Known.Classes
	}
}

// recorded notes that KICK wrote down what it knows of a source. A new record is
// a new baseline.
func (l *sourceLog) recorded(now time.Time, ev cluster.Event, observed *v1alpha1.SourceObservation) {
	source := Source{string(observed.Spec.Source.Kind), observed.Namespace, observed.Spec.Source.Name}
	h, wrote := l.entry(source), note{at: now, order: ev.Revision, written: ev.At, knew: now, returned: returned(observed)}
	if known, sent := l.sent[ev.Key]; sent {
		wrote.began = known.Began
		if k := known.of(source); !k.IsZero() {
			wrote.knew = k
		}
	}
	if source.isClass() {
		l.notedClass(now, ev, h, observed.Spec.KeyID != h.keyID)
	}
	if ev.Type == cluster.Deleted { // what KICK knew it knew; the next record is a baseline
		return
	}
	anew := observed.Spec.KeyID != h.keyID
	if n := len(h.records); anew && n > 0 && ev.Type == cluster.Modified { // sealed anew, it still tells when the newest change was
		wrote.knew = latest(wrote.knew, h.records[n-1].knew)
	}
	if anew || ev.Type == cluster.Added {
		h.records, h.keyID = h.records[:0], observed.Spec.KeyID
	}
	h.records = append(h.records, wrote)
}

// returned reports whether the newest entry of a record is the one before it again.
func returned(r *v1alpha1.SourceObservation) bool {
	n := len(r.Spec.History)
	return n > 1 && sameEntry(&r.Spec.History[n-2], &r.Spec.History[n-1])
}

// sameEntry reports whether two entries are the same change: the content was another
// in between, and nothing is to be done about it.
func sameEntry(a, b *v1alpha1.ObservedContent) bool {
	return a.Fingerprint == b.Fingerprint && a.Observed.Equal(&b.Observed)
}
