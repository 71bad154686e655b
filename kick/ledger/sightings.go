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
	broken    time.Time
	look      map[model.Key]time.Time
	first     map[model.Key]*observation.Sighting
	live      map[model.Key]time.Time
}

// NewSightings returns an empty memory. lastAlive is when a process before this
// one last renewed the lease; zero: unknown.
func NewSightings(lastAlive time.Time) *Sightings {
	if !lastAlive.IsZero() {
		mark.Hit(mark.TakenOver)
	}
	return &Sightings{
		lastAlive: lastAlive, look: map[model.Key]time.Time{},
		first: map[model.Key]*observation.Sighting{}, live: map[model.Key]time.Time{},
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

// Saw notes that the watch showed a source change its content.
func (s *Sightings) Saw(source model.Key, from fingerprint.Digest, lastWrite, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[source].Before(s.broken) && s.broken.Before(lastWrite) {
		lastWrite = s.broken
	}
	s.live[source] = now
	if s.first[source] == nil {
		s.first[source] = &observation.Sighting{From: from, LastWrite: lastWrite}
	}
}

// Watched is what is known of a source since it was last recorded.
func (s *Sightings) Watched(source model.Key) observation.Watched {
	s.mu.Lock()
	defer s.mu.Unlock()
	return observation.Watched{First: s.first[source], FirstLook: s.look[source], LastAlive: s.lastAlive}
}

// Live is when the last change was seen; zero: never by this process.
func (s *Sightings) Live(source model.Key) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[source]
}

// Recorded forgets what led up to a record; the next change is a new story.
func (s *Sightings) Recorded(source model.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.first, source)
}

// Gone forgets a source that nothing refers to.
func (s *Sightings) Gone(source model.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.first, source)
	delete(s.live, source)
	delete(s.look, source)
}

// Interrupted notes that a watch broke. What it shows next may have skipped states,
// so the first change of each source after that proves only that its content stood
// until the break.
func (s *Sightings) Interrupted(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = now
	mark.Hit(mark.WatchInterrupted)
}
