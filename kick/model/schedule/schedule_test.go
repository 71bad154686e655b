package schedule_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corewire/kick/kick/model/schedule"
)

const hour = time.Hour

func allow(cron string, d time.Duration, zone string) schedule.Window {
	return schedule.Window{Cron: cron, Duration: d, TimeZone: zone}
}

func deny(cron string, d time.Duration, zone string) schedule.Window {
	return schedule.Window{Deny: true, Cron: cron, Duration: d, TimeZone: zone}
}

func mustParse(t testing.TB, windows ...schedule.Window) schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(windows)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Case B42: all combinations of two Allow and two Deny windows, active or not.
//
// Proves: KICK-FEAT-011.
func TestWindowsCombine(t *testing.T) {
	now := instant("2026-05-05T12:30:00Z")
	window := func(kind func(string, time.Duration, string) schedule.Window, active bool) schedule.Window {
		if active {
			return kind("0 12 * * *", hour, "")
		}
		return kind("0 3 * * *", hour, "")
	}
	for combination := range 16 {
		on := func(bit int) bool { return combination&(1<<bit) != 0 }
		s := mustParse(t, window(allow, on(0)), window(allow, on(1)), window(deny, on(2)), window(deny, on(3)))
		want := (on(0) || on(1)) && !on(2) && !on(3)
		if got := s.At(now); got.Open != want {
			t.Errorf("allow %v %v, deny %v %v: open %v, want %v", on(0), on(1), on(2), on(3), got.Open, want)
		}
	}
	for combination := range 4 {
		first, second := combination&1 != 0, combination&2 != 0
		s := mustParse(t, window(deny, first), window(deny, second))
		if got, want := s.At(now).Open, !first && !second; got != want {
			t.Errorf("only deny %v %v: open %v, want %v", first, second, got, want)
		}
	}
}

func TestNoWindowsIsAlwaysOpen(t *testing.T) {
	want := schedule.State{Open: true}
	if diff := cmp.Diff(want, mustParse(t).At(instant("2026-05-05T12:30:00Z")), cmp.AllowUnexported(schedule.State{})); diff != "" {
		t.Errorf("At (-want +got):\n%s", diff)
	}
}

// span is a stretch in which a schedule has one answer.
type span struct {
	From string
	Open bool
}

// follow lists the answers from one instant to another, as a controller finds
// them by asking again at each Until.
func follow(s schedule.Schedule, from, to string) []span {
	var out []span
	for at := instant(from); at.Before(instant(to)); {
		state := s.At(at)
		out = append(out, span{at.Format(time.RFC3339Nano), state.Open})
		if state.Until.IsZero() {
			break
		}
		at = state.Until
	}
	return out
}

