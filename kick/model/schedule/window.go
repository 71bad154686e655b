package schedule

import (
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	_ "time/tzdata" // an image without zone data must answer like any other
)

// DurationMax is the longest duration of a window: a year, leap years included.
// A longer one could only mean "always", which takes no cron to say.
const DurationMax = 366 * 24 * time.Hour

// Window is one entry of a policy's schedule.
type Window struct {
	// Deny makes the window block restarts; otherwise it allows them.
	Deny bool

	// Cron has five fields and names the times at which the window begins.
	Cron string

	// Duration is how long the window lasts from each of its starts, in elapsed
	// time.
	Duration time.Duration

	// TimeZone is the IANA name of the zone in which Cron is read. Empty is UTC.
	TimeZone string
}

// ParseError lists everything that is wrong with a list of windows. Each problem
// begins with the field it is about, such as windows[1].cron.
type ParseError struct{ Problems []string }

func (e *ParseError) Error() string { return strings.Join(e.Problems, "; ") }

// window is a Window that can be searched.
type window struct {
	Window
	index int // in the list that was parsed
	times times
	zone  *time.Location

	// dense: within a day, each start lies in the window of the start before.
	// unbroken: so it is across midnight as well, and every day has starts.
	dense, unbroken bool
}

// Parse reads a list of windows. If anything is wrong the error is a *ParseError
// that names all of it, and the Schedule is closed for good: what nobody can read
// must not let a restart through.
func Parse(windows []Window) (Schedule, error) {
	var s Schedule
	var problems []string
	for i, w := range windows {
		parsed, wrong := parse(w, i)
		problems = append(problems, wrong...)
		if w.Deny {
			s.deny = append(s.deny, parsed)
		} else {
			s.allow = append(s.allow, parsed)
		}
	}
	if len(problems) > 0 {
		return Schedule{unreadable: true}, &ParseError{problems}
	}
	return s, nil
}

func parse(w Window, index int) (window, []string) {
	var problems []string
	problem := func(field, format string, args ...any) {
		problems = append(problems, fmt.Sprintf("windows[%d].%s ", index, field)+fmt.Sprintf(format, args...))
	}
	parsed := window{Window: w, index: index}

	var wrong []string
	parsed.times, wrong = parseCron(w.Cron)
	for _, reason := range wrong {
		problem("cron", "%q: %s", w.Cron, reason)
	}
	switch {
	case w.Duration <= 0:
		problem("duration", "%v: must be longer than 0s", w.Duration)
	case w.Duration > DurationMax:
		problem("duration", "%v: must be at most %v (366 days)", w.Duration, DurationMax)
	}
	var err error
	if parsed.zone, err = zone(w.TimeZone); err != nil {
		problem("timeZone", "%q: %v", w.TimeZone, err)
	}
	if len(wrong) == 0 {
		within, across := parsed.times.spacing()
		parsed.dense = w.Duration >= within
		parsed.unbroken = parsed.dense && w.Duration >= across && parsed.times.everyDay()
	}
	return parsed, problems
}

// zones remembers the zones that were loaded, since policies are parsed in every
// pass and reading zone data costs more than all the rest of a pass. What a name
// stands for does not change while the process runs.
var zones sync.Map // string -> *time.Location

// zone loads a zone by its IANA name. It refuses names that mean another zone on
// another machine or (right/) count leap seconds, and spellings that only a file
// system takes for a name, such as Europe//Berlin.
func zone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location), nil
	}
	loaded, err := time.LoadLocation(name)
	switch first, _, _ := strings.Cut(name, "/"); {
	case first == "Local", first == "localtime", first == "posixrules", first == "posix", first == "right":
		return nil, fmt.Errorf("depends on the machine; use an IANA name such as Europe/Berlin")
	case err != nil, path.Clean(name) != name:
		return nil, fmt.Errorf("no such time zone; use an IANA name such as Europe/Berlin, or leave it out for UTC")
	}
	zones.Store(name, loaded)
	return loaded, nil
}
