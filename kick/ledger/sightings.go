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
// lease tells the next process since when nobody watched.
type Sightings struct {
	lastAlive time.Time
	mu        sync.Mutex
	breaks    map[string]interruption // the newest, by kind of source
	shown     map[model.Key]int       // the interruption after which a source was shown last
	look      map[model.Key]time.Time
	first     map[model.Key]*observation.Sighting // since the last record
	since     map[model.Key]*observation.Sighting // since a pass asked what was seen
	live      map[model.Key]time.Time
}

// interruption is a time in which the watch of a kind showed nothing and a list then
// showed what had become of it; the API server's clock.
type interruption struct {
	number      int // from 1
	heard, over time.Time
}

// NewSightings returns an empty memory. lastAlive is when a process before this
// one last renewed the lease; zero: unknown.
func NewSightings(lastAlive time.Time) *Sightings {
	if !lastAlive.IsZero() {
		mark.Hit(mark.TakenOver)
	}
	return &Sightings{
		lastAlive: lastAlive, breaks: map[string]interruption{}, shown: map[model.Key]int{}, look: map[model.Key]time.Time{},
		first: map[model.Key]*observation.Sighting{}, since: map[model.Key]*observation.Sighting{}, live: map[model.Key]time.Time{},
	}
}

// Met notes a source that appeared in the cache, as it was at this process's first
// look.
func (s *Sightings) Met(source model.Key, lastWrite time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.look[source]; !known {
		s.look[source] = lastWrite
	}
}

// Saw notes that the watch showed a source change its content. It reports whether
// that is worth a look: the same content is, where a list may have hidden another one
// in between.
func (s *Sightings) Saw(source model.Key, from, to fingerprint.Digest, lastWrite, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.breaks[source.Kind]
	hidden := s.shown[source] < b.number && !lastWrite.After(b.over)
	s.shown[source] = b.number
	if from == to && !hidden {
		return false
	}
	if from != to {
		s.live[source] = now
	}
	if hidden && b.heard.Before(lastWrite) { // it may have been another one any time since
		lastWrite = b.heard
	}
	seen := &observation.Sighting{From: from, LastWrite: lastWrite}
	if s.first[source] == nil {
		s.first[source] = seen
	}
	if s.since[source] == nil {
		s.since[source] = seen
	}
	return true
}

// Watched is what is known of a source since it was last recorded. A pass asks for it
// before it reads the source, so that what it records is no older.
func (s *Sightings) Watched(source model.Key) observation.Watched {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.since, source)
	return observation.Watched{First: s.first[source], FirstLook: s.look[source], LastAlive: s.lastAlive}
}

// Live is when the last change was seen; zero: never by this process.
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
	if s.first[source] = s.since[source]; s.first[source] == nil {
		delete(s.first, source)
	}
}

// Gone forgets a source that nothing refers to.
func (s *Sightings) Gone(source model.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.first, source)
	delete(s.since, source)
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
