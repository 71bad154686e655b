package bundle

import (
	"sync"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/bundle"
)

// said remembers what each bundle's status should be in the judgement of this process, so
// that it does not look again because of what it wrote itself. A crash may lose it: what
// follows is one more look.
type said struct {
	mu   sync.Mutex
	last map[model.Key]bundle.Status
}

func newSaid() *said { return &said{last: map[model.Key]bundle.Status{}} }

func (s *said) note(id model.Key, st bundle.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[id] = st
}

// is reports whether a status is the one that was judged right last.
func (s *said) is(id model.Key, st bundle.Status) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, known := s.last[id]
	return known && last == st
}

func (s *said) forget(id model.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, id)
}
