package syncwindow

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// State is what the windows say of an application at an instant.
type State struct {
	// Open: an automated sync may run, and so may a restart.
	Open bool

	// Until is the next instant at which Open changes, exact to the nanosecond; up to
	// it Open holds, but for single instants. Zero: only an edit changes it.
	Until time.Time

	// AtLeast: the windows were followed up to Until and not further. Open may go on.
	AtLeast bool

	// By names the windows that decided; empty if none matches.
	By []string

	// Invalid says why a window that matches cannot be read, which closes all.
	Invalid string
}

// String says the state in one line, without a dot.
func (s State) String() string {
	if s.Invalid != "" {
		return "closed: " + s.Invalid
	}
	var b strings.Builder
	b.WriteString("closed")
	if s.Open {
		b.Reset()
		b.WriteString("open")
	}
	if !s.Until.IsZero() {
		if s.AtLeast {
			b.WriteString(" at least")
		}
		b.WriteString(" until " + s.Until.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano))
	}
	if len(s.By) > 0 {
		fmt.Fprintf(&b, " by %s", strings.Join(s.By, ", "))
	}
	return b.String()
}

// verdict is Argo CD's answer for an automated sync at an instant, and the windows
// that gave it.
func verdict(windows []window, t time.Time) (open bool, by []*window) {
	var denies, allows, inactive []*window
	for i := range windows {
		switch w := &windows[i]; {
		case w.Kind != deny && w.Kind != allow:
		case w.active(t) && w.Kind == deny:
			denies = append(denies, w)
		case w.active(t):
			allows = append(allows, w)
		case w.Kind == allow:
			inactive = append(inactive, w)
		}
	}
	switch {
	case len(denies) > 0:
		return false, denies
	case len(allows) > 0:
		return true, allows
	case len(inactive) > 0:
		return false, inactive
	}
	return true, nil
}

// At tells what the windows say of a target at an instant.
func At(windows []Window, target Target, now time.Time) State {
	var matching []window
	for i := range windows {
		if !windows[i].matches(target) {
			continue
		}
		parsed, err := parse(&windows[i], now)
		if err != nil {
			return State{Invalid: err.Error()}
		}
		matching = append(matching, parsed)
	}
	s := State{}
	var by []*window
	s.Open, by = verdict(matching, now)
	for _, w := range by {
		s.By = append(s.By, w.describe(now))
	}
	matching = slices.DeleteFunc(matching, func(w window) bool { return w.Kind != allow && w.Kind != deny })
	s.Until, s.AtLeast = change(matching, now, s.Open)
	return s
}

// describe names a window and what is odd about it at an instant.
func (w *window) describe(t time.Time) string {
	switch {
	case w.never:
		return w.String() + ", which never starts and so counts as always active"
	case w.active(t):
		return w.String() + ", which is active"
	case w.duration <= 0:
		return w.String() + ", which is never active"
	}
	return w.String() + ", which is not active"
}
