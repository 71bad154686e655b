package schedule_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"pgregory.net/rapid"

	"github.com/corewire/kick/kick/model/schedule"
)

// The oracle knows nothing but what a clock on the wall shows. It walks along UTC
// minute by minute, looks at the clock of the zone each time, and writes down
// when a window begins. The cron it reads with robfig's parser.

type oracle struct {
	begin, end time.Time // what it knows
	edges      []edge    // sorted
	allows     bool
}

// edge is an instant at which a window starts or ends.
type edge struct {
	at          time.Time
	allow, deny int // how many more windows cover from here on
	open        bool
}

func observe(windows []schedule.Window, begin, end time.Time) oracle {
	o := oracle{begin: begin, end: end}
	for _, w := range windows {
		from, to := edge{allow: 1}, edge{allow: -1}
		if w.Deny {
			from, to = edge{deny: 1}, edge{deny: -1}
		} else {
			o.allows = true
		}
		for _, from.at = range starts(w, begin.Add(-w.Duration), end) {
			to.at = from.at.Add(w.Duration)
			o.edges = append(o.edges, from, to)
		}
	}
	slices.SortFunc(o.edges, func(a, b edge) int { return a.at.Compare(b.at) })
	allow, deny := 0, 0
	for i := range o.edges {
		allow, deny = allow+o.edges[i].allow, deny+o.edges[i].deny
		o.edges[i].open = deny == 0 && (!o.allows || allow > 0)
	}
	return o
}

// after is the index of the first edge later than t.
func (o oracle) after(t time.Time) int {
	return sort.Search(len(o.edges), func(i int) bool { return o.edges[i].at.After(t) })
}

func (o oracle) open(t time.Time) bool {
	if i := o.after(t); i > 0 {
		return o.edges[i-1].open
	}
	return !o.allows
}

// change is the first instant after t at which open differs from t, false if
// there is none up to the end.
func (o oracle) change(t time.Time) (time.Time, bool) {
	for _, e := range o.edges[o.after(t):] {
		if e.at.Before(o.end) && o.open(e.at) != o.open(t) {
			return e.at, true
		}
	}
	return time.Time{}, false
}

// starts lists the instants in [begin, end) at which a window begins.
func starts(w schedule.Window, begin, end time.Time) []time.Time {
	zone, err := time.LoadLocation(w.TimeZone)
	if err != nil {
		panic(err)
	}
	spec := robfig(w.Cron)
	const memory = 3 * 24 * time.Hour // to know what the clock has shown already
	var out []time.Time
	var shown time.Time // the latest wall time the clock has shown
	for at := begin.Add(-memory).Truncate(time.Minute); at.Before(end); at = at.Add(time.Minute) {
		wall := onTheWall(at, zone)
		fires := false
		if shown.IsZero() {
			shown = wall.Add(-time.Minute)
		}
		// Usually one minute; more of them after a gap; none in a repeated hour.
		for shown.Before(wall) {
			shown = shown.Add(time.Minute)
			fires = fires || matches(spec, shown)
		}
		if fires && !at.Before(begin) {
			out = append(out, at)
		}
	}
	return out
}

func onTheWall(t time.Time, zone *time.Location) time.Time {
	l := t.In(zone)
	return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), 0, 0, time.UTC)
}

func robfig(expression string) *cron.SpecSchedule {
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	parsed, err := parser.Parse(expression)
	if err != nil {
		panic(err)
	}
	return parsed.(*cron.SpecSchedule)
}

// matches reads robfig's bits. It is compared with robfig's own Next below.
func matches(spec *cron.SpecSchedule, wall time.Time) bool {
	has := func(set uint64, value int) bool { return set&(1<<value) != 0 }
	day, weekday := has(spec.Dom, wall.Day()), has(spec.Dow, int(wall.Weekday()))
	const star = 63
	dayMatches := day && weekday
	if !has(spec.Dom, star) && !has(spec.Dow, star) {
		dayMatches = day || weekday
	}
	return dayMatches && has(spec.Month, int(wall.Month())) && has(spec.Hour, wall.Hour()) && has(spec.Minute, wall.Minute())
}

