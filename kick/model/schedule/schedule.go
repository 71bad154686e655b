package schedule

import "time"

// Schedule is a parsed list of windows. It is immutable and safe for concurrent
// use. The zero Schedule has no windows and is always open.
type Schedule struct {
	deny, allow []window
	unreadable  bool
}

const (
	// horizon is how far At looks ahead. The rarest start, on 29 February, comes
	// every eight years at the worst (1896, 1904; 2096, 2104).
	horizon = 9 * 366 * 24 * time.Hour

	// stepsMax bounds the work of At. Only windows made to be nasty need as many:
	// say, Allow windows of 20s that begin each minute inside Deny windows of 30s.
	stepsMax = 25_000
)

// At tells the state at an instant.
func (s Schedule) At(now time.Time) State {
	if s.unreadable {
		return State{unreadable: true}
	}
	search := s.search(now)
	state := search.state(now)
	state.By = search.decider(now)
	return state
}

// search is one walk along the time line.
type search struct {
	deny, allow []cursor
	limit       time.Time
	steps       int
}

func (s Schedule) search(now time.Time) *search {
	cursors := make([]cursor, len(s.deny)+len(s.allow))
	for i := range s.deny {
		cursors[i].window = &s.deny[i]
	}
	for i := range s.allow {
		cursors[len(s.deny)+i].window = &s.allow[i]
	}
	return &search{
		deny: cursors[:len(s.deny)], allow: cursors[len(s.deny):],
		limit: now.Add(horizon), steps: stepsMax + 4*len(cursors),
	}
}

func (s *search) state(now time.Time) State {
	var state State
	if s.covers(s.deny, now) || !s.allowed(now) {
		state.Until, state.AtLeast = s.opening(now)
	} else {
		state.Open = true
		state.Until, state.AtLeast = s.closing(now)
	}
	if !state.Until.Before(s.limit) {
		state.Until, state.AtLeast = time.Time{}, false // never
	}
	return state
}

// closing is the first instant after now, where the schedule is open, at which the
// Allow windows end, if there are any, or a Deny window starts.
func (s *search) closing(now time.Time) (at time.Time, atLeast bool) {
	at = s.limit
	if len(s.allow) > 0 {
		at, _ = s.covered(s.allow, now)
		atLeast = s.steps <= 0
	}
	if start, ok := s.nextStart(s.deny, now, at); ok {
		return start, false
	}
	return at, atLeast
}

// opening is the first instant from t on, where the schedule is closed, that no
// Deny window covers and that an Allow window covers, if there are any. Every
// round ends one reason to be closed, so t only moves to where the answer may
// change.
func (s *search) opening(t time.Time) (at time.Time, atLeast bool) {
	for t.Before(s.limit) {
		if s.steps <= 0 {
			return t, true
		}
		if end, denied := s.covered(s.deny, t); denied {
			t = end
			continue
		}
		if s.allowed(t) {
			return t, false
		}
		t, _ = s.nextStart(s.allow, t, s.limit)
	}
	return t, false
}

func (s *search) allowed(t time.Time) bool {
	return len(s.allow) == 0 || s.covers(s.allow, t)
}

// covers reports whether a window of a group covers t.
func (s *search) covers(group []cursor, t time.Time) bool {
	for i := range group {
		s.steps--
		if _, ok := group[i].covering(t); ok {
			return true
		}
	}
	return false
}

// covered reports whether windows of a group cover t, and until when they go on
// doing so without a hole. If steps run out it tells an earlier end, up to which
// that is true.
func (s *search) covered(group []cursor, t time.Time) (end time.Time, ok bool) {
	end = t
	for grown := true; grown && s.steps > 0 && end.Before(s.limit); {
		grown = false
		for i := range group {
			s.steps--
			c := &group[i]
			start, covers := c.covering(end)
			if !covers {
				continue
			}
			if further := c.end(c.leap(start)); further.After(end) {
				end, grown = further, true
			}
		}
	}
	return end, end.After(t)
}

// nextStart is the first start of a group after t and before limit; without one,
// it is no earlier than limit.
func (s *search) nextStart(group []cursor, t, limit time.Time) (time.Time, bool) {
	found, until := false, limit.Unix()
	if limit.Nanosecond() > 0 {
		until++ // starts are whole seconds
	}
	for i := range group {
		s.steps--
		if start, ok := group[i].next(t.Unix()+1, until); ok {
			found, until = true, start
		}
	}
	return time.Unix(until, 0).UTC(), found
}

// decider is the window that makes the state what it is: among the Deny windows
// that cover t, or else the Allow windows, the one that ends last.
func (s *search) decider(t time.Time) *Match {
	for _, group := range [][]cursor{s.deny, s.allow} {
		var last *Match
		for i := range group {
			c := &group[i]
			start, ok := c.covering(t)
			if end := c.end(start); ok && (last == nil || end.After(last.End)) {
				last = &Match{Index: c.index, Window: c.Window, Start: time.Unix(start, 0).UTC(), End: end}
			}
		}
		if last != nil {
			return last
		}
	}
	return nil
}