// Case B51, row by row. New York goes from 02:00 EST to 03:00 EDT at 07:00Z on
// 2025-03-09 and from 02:00 EDT to 01:00 EST at 06:00Z on 2025-11-02.
//
// Proves: KICK-FEAT-011.
func TestDaylightSaving(t *testing.T) {
	const newYork = "America/New_York"
	tests := map[string]struct {
		windows  []schedule.Window
		from, to string
		want     []span // after the first, which begins at from
	}{
		"allow at 02:30 opens at 03:00 on the day without a 02:30, once": {
			[]schedule.Window{allow("30 2 * * *", hour, newYork)},
			"2025-03-09T00:00:00Z", "2025-03-10T12:00:00Z",
			[]span{{"2025-03-09T07:00:00Z", true}, {"2025-03-09T08:00:00Z", false}, {"2025-03-10T06:30:00Z", true}, {"2025-03-10T07:30:00Z", false}},
		},
		"deny at 02:30 is not skipped": {
			[]schedule.Window{deny("30 2 * * *", hour, newYork)},
			"2025-03-09T00:00:00Z", "2025-03-10T00:00:00Z",
			[]span{{"2025-03-09T07:00:00Z", false}, {"2025-03-09T08:00:00Z", true}},
		},
		"many skipped starts are one": {
			[]schedule.Window{allow("*/10 2 * * *", time.Minute, newYork)},
			"2025-03-09T00:00:00Z", "2025-03-10T00:00:00Z",
			[]span{{"2025-03-09T07:00:00Z", true}, {"2025-03-09T07:01:00Z", false}},
		},
		"deny at 01:00 for two hours of elapsed time ends at 04:00 on the wall": {
			[]schedule.Window{deny("0 1 * * *", 2*hour, newYork)},
			"2025-03-09T00:00:00Z", "2025-03-10T00:00:00Z",
			[]span{{"2025-03-09T06:00:00Z", false}, {"2025-03-09T08:00:00Z", true}},
		},
		"allow at 01:30 opens the first time the clock shows it only": {
			[]schedule.Window{allow("30 1 * * *", 30*time.Minute, newYork)},
			"2025-11-02T00:00:00Z", "2025-11-03T12:00:00Z",
			[]span{{"2025-11-02T05:30:00Z", true}, {"2025-11-02T06:00:00Z", false}, {"2025-11-03T06:30:00Z", true}, {"2025-11-03T07:00:00Z", false}},
		},
		"a window over the repeated hour is one without a hole": {
			[]schedule.Window{deny("0 1 * * *", 90*time.Minute, newYork)},
			"2025-11-02T00:00:00Z", "2025-11-03T00:00:00Z",
			[]span{{"2025-11-02T05:00:00Z", false}, {"2025-11-02T06:30:00Z", true}},
		},
		"a midnight that does not exist": {
			[]schedule.Window{allow("0 0 * * *", hour, "America/Sao_Paulo")},
			"2018-11-03T12:00:00Z", "2018-11-05T12:00:00Z",
			[]span{{"2018-11-04T03:00:00Z", true}, {"2018-11-04T04:00:00Z", false}, {"2018-11-05T02:00:00Z", true}, {"2018-11-05T03:00:00Z", false}},
		},
		"a midnight that comes twice": {
			[]schedule.Window{allow("30 23 16 2 *", hour, "America/Sao_Paulo")},
			"2019-02-16T12:00:00Z", "2019-02-18T00:00:00Z",
			[]span{{"2019-02-17T01:30:00Z", true}, {"2019-02-17T02:30:00Z", false}},
		},
		"twelve hours across the change in spring end at 09:00": {
			[]schedule.Window{allow("0 20 * * *", 12*hour, newYork)},
			"2025-03-08T12:30:00Z", "2025-03-09T20:00:00Z",
			[]span{{"2025-03-08T13:00:00Z", false}, {"2025-03-09T01:00:00Z", true}, {"2025-03-09T13:00:00Z", false}},
		},
		"twelve hours across the change in autumn end at 07:00": {
			[]schedule.Window{allow("0 20 * * *", 12*hour, newYork)},
			"2025-11-01T20:00:00Z", "2025-11-02T20:00:00Z",
			[]span{{"2025-11-02T00:00:00Z", true}, {"2025-11-02T12:00:00Z", false}},
		},
		"half an hour of daylight saving: the gap": {
			[]schedule.Window{deny("15 2 * * *", hour, "Australia/Lord_Howe")},
			"2026-10-03T12:00:00Z", "2026-10-04T12:00:00Z",
			[]span{{"2026-10-03T15:30:00Z", false}, {"2026-10-03T16:30:00Z", true}},
		},
		"half an hour of daylight saving: the repetition": {
			[]schedule.Window{deny("45 1 * * *", 10*time.Minute, "Australia/Lord_Howe")},
			"2026-04-04T12:00:00Z", "2026-04-05T12:00:00Z",
			[]span{{"2026-04-04T14:45:00Z", false}, {"2026-04-04T14:55:00Z", true}},
		},
		"29 February": {
			[]schedule.Window{allow("0 0 29 2 *", 24*hour, "")},
			"2096-03-01T00:00:00Z", "2105-01-01T00:00:00Z",
			[]span{{"2104-02-29T00:00:00Z", true}, {"2104-03-01T00:00:00Z", false}},
		},
		"one cron, other zones": { // case B44
			[]schedule.Window{allow("0 9 * * *", hour, "Asia/Kolkata"), allow("0 9 * * *", hour, "Europe/Berlin"), allow("0 9 * * *", hour, "")},
			"2026-07-01T00:00:00Z", "2026-07-02T00:00:00Z",
			[]span{{"2026-07-01T03:30:00Z", true}, {"2026-07-01T04:30:00Z", false}, {"2026-07-01T07:00:00Z", true}, {"2026-07-01T08:00:00Z", false}, {"2026-07-01T09:00:00Z", true}, {"2026-07-01T10:00:00Z", false}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := follow(mustParse(t, tt.windows...), tt.from, tt.to)
			if diff := cmp.Diff(tt.want, got[1:]); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
		})
	}
}