// On a clock that is never touched, robfig's Next is right.
func TestTheOracleReadsCronAsRobfigDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := robfig(drawCron(t))
		spec.Location = time.UTC
		at := instant("2026-01-30T00:00:00Z").Add(time.Duration(rapid.IntRange(0, 3*366*24*60).Draw(t, "minute")) * time.Minute)
		if next := spec.Next(at.Add(-time.Second)); matches(spec, at) != next.Equal(at) || (!next.IsZero() && !matches(spec, next)) {
			t.Fatalf("at %v: matches %v, Next %v", at, matches(spec, at), next)
		}
	})
}

// Moments at which clocks were or will be put forward or back, and some at which
// nothing happens.
var moments = []struct{ zone, at string }{
	{"America/New_York", "2025-03-09T07:00:00Z"},
	{"America/New_York", "2025-11-02T06:00:00Z"},
	{"Europe/Berlin", "2026-03-29T01:00:00Z"},
	{"Europe/Berlin", "2026-10-25T01:00:00Z"},
	{"Australia/Lord_Howe", "2026-04-04T15:00:00Z"},
	{"Australia/Lord_Howe", "2026-10-03T15:30:00Z"},
	{"America/Sao_Paulo", "2018-11-04T03:00:00Z"}, // midnight does not exist
	{"America/Sao_Paulo", "2019-02-17T02:00:00Z"}, // and comes twice
	{"Antarctica/Troll", "2026-03-29T01:00:00Z"},  // two hours
	{"Antarctica/Troll", "2026-10-25T01:00:00Z"},
	{"Pacific/Apia", "2011-12-30T10:00:00Z"}, // a whole day is missing
	{"Africa/Casablanca", "2026-02-15T02:00:00Z"},
	{"America/New_York", "2040-03-11T07:00:00Z"}, // beyond the table of the zone
	{"Europe/Berlin", "2040-12-31T12:00:00Z"},    // where ZoneBounds tells an end in the past
	{"Europe/Berlin", "2041-10-27T01:00:00Z"},
	{"Asia/Kolkata", "2026-03-29T01:00:00Z"},
	{"", "2024-02-29T00:00:00Z"},
	{"UTC", "2025-12-31T23:00:00Z"},
}

var durations = rapid.OneOf(
	rapid.SampledFrom([]time.Duration{
		1, time.Second, 30 * time.Second, time.Minute, time.Minute + 1, 10 * time.Minute, 30 * time.Minute, time.Hour,
		2 * time.Hour, 12 * time.Hour, 23 * time.Hour, 24 * time.Hour, 25 * time.Hour, 40 * time.Hour,
	}),
	rapid.Map(rapid.Int64Range(1, int64(30*time.Hour)), func(n int64) time.Duration { return time.Duration(n) }),
	rapid.Map(rapid.IntRange(1, 200), func(n int) time.Duration { return time.Duration(n) * time.Minute }),
)

func drawCron(t *rapid.T) string {
	field := func(label string, low, high int, common ...string) string {
		number := rapid.IntRange(low, high)
		element := rapid.Custom(func(t *rapid.T) string {
			a, b := number.Draw(t, "a"), number.Draw(t, "b")
			switch rapid.IntRange(0, 5).Draw(t, "form") {
			case 0:
				return fmt.Sprintf("%d-%d", min(a, b), max(a, b))
			case 1:
				return fmt.Sprintf("*/%d", rapid.IntRange(1, high+2).Draw(t, "step"))
			case 2:
				return fmt.Sprintf("%d/%d", a, rapid.IntRange(1, high+2).Draw(t, "step"))
			case 3:
				return fmt.Sprintf("%d-%d/%d", min(a, b), max(a, b), rapid.IntRange(1, 9).Draw(t, "step"))
			}
			return fmt.Sprint(a)
		})
		list := rapid.Map(rapid.SliceOfN(element, 1, 3), func(l []string) string { return strings.Join(l, ",") })
		return rapid.OneOf(rapid.SampledFrom(common), rapid.SampledFrom(common), list).Draw(t, label)
	}
	return strings.Join([]string{
		field("minute", 0, 59, "0", "30", "*", "*/10", "59", "15,45"),
		field("hour", 0, 23, "*", "0", "1", "2", "3", "22", "1-2", "0,23"),
		field("day", 1, 31, "*", "*", "?", "1", "29", "4", "31"),
		field("month", 1, 12, "*", "*", "*", "?", "2", "3-11"),
		field("weekday", 0, 6, "*", "*", "?", "0", "1-5", "sun"),
	}, " ")
}

