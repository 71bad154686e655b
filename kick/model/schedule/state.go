package schedule

import (
	"fmt"
	"strings"
	"time"
)

// State is what a Schedule says of an instant.
type State struct {
	// Open: a restart may run.
	Open bool

	// Until is the first later instant at which Open changes, in UTC. Up to it,
	// Open holds. Zero means that nothing changes within nine years.
	Until time.Time

	// AtLeast: the windows are too tangled to be followed to the next change in
	// reasonable time. Until is as far as they were followed, and Open may go on.
	// Whoever asks again then misses nothing.
	AtLeast bool

	// By is the window that decided. It is nil if none covers the instant: the
	// schedule is then open because it has no Allow windows, or closed because
	// it has.
	By *Match

	unreadable bool
}

// Match is one occurrence of a window.
type Match struct {
	Window
	Index      int       // of the window in the list that was parsed
	Start, End time.Time // the window covers [Start, End), in UTC
}

// layout is how a time is written in sentences.
const layout = "2006-01-02 15:04:05.999999Z07:00"

// String says the state in one line, without a dot.
func (s State) String() string {
	if s.unreadable {
		return "closed: the schedule cannot be read"
	}
	var b strings.Builder
	b.WriteString("closed")
	if s.Open {
		b.Reset()
		b.WriteString("open")
	}
	if s.Until.IsZero() {
		b.WriteString(" for good")
	} else {
		if s.AtLeast {
			b.WriteString(" at least")
		}
		b.WriteString(" until " + s.Until.UTC().Format(layout))
	}
	switch {
	case s.By != nil:
		b.WriteString(" by " + s.By.String())
	case s.Open:
		b.WriteString(", no deny window is active")
	default:
		b.WriteString(", no allow window is active")
	}
	return b.String()
}

// String names the window, such as
// windows[0] (deny "0 22 * * *" Europe/Berlin for 8h0m0s).
func (m Match) String() string {
	kind, zone := "allow", m.TimeZone
	if m.Deny {
		kind = "deny"
	}
	if zone == "" {
		zone = "UTC"
	}
	return fmt.Sprintf("windows[%d] (%s %q %s for %v)", m.Index, kind, m.Cron, zone, m.Duration)
}
