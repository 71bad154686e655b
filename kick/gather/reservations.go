package gather

import (
	"sync"
	"time"

	"github.com/corewire/kick/kick/model"
)

// reservations are the restarts that this process is about to make, or made and has not
// seen in its cache yet. Two passes that judge at the same time see each other by them.
// What a crash loses of them, the stamps in the cluster tell.
type reservations struct {
	mu     sync.Mutex
	all    map[model.Key]reservation
	turn   uint64
	seeded bool // what an earlier process left is among them
}

type reservation struct {
	turn       uint64 // in the order in which they were made
	generation int64  // of the workload once it carries the stamp
	uid        string
	until      time.Time // when to give it up at the latest; zero: never
	made       bool      // the restart was made
	before     *reservation
}

// sent reports whether the restart was made, or may have been.
func (what reservation) sent() bool { return what.made || !what.until.IsZero() }

// make reserves a restart, or takes it up anew; it counts against all that are made later.
// One that was sent and that the caller's cache does not show yet stands behind the new
// one: what comes of that says nothing of it.
func (r *reservations) make(w *model.Workload) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn++
	next := reservation{turn: r.turn, generation: w.Generation + 1, uid: w.UID}
	if was, held := r.all[w.ID]; held && was.sent() {
		was.before = nil
		next.before = &was
	}
	r.put(w.ID, next)
	return r.turn
}

// put needs the lock.
func (r *reservations) put(k model.Key, what reservation) {
	if r.all == nil {
		r.all = map[model.Key]reservation{}
	}
	r.all[k] = what
}

// change rewrites a reservation, if there is one.
func (r *reservations) change(k model.Key, to func(*reservation)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if what, held := r.all[k]; held {
		to(&what)
		r.all[k] = what
	}
}

// seed takes up, once, the restarts that an earlier process made. One that is tried once
// more just now stands behind that.
func (r *reservations) seed(left map[model.Key]reservation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seeded {
		return
	}
	for id, what := range left {
		now, held := r.all[id]
		switch {
		case !held:
			r.put(id, what)
		case !now.sent():
			now.before = &what
			r.put(id, now)
		}
	}
	r.seeded = true
}

// drop gives the newest reservation of a workload back; one that stands behind it is left.
func (r *reservations) drop(k model.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if was := r.all[k].before; was != nil {
		r.all[k] = *was
		return
	}
	delete(r.all, k)
}

// end takes away a reservation that is over. A newer one of the same workload, which it
// stood behind, is left: that restart is still to be made.
func (r *reservations) end(k model.Key, over reservation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch now := r.all[k]; {
	case now.turn == over.turn:
		delete(r.all, k)
	case now.before != nil && now.before.turn == over.turn:
		now.before = nil
		r.all[k] = now
	}
}

// before lists the reservations that were made before a turn; 0: all of them.
func (r *reservations) before(turn uint64) map[model.Key]reservation {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[model.Key]reservation, len(r.all))
	for k, what := range r.all {
		switch {
		case turn == 0 || what.turn < turn:
			out[k] = what
		case what.before != nil && what.before.turn < turn:
			out[k] = *what.before
		}
	}
	return out
}

// over reports whether a reservation has done its duty: the cache shows the stamp, or
// whatever took its place, or the workload is gone.
func (what reservation) over(w *model.Workload, now time.Time) bool {
	return w == nil || w.UID != what.uid || w.Generation >= what.generation || !what.until.IsZero() && !now.Before(what.until)
}