// Until looks through overlaps and seams.
func TestUntilIsTheEndOfTheUnion(t *testing.T) {
	tests := map[string]struct {
		windows []schedule.Window
		open    bool
		until   string // empty: never
	}{
		"overlapping":               {[]schedule.Window{allow("0 12 * * *", hour, ""), allow("30 12 * * *", hour, "")}, true, "2026-05-05T13:30:00Z"},
		"adjacent":                  {[]schedule.Window{allow("0 13 * * *", hour, ""), allow("0 12 * * *", hour, "")}, true, "2026-05-05T14:00:00Z"},
		"its own neighbour":         {[]schedule.Window{allow("0 10-15 * * *", hour, "")}, true, "2026-05-05T16:00:00Z"},
		"a nanosecond short":        {[]schedule.Window{allow("0 10-15 * * *", hour-1, "")}, true, "2026-05-05T12:59:59.999999999Z"},
		"cut short by deny":         {[]schedule.Window{allow("0 12 * * *", 2*hour, ""), deny("45 12 * * *", time.Minute, "")}, true, "2026-05-05T12:45:00Z"},
		"deny at the very end":      {[]schedule.Window{allow("0 12 * * *", hour, ""), deny("0 13 * * *", hour, "")}, true, "2026-05-05T13:00:00Z"},
		"deny in its last fraction": {[]schedule.Window{allow("0 12 * * *", hour+1, ""), deny("0 13 * * *", hour, "")}, true, "2026-05-05T13:00:00Z"},
		"denies in a row":           {[]schedule.Window{deny("0 12 * * *", hour, ""), deny("0 13 * * *", hour, ""), deny("30 13 * * *", hour, "")}, false, "2026-05-05T14:30:00Z"},
		"allow hidden by deny":      {[]schedule.Window{allow("0 13 * * *", hour, ""), deny("0 12 5 5 *", 3*hour, "")}, false, "2026-05-06T13:00:00Z"},
		"allow in sight after deny": {[]schedule.Window{allow("0 13 * * *", 3*hour, ""), deny("0 12 * * *", 2*hour, "")}, false, "2026-05-05T14:00:00Z"},
		"always":                    {[]schedule.Window{allow("* * * * *", time.Minute, "")}, true, ""},
		"always, day by day":        {[]schedule.Window{allow("0 0 * * *", 25*hour, "Europe/Berlin")}, true, ""},
		"always, in two halves":     {[]schedule.Window{deny("0 0 * * 1-5", 26*hour, "Europe/Berlin"), deny("0 0 * * 0,6", 26*hour, "Europe/Berlin")}, false, ""},
		"one day of a month":        {[]schedule.Window{allow("0 0 5 * *", 24*hour, "")}, true, "2026-05-06T00:00:00Z"},
		"the days of one month":     {[]schedule.Window{allow("0 0 * 5 *", 24*hour, "")}, true, "2026-06-01T00:00:00Z"},
		"the same, either day":      {[]schedule.Window{allow("0 0 1-31 5 1", 24*hour, "")}, true, "2026-06-01T00:00:00Z"},
		"never":                     {[]schedule.Window{allow("0 3 * * *", hour, ""), deny("0 2 * * *", 3*hour, "")}, false, ""},
		// A day of the autumn has 25 hours.
		"a day is not 24 hours": {[]schedule.Window{deny("0 0 * * *", 24*hour, "Europe/Berlin")}, false, "2026-10-25T22:00:00Z"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := mustParse(t, tt.windows...).At(instant("2026-05-05T12:30:00Z"))
			want := time.Time{}
			if tt.until != "" {
				want = instant(tt.until)
			}
			if got.Open != tt.open || !got.Until.Equal(want) || got.AtLeast {
				t.Errorf("At = %v, want open %v until %v", got, tt.open, want)
			}
		})
	}
}

func TestEdgesToTheNanosecond(t *testing.T) {
	s := mustParse(t, allow("0 12 * * *", time.Second+1, ""))
	tests := map[string]bool{
		"2026-05-05T11:59:59.999999999Z": false,
		"2026-05-05T12:00:00Z":           true,
		"2026-05-05T12:00:01Z":           true,
		"2026-05-05T12:00:01.000000001Z": false,
	}
	for at, want := range tests {
		if got := s.At(instant(at)).Open; got != want {
			t.Errorf("at %s: open %v, want %v", at, got, want)
		}
	}
}

// Windows made to be followed for ever are not.
func TestWorkIsBounded(t *testing.T) {
	s := mustParse(t, allow("* * * * *", 20*time.Second, "Europe/Berlin"), deny("* * * * *", 30*time.Second, "Europe/Berlin"))
	now := instant("2026-05-05T12:30:40Z")
	got := s.At(now)
	if got.Open || !got.AtLeast || got.Until.Sub(now) < 24*hour {
		t.Errorf("At = %v, want closed at least for a day", got)
	}
	if !strings.HasPrefix(got.String(), "closed at least until 2026-05-") {
		t.Errorf("String = %q", got)
	}
}

