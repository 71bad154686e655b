package syncwindow

import (
	"fmt"
	"time"
	_ "time/tzdata" // an image without zone data must answer like any other

	"github.com/robfig/cron/v3"
)

// Window is one entry of spec.syncWindows as it is written there.
type Window struct {
	// Where names the entry in messages: "AppProject argocd/shop: spec.syncWindows[1]".
	Where string

	Kind     string // allow or deny; any other value has no effect
	Schedule string // cron of five fields
	Duration string // as time.ParseDuration reads it
	TimeZone string // IANA name; empty or unknown is UTC

	Applications []string // globs on the application's name
	Clusters     []string // globs on the destination's name, and on its server
	Namespaces   []string // globs on the destination's namespace
	And          bool     // andOperator: all lists that are set must match
}

// The kinds that have an effect.
const (
	allow = "allow"
	deny  = "deny"
)

// String names the window, such as
// AppProject argocd/shop: spec.syncWindows[0] (deny "0 22 * * *" Europe/Berlin for 8h).
func (w *Window) String() string {
	zone := w.TimeZone
	if zone == "" {
		zone = "UTC"
	}
	return fmt.Sprintf("%s (%s %q %s for %s)", w.Where, w.Kind, w.Schedule, zone, w.Duration)
}

// window is a Window that can be evaluated.
type window struct {
	*Window
	starts   cron.Schedule
	duration time.Duration
	zone     *time.Location
	never    bool // it never starts, which counts as active for ever
}

var fields = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// parse reads a window as it stands at an instant. Its error names the field and
// quotes it.
func parse(w *Window, now time.Time) (parsed window, err error) {
	parsed = window{Window: w, zone: zone(w.TimeZone)}
	if err = w.unreadable(); err != nil {
		return parsed, err
	}
	if parsed.starts, err = starts(w.Schedule); err != nil {
		return parsed, fmt.Errorf("%s.schedule %q: %w", w.Where, w.Schedule, err)
	}
	if parsed.duration, err = time.ParseDuration(w.Duration); err != nil {
		return parsed, fmt.Errorf("%s.duration %q: want a Go duration such as 1h30m", w.Where, w.Duration)
	}
	parsed.never = empty(parsed.starts) || parsed.starts.Next(parsed.shown(now).Add(-parsed.duration)).IsZero()
	return parsed, nil
}

// empty reports a schedule such as ", * * * *": the parser lets it pass, and would look
// through each minute of five years for a start.
func empty(s cron.Schedule) bool {
	spec, ok := s.(*cron.SpecSchedule)
	return ok && (spec.Minute == 0 || spec.Hour == 0 || spec.Month == 0)
}

// starts reads a schedule. The parser panics at a zone with nothing behind it.
func starts(schedule string) (s cron.Schedule, err error) {
	defer func() {
		if recover() != nil {
			s, err = nil, fmt.Errorf("a time zone with no schedule behind it")
		}
	}()
	return fields.Parse(schedule)
}

// zone is the location of that name; UTC if there is none. "Local" would be the zone
// of whatever machine runs Argo CD, whose image knows UTC only.
func zone(name string) *time.Location {
	loaded, err := time.LoadLocation(name)
	if err != nil || loaded == time.Local {
		return time.UTC
	}
	return loaded
}

// shown is what a clock on the zone's wall shows at t, as a time of UTC.
func (w *window) shown(t time.Time) time.Time {
	return t.UTC().Add(w.offset(t))
}

func (w *window) offset(t time.Time) time.Duration {
	_, seconds := t.In(w.zone).Zone()
	return time.Duration(seconds) * time.Second
}

// active reports whether t lies strictly inside an occurrence. A schedule that never
// starts has a next time in the year 1, which lies before every t; it is not looked for
// again and again, because each time takes long.
func (w *window) active(t time.Time) bool {
	if w.never {
		return true
	}
	shown := w.shown(t)
	return w.starts.Next(shown.Add(-w.duration)).Before(shown)
}
