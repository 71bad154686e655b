package notification

import (
	"sync"
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/notify"
)

// tries are how far each policy has come with the one transition it is about to tell. It
// is memory that a crash may lose: what follows is another few tries, or, where one had
// been delivered and not been put on record, the same message with the same key.
type tries struct {
	mu  *sync.Mutex
	all map[model.Key]*try
}

type try struct {
	mark    notify.Mark
	count   int
	last    time.Time
	pause   time.Duration
	settled *notify.Outcome // it is to be put on record; nil: it is to be delivered
}

func newTries() tries { return tries{mu: &sync.Mutex{}, all: map[model.Key]*try{}} }

// of is how far a policy has come with a transition. One key is never worked on twice at
// a time, so that what it returns is the caller's alone.
func (t tries) of(id model.Key, m notify.Mark) *try {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all[id] == nil || t.all[id].mark != m {
		t.all[id] = &try{mark: m}
	}
	return t.all[id]
}

// unrecorded is what a policy has settled and not put on record; nil: nothing.
func (t tries) unrecorded(id model.Key) *try {
	t.mu.Lock()
	defer t.mu.Unlock()
	if held := t.all[id]; held != nil && held.settled != nil {
		return held
	}
	return nil
}

func (t tries) forget(id model.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, id)
}

// wait is how much is left of the pause after the last try; a clock that was set back
// makes it no longer than it was.
func (t *try) wait(now time.Time) time.Duration {
	return min(t.last.Add(t.pause).Sub(now), t.pause)
}

// note takes the outcome of a try and returns the pause until the next; 0: there is
// none, it is settled.
func (t *try) note(o notify.Outcome, now time.Time) time.Duration {
	t.count++
	t.last, t.pause = now, 0
	if !o.Delivered {
		t.pause = notify.Pause(t.count, o)
	}
	if t.pause == 0 {
		t.settled = &o
	}
	return t.pause
}
