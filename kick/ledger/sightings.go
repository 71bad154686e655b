package ledger

import (
	"sync"
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/fingerprint"
	"github.com/corewire/kick/kick/model/observation"
)

// Sightings is what this process saw with its own eyes of changes on their way
// into the ledger. Losing it in a crash makes KICK date a change more cautiously
// and list pods it could have done without; it never loses a change.
type Sightings struct {
	mu    sync.Mutex
	first map[model.Key]*observation.Sighting
	live  map[model.Key]time.Time
}

// NewSightings returns an empty memory.
func NewSightings() *Sightings {
	return &Sightings{first: map[model.Key]*observation.Sighting{}, live: map[model.Key]time.Time{}}
}

// Saw notes that the watch showed a source change its content.
func (s *Sightings) Saw(source model.Key, from fingerprint.Digest, lastWrite, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[source] = now
	if s.first[source] == nil {
		s.first[source] = &observation.Sighting{From: from, LastWrite: lastWrite}
	}
}

// First is the first change seen since the source was last recorded; nil: none.
func (s *Sightings) First(source model.Key) *observation.Sighting {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first[source]
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

// Gone forgets everything about a source that nothing refers to any more.
func (s *Sightings) Gone(source model.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.first, source)
	delete(s.live, source)
}
