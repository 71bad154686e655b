package ledger

import (
	"sync"
	"time"

	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/fingerprint"
	"github.com/corewire/kick/kick/model/observation"
)

// Sightings is what this process saw with its own eyes of changes on their way
// into the ledger. Losing it in a crash makes KICK date a change more cautiously
// and list pods it could have done without; it never loses a change, because the
// lease tells the next process until when all that was seen is on record.
type Sightings struct {
	lastAlive time.Time
	mu        sync.Mutex
	breaks    map[string]interruption // the newest, by kind of source
	shown     map[model.Key]int       // the interruption after which a source was shown last
	look      map[model.Key]time.Time
	open      map[model.Key]news // since the last record
	late      map[model.Key]news // since a pass asked what was seen
	live      map[model.Key]time.Time
	inherited time.Time // what the lease said before this process took it
}

// news is what was seen of a source and is not on record yet.
type news struct {
	since    time.Time             // no later than it began; API server's clock
	sighting *observation.Sighting // the first change that the watch showed; nil: none
}

// Change is a state of a source that the watch showed, after another one.
type Change struct {
	From, To          fingerprint.Digest // zero: absent
	Before, LastWrite time.Time          // lambda of the two
	Now               time.Time          // KICK's clock
	ServerNow         time.Time          // API server's clock
}

// interruption is a time in which the watch of a kind showed nothing and a list then
// showed what had become of it; the API server's clock.
type interruption struct {
	number      int // from 1
	heard, over time.Time
}

// NewSightings returns an empty memory. lastAlive is until when processes before
// this one had on record what they saw, as the lease says; zero: unknown.
func NewSightings(lastAlive time.Time) *Sightings {
	if !lastAlive.IsZero() {
		mark.Hit(mark.TakenOver)
	}
	return &Sightings{
		lastAlive: lastAlive, breaks: map[string]interruption{}, shown: map[model.Key]int{}, look: map[model.Key]time.Time{},
		open: map[model.Key]news{}, late: map[model.Key]news{}, live: map[model.Key]time.Time{},
	}
}

// Met notes a source that appeared in the cache, as it was at this process's first
// look; now is the API server's clock. Where the list that fills the cache first has
// shown it, anything may have become of it since a process before this one was alive.
// If nobody knows when that was, no gap is assumed (docs/decisions/0008), and what
// this process has to find begins with its look.
func (s *Sightings) Met(source model.Key, lastWrite, now time.Time, listed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.look[source]; !known {
		s.look[source] = lastWrite
	}
	since := earlier(lastWrite, now)
	if listed {
		if since = s.lastAlive; since.IsZero() {
			since = now
		}
	}
	s.note(source, news{since: since})
}

// Saw notes that the watch showed a source change its content. It reports whether
// that is worth a look: the same content is, where a list may have hidden another one
// in between.
func (s *Sightings) Saw(source model.Key, c Change) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.breaks[source.Kind]
	hidden := s.shown[source] < b.number && !c.LastWrite.After(b.over)
	s.shown[source] = b.number
	if c.From == c.To && !hidden {
		return false
	}
	if c.From != c.To {
		s.happened(source, c)
	}
	since, ended := c.ServerNow, c.LastWrite
	if c.LastWrite.After(c.Before) { // else it says nothing of the change
		since = earlier(since, c.LastWrite)
	}
	if hidden { // it may have been another one any time since
		since, ended = earlier(since, b.heard), earlier(ended, b.heard)
	}
	s.note(source, news{since: since, sighting: &observation.Sighting{From: c.From, LastWrite: ended, Seen: since, Gone: c.To == fingerprint.Digest{}}})
	return true
}

// happened notes when a change was made, by KICK's clock: a watch may show it late. A
// change without a date may have been made at any time.
func (s *Sightings) happened(source model.Key, c Change) {
	if !c.LastWrite.After(c.Before) {
		delete(s.live, source)
		return
	}
	s.live[source] = c.Now.Add(-max(c.ServerNow.Sub(c.LastWrite), 0))
}

// note keeps the oldest of what was seen.
func (s *Sightings) note(source model.Key, n news) {
	for _, of := range []map[model.Key]news{s.open, s.late} {
		have, seen := of[source]
		if !seen {
			of[source] = n
			continue
		}
		have.since = earlier(have.since, n.since)
		if have.sighting == nil {
			have.sighting = n.sighting
		}
		of[source] = have
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Inherited notes until when all that another leader saw is on record, as the lease
// says that this process may take next. A standby has seen the same and does not know
// what became of it.
func (s *Sightings) Inherited(until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inherited = until
}

// RecordedUntil is until when all that was seen of any source is on record; now and
// the answer are the API server's clock. It is what a leader has to say of itself when
// it renews the lease: should it die, nobody has watched since then.
func (s *Sightings) RecordedUntil(now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	until := now
	for _, n := range s.open {
		until = earlier(until, n.since)
	}
	return model.Later(until, s.inherited)
}

// Watched is what is known of a source since it was last recorded. A pass asks for it
// before it reads the source, so that what it records is no older.
func (s *Sightings) Watched(source model.Key) observation.Watched {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.late, source)
	return observation.Watched{First: s.open[source].sighting, FirstLook: s.look[source], LastAlive: s.lastAlive}
}

// Live is when the last change that this process saw was made, by KICK's clock and at
// the earliest; zero: it saw none, or no date tells.
func (s *Sightings) Live(source model.Key) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[source]
}

// Recorded forgets what led up to a record; the next change is a new story, and has
// begun if it was seen while the record was written.
func (s *Sightings) Recorded(source model.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if late, seen := s.late[source]; seen {
		s.open[source] = late
	} else {
		delete(s.open, source)
	}
}

// Gone forgets a source that nothing refers to.
func (s *Sightings) Gone(source model.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, source)
	delete(s.late, source)
	delete(s.live, source)
	delete(s.look, source)
	delete(s.shown, source)
}

// Interrupted notes that the watch of a kind broke after it was heard of last, and
// that a list had filled it anew by over; both by the API server's clock. A list shows
// a source as it is and hides what it was meanwhile, so the first that is seen of it
// proves only that its content stood until the break.
func (s *Sightings) Interrupted(kind string, heard, over time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.breaks[kind] = interruption{number: s.breaks[kind].number + 1, heard: heard, over: over}
	mark.Hit(mark.WatchInterrupted)
}