func TestStateSaysWhy(t *testing.T) {
	nightly := deny("0 22 * * *", 8*hour, "Europe/Berlin")
	tests := map[string]struct {
		windows []schedule.Window
		want    string
	}{
		"no windows":     {nil, "open for good, no deny window is active"},
		"deny only":      {[]schedule.Window{nightly}, "open until 2026-05-05 20:00:00Z, no deny window is active"},
		"outside allow":  {[]schedule.Window{allow("0 3 * * *", hour, "")}, "closed until 2026-05-06 03:00:00Z, no allow window is active"},
		"inside allow":   {[]schedule.Window{nightly, allow("0 12 * * *", hour, "")}, `open until 2026-05-05 13:00:00Z by windows[1] (allow "0 12 * * *" UTC for 1h0m0s)`},
		"deny over all":  {[]schedule.Window{allow("0 12 * * *", hour, ""), deny("0 12 * * *", time.Hour, "")}, `closed for good by windows[1] (deny "0 12 * * *" UTC for 1h0m0s)`},
		"the last to go": {[]schedule.Window{deny("0 12 * * *", hour, ""), deny("0 12 * * *", 2*hour, ""), deny("0 13 * * *", hour, "")}, `closed until 2026-05-05 14:00:00Z by windows[1] (deny "0 12 * * *" UTC for 2h0m0s)`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := mustParse(t, tt.windows...).At(instant("2026-05-05T12:30:00Z")).String(); got != tt.want {
				t.Errorf("String = %q\nwant     %q", got, tt.want)
			}
		})
	}
	by := mustParse(t, nightly).At(instant("2026-05-05T23:30:00Z")).By
	want := schedule.Match{Window: nightly, Start: instant("2026-05-05T20:00:00Z"), End: instant("2026-05-06T04:00:00Z")}
	if by == nil || *by != want {
		t.Errorf("By = %+v, want %+v", by, want)
	}
}

