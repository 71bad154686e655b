package check

import (
	"time"

	"github.com/robfig/cron/v3"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// fiveFields is the cron dialect of policies.
var fiveFields = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// window is a parsed window. The schedule is kept in wall time without a zone,
// so that days on which a clock is put forward or back need no luck.
type window struct {
	deny     bool
	schedule cron.Schedule
	zone     *time.Location
	duration time.Duration
}

// parseWindows reads the windows of a policy, false if any cannot be read or
// never comes.
func parseWindows(policy *v1alpha1.KickPolicy) ([]window, bool) {
	var out []window
	for _, w := range policy.Spec.Schedule.Windows {
		zone, err := time.LoadLocation(w.TimeZone)
		if err != nil {
			return nil, false
		}
		schedule, err := fiveFields.Parse(w.Cron)
		if err != nil || w.Duration.Duration <= 0 {
			return nil, false
		}
		if schedule.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
			return nil, false // 30 February
		}
		out = append(out, window{deny: w.Type == v1alpha1.WindowDeny, schedule: schedule, zone: zone, duration: w.Duration.Duration})
	}
	return out, true
}

// open reports whether the windows of a policy allow a restart at an instant.
// Windows that cannot be read keep the gate shut.
func open(policy *v1alpha1.KickPolicy, at time.Time) bool {
	windows, ok := parseWindows(policy)
	return ok && openAmong(windows, at)
}

// openAmong is open for windows that have been read.
func openAmong(windows []window, at time.Time) bool {
	allows, allowed := false, false
	for _, w := range windows {
		covers := w.covers(at)
		switch {
		case w.deny && covers:
			return false
		case !w.deny:
			allows = true
			allowed = allowed || covers
		}
	}
	return !allows || allowed
}

// opensAmong reports whether the gate opens between two instants: it can do so where a
// window that allows begins or one that denies ends. Of those that follow one another
// within the hour only the first is tried.
func opensAmong(windows []window, from, to time.Time) bool {
	for _, w := range windows {
		after := time.Duration(0)
		if w.deny {
			after = w.duration
		}
		for wall := w.schedule.Next(wallClock(from.Add(-after).In(w.zone))); !wall.IsZero(); wall = w.schedule.Next(wall.Add(time.Hour - time.Second)) {
			at := instant(wall, w.zone).Add(after)
			if at.After(to) {
				break
			}
			if openAmong(windows, at) {
				return true
			}
		}
	}
	return false
}

// covers reports whether some start lies in (at-duration, at].
func (w window) covers(at time.Time) bool {
	const jump = 3 * time.Hour // no zone jumps further
	earliest, slack := at.Add(-w.duration), time.Minute
	if _, end := earliest.Add(-jump).In(w.zone).ZoneBounds(); !end.IsZero() && end.Before(at.Add(jump)) {
		slack = jump
	}
	for wall := w.schedule.Next(wallClock(earliest.In(w.zone)).Add(-slack)); !wall.IsZero(); wall = w.schedule.Next(wall) {
		start := instant(wall, w.zone)
		if start.After(at.Add(slack)) {
			return false
		}
		if start.After(earliest) && !start.After(at) {
			return true
		}
	}
	return false
}

// wallClock is what a clock on the wall shows, as if it hung in UTC.
func wallClock(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// instant is when the wall of a zone shows a time: the first time where it does
// so twice, and the next existing instant where it never does.
func instant(wall time.Time, zone *time.Location) time.Time {
	_, before := wall.Add(-26 * time.Hour).In(zone).Zone()
	_, after := wall.Add(26 * time.Hour).In(zone).Zone()
	// Both offsets as candidates; the larger offset is the earlier instant.
	first, second := wall.Add(-time.Duration(max(before, after))*time.Second), wall.Add(-time.Duration(min(before, after))*time.Second)
	for _, candidate := range []time.Time{first, second} {
		if wallClock(candidate.In(zone)).Equal(wall) {
			return candidate.UTC()
		}
	}
	start, _ := second.In(zone).ZoneBounds()
	return start.UTC()
}
