package syncwindow

import "time"

const (
	// horizon is how far ahead the next change is looked for: more than a year, so
	// that a yearly window is found.
	horizon = 370 * 24 * time.Hour

	// stride is the longest step in a zone whose clock may be changed: offsets are
	// compared at both ends of a step, and no zone changes twice within one.
	stride = 24 * time.Hour

	// stepsMax bounds the work. Windows of every day are followed for months, windows of a
	// minute for hours.
	stepsMax = 400
)

// change is the first instant after t at which the verdict is no longer open, or as
// far as the windows were followed.
func change(windows []window, t time.Time, open bool) (at time.Time, atLeast bool) {
	if len(windows) == 0 {
		return time.Time{}, false
	}
	limit := t.Add(horizon)
	steps := stepsMax
	for t.Before(limit) && steps > 0 {
		next := limit
		for i := range windows {
			if c := windows[i].next(t, next, &steps); c.Before(next) {
				next = c
			}
		}
		t = next
		if holds(windows, t, !open) {
			return t, false
		}
	}
	return t, true
}

// holds reports whether the verdict is open at t and for more than that instant.
func holds(windows []window, t time.Time, open bool) bool {
	at, _ := verdict(windows, t)
	behind, _ := verdict(windows, t.Add(time.Nanosecond))
	return at == open && behind == open
}

// next is an instant in (t, limit] up to which the window stays as it is at t, as far
// as one step tells. It takes one off steps for each start it looks at.
func (w *window) next(t, limit time.Time, steps *int) time.Time {
	if w.zone != time.UTC && limit.Sub(t) > stride {
		limit = t.Add(stride)
	}
	limit = w.sameOffset(t, limit)
	var at time.Time
	if w.active(t) {
		at = w.end(t, limit, steps)
	} else {
		at = w.start(t, limit, steps)
	}
	if !at.After(t) || at.After(limit) {
		return limit
	}
	return at
}

// sameOffset is limit, or the earlier instant in (t, limit] at which the zone's clock
// is changed.
func (w *window) sameOffset(t, limit time.Time) time.Time {
	offset := w.offset(t)
	if w.offset(limit) == offset {
		return limit
	}
	// Transitions happen at whole seconds.
	low, high := t.Unix(), limit.Unix()
	for high-low > 1 {
		middle := low + (high-low)/2
		if w.offset(time.Unix(middle, 0)) == offset {
			low = middle
		} else {
			high = middle
		}
	}
	return time.Unix(high, 0).UTC()
}

// end is when the window ends that is active at t: a start inside an occurrence
// prolongs it.
func (w *window) end(t, limit time.Time, steps *int) time.Time {
	*steps--
	if w.never {
		return limit
	}
	shown := w.shown(t)
	start := w.starts.Next(shown.Add(-w.duration))
	end := start.Add(w.duration)
	for last := shown.Add(limit.Sub(t)); end.Before(last) && *steps > 0; *steps-- {
		if start = w.starts.Next(start); start.IsZero() || !start.Before(end) {
			break
		}
		end = start.Add(w.duration)
	}
	return t.Add(end.Sub(shown))
}

// start is the first instant after t at which the window is active, given that it is
// not at t: a nanosecond after its start.
func (w *window) start(t, limit time.Time, steps *int) time.Time {
	*steps--
	if w.duration <= 0 {
		return limit
	}
	shown := w.shown(t)
	start := w.starts.Next(shown.Add(-time.Second))
	if start.Before(shown) { // the second has begun, and what started with it is over
		start = w.starts.Next(shown)
	}
	if start.IsZero() {
		return limit
	}
	return t.Add(start.Sub(shown) + time.Nanosecond)
}