func TestParseNamesEveryProblem(t *testing.T) {
	_, err := schedule.Parse([]schedule.Window{
		allow("0 25 * * *", hour, "Europe/Berlin"),
		deny("60 8-2 32 13 7", 0, "Mars/Olympus"),
		allow("0 0 * * *", hour, ""),
	})
	want := []string{
		`windows[0].cron "0 25 * * *": hour 25 is not 0-23`,
		`windows[1].cron "60 8-2 32 13 7": minute 60 is not 0-59`,
		`windows[1].cron "60 8-2 32 13 7": hour range 8-2 runs backwards; write 8-23,0-2`,
		`windows[1].cron "60 8-2 32 13 7": day of month 32 is not 1-31`,
		`windows[1].cron "60 8-2 32 13 7": month 13 is not 1-12, or jan-dec`,
		`windows[1].cron "60 8-2 32 13 7": day of week 7 is not 0-6 (Sunday is 0), or sun-sat`,
		`windows[1].duration 0s: must be longer than 0s`,
		`windows[1].timeZone "Mars/Olympus": no such time zone; use an IANA name such as Europe/Berlin, or leave it out for UTC`,
	}
	var got *schedule.ParseError
	if !errors.As(err, &got) {
		t.Fatalf("Parse: %v, want a *ParseError", err)
	}
	if diff := cmp.Diff(want, got.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if text := err.Error(); text != strings.Join(want, "; ") {
		t.Errorf("Error = %q", text)
	}
}

// What cannot be read lets nothing through, even if the error is overlooked.
func TestAnUnreadableScheduleIsClosed(t *testing.T) {
	s, err := schedule.Parse([]schedule.Window{allow("* * * * *", hour, ""), allow("@daily", hour, "")})
	state := s.At(instant("2026-05-05T12:30:00Z"))
	if err == nil || state.Open || !state.Until.IsZero() || state.String() != "closed: the schedule cannot be read" {
		t.Errorf("Parse: %v, At = %v", err, state)
	}
}

func TestParseWindow(t *testing.T) {
	good := allow("0 0 * * *", hour, "")
	with := func(change func(w *schedule.Window)) schedule.Window {
		w := good
		change(&w)
		return w
	}
	cron := func(c string) schedule.Window { return with(func(w *schedule.Window) { w.Cron = c }) }
	zone := func(z string) schedule.Window { return with(func(w *schedule.Window) { w.TimeZone = z }) }
	duration := func(d time.Duration) schedule.Window { return with(func(w *schedule.Window) { w.Duration = d }) }
	tests := []struct {
		window schedule.Window
		want   string // what the problem says, empty if there is none
	}{
		{good, ""},
		{cron(" 0\t0  * * * "), ""},
		{cron("0 0 29 2 *"), ""},
		{cron("0 0 30 2 *"), "never begins: month 2 has no day 30"},
		{cron("0 0 31 4,jun,9,11 *"), "never begins: month 4,jun,9,11 has no day 31"},
		{cron("0 0 31 2-4 *"), ""},
		{cron("0 0 30 2 1"), ""},   // Mondays of February
		{cron("0 0 30 2 */2"), ""}, // a step restricts
		{cron("0 0 30 2 */1"), "never begins"},
		{cron(""), "is empty, want 5 fields: minute, hour"},
		{cron("0 0 * *"), "has 4 fields, want 5: minute, hour"},
		{cron("0 0 0 * * *"), "has 6 fields (seconds are not supported), want 5"},
		{cron("1 2 3 4 5 6 7"), "has 7 fields, want 5"},
		{cron("@daily"), `@daily is not supported; write "0 0 * * *"`},
		{cron("@every 5m"), "@every is not supported; want 5 fields"},
		{cron("CRON_TZ=Europe/Berlin 0 0 * * *"), "has a time zone in it; write that into timeZone"},
		{cron("TZ=UTC"), "has a time zone in it"},
		{cron("*/0 0 * * *"), `minute step "0" is not a number above 0`},
		{cron("*/x 0 * * *"), `minute step "x" is not a number above 0`},
		{cron("*/ 0 * * *"), `minute step "" is not a number above 0`},
		{cron("1/2/3 0 * * *"), `minute step "2/3" is not a number above 0`},
		{cron("1,,2 0 * * *"), `minute "" is not a number 0-59`},
		{cron("+1 0 * * *"), `minute "+1" is not a number 0-59`},
		{cron("-1 0 * * *"), `minute "" is not a number 0-59`},
		{cron("*-5 0 * * *"), `minute "*" is not a number 0-59`},
		{cron("1-2-3 0 * * *"), `minute "2-3" is not a number 0-59`},
		{cron("5- 0 * * *"), `minute "" is not a number 0-59`},
		{cron("0 0 0 * *"), "day of month 0 is not 1-31"},
		{cron("0 0 * foo *"), `month "foo" is not a number 1-12, or jan-dec`},
		{cron("0 0 * JAN-mar Mon-FRI"), ""},
		{cron("0 99999999999999999999 * * *"), `hour "99999999999999999999" is not a number 0-23`},
		{duration(1), ""},
		{duration(schedule.DurationMax), ""},
		{duration(schedule.DurationMax + 1), "duration 8784h0m0.000000001s: must be at most 8784h0m0s (366 days)"},
		{duration(-hour), "duration -1h0m0s: must be longer than 0s"},
		{zone("UTC"), ""},
		{zone("Australia/Lord_Howe"), ""},
		{zone("Local"), "depends on the machine"},
		{zone("localtime"), "depends on the machine"},
		{zone("posixrules"), "depends on the machine"},
		{zone("right/Europe/Berlin"), "depends on the machine"},
		{zone("posix/Europe/Berlin"), "depends on the machine"},
		{zone("Europe//Berlin"), "no such time zone"},
		{zone("Europe/./Berlin"), "no such time zone"},
		{zone("../zoneinfo/UTC"), "no such time zone"},
		{zone("/etc/localtime"), "no such time zone"},
		{zone("CEST"), "no such time zone"},
		{zone("UTC+2"), "no such time zone"},
		{zone(" "), "no such time zone"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%q %v %q", tt.window.Cron, tt.window.Duration, tt.window.TimeZone), func(t *testing.T) {
			_, err := schedule.Parse([]schedule.Window{tt.window})
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("Parse: %v, want no error", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("Parse: %v\nwant     %s", err, tt.want)
			}
		})
	}
}

func ExampleSchedule_At() {
	s, err := schedule.Parse([]schedule.Window{{Cron: "0 2 * * *", Duration: time.Hour, TimeZone: "Europe/Berlin"}})
	if err != nil {
		panic(err)
	}
	state := s.At(time.Date(2026, time.July, 1, 12, 0, 0, 0, time.UTC))
	fmt.Println(state.Open, state.Until)
	// Output: false 2026-07-02 00:00:00 +0000 UTC
}