func drawWindows(t *rapid.T, zone string) []schedule.Window {
	window := rapid.Custom(func(t *rapid.T) schedule.Window {
		return schedule.Window{
			Deny: rapid.Bool().Draw(t, "deny"), Cron: drawCron(t), Duration: durations.Draw(t, "duration"),
			TimeZone: rapid.SampledFrom([]string{zone, zone, zone, "", "Asia/Kolkata"}).Draw(t, "zone"),
		}
	})
	windows := rapid.SliceOfN(window, 1, 3).Draw(t, "windows")
	return slices.DeleteFunc(windows, func(w schedule.Window) bool {
		_, err := schedule.Parse([]schedule.Window{w})
		return err != nil // never begins
	})
}

// Proves: KICK-FEAT-011.
func TestAtEqualsTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := rapid.SampledFrom(moments).Draw(t, "moment")
		windows := drawWindows(t, moment.zone)
		s, err := schedule.Parse(windows)
		if err != nil {
			t.Fatal(err)
		}
		at := instant(moment.at)
		o := observe(windows, at.Add(-36*time.Hour), at.Add(60*time.Hour))
		for _, now := range instants(t, o, at) {
			compare(t, s, o, now)
		}
	})
}

// instants are a few at random and the edges of windows, to the nanosecond.
func instants(t *rapid.T, o oracle, around time.Time) []time.Time {
	var out []time.Time
	for _, offset := range rapid.SliceOfN(rapid.Int64Range(int64(-36*time.Hour), int64(36*time.Hour)), 1, 4).Draw(t, "offsets") {
		out = append(out, around.Add(time.Duration(offset)))
	}
	out = append(out, around.Add(-1), around, around.Add(1))
	for range min(len(o.edges), 8) {
		at := rapid.SampledFrom(o.edges).Draw(t, "edge").at
		out = append(out, at.Add(-1), at)
	}
	return slices.DeleteFunc(out, func(at time.Time) bool { return at.Before(o.begin) || !at.Before(o.end) })
}

func compare(t *rapid.T, s schedule.Schedule, o oracle, now time.Time) {
	t.Helper()
	got := s.At(now)
	if got.Open != o.open(now) {
		t.Fatalf("at %v: Open = %v, the oracle says %v (%v)", now, got.Open, !got.Open, got)
	}
	want, known := o.change(now)
	switch {
	case known && !got.Until.Equal(want) && (!got.AtLeast || !got.Until.Before(want)):
		t.Fatalf("at %v: Until = %v, the oracle says %v (%v)", now, got.Until, want, got)
	case !known && !got.Until.IsZero() && !got.AtLeast && got.Until.Before(o.end):
		t.Fatalf("at %v: Until = %v, the oracle knows no change up to %v (%v)", now, got.Until, o.end, got)
	}
	if by := got.By; by != nil {
		if now.Before(by.Start) || !now.Before(by.End) || by.Deny == got.Open || by.End.Sub(by.Start) != by.Duration {
			t.Fatalf("at %v: decided by %+v, which cannot be", now, *by)
		}
	}
}

// Wherever the clock is, asking again at Until finds the other answer: following
// the chain is all a controller has to do.
func TestUntilIsWhereTheAnswerChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := rapid.SampledFrom(moments).Draw(t, "moment")
		s, err := schedule.Parse(drawWindows(t, moment.zone))
		if err != nil {
			t.Fatal(err)
		}
		now := instant(moment.at)
		for range 20 {
			state := s.At(now)
			if state.Until.IsZero() {
				return
			}
			if !state.Until.After(now) {
				t.Fatalf("at %v: Until %v is not later", now, state.Until)
			}
			before, after := s.At(state.Until.Add(-1)), s.At(state.Until)
			if before.Open != state.Open || (after.Open == state.Open && !state.AtLeast) {
				t.Fatalf("at %v: open %v; just before %v %v, then %v", now, state.Open, state.Until, before.Open, after.Open)
			}
			now = state.Until
		}
	})
}

func instant(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return at.UTC()
}
