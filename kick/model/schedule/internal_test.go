package schedule

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"pgregory.net/rapid"
)

// Whatever this parser reads, robfig's reads in the same way.
func TestParserAgreesWithRobfig(t *testing.T) {
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	// Mostly well formed, so that the comparison is not of errors only.
	number := rapid.SampledFrom(strings.Fields("0 1 2 3 5 6 7 9 11 12 13 23 24 30 31 32 59 60 01 + jan DEC sun Sat foo"))
	element := rapid.Custom(func(t *rapid.T) string {
		text := rapid.OneOf(number, rapid.SampledFrom([]string{"*", "?"})).Draw(t, "low")
		if rapid.IntRange(0, 3).Draw(t, "range") == 0 {
			text += "-" + number.Draw(t, "high")
		}
		if rapid.IntRange(0, 3).Draw(t, "step") == 0 {
			text += "/" + number.Draw(t, "by")
		}
		return text
	})
	field := rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "star") {
			return "*"
		}
		return strings.Join(rapid.SliceOfN(element, 1, 3).Draw(t, "list"), ",")
	})
	agreed := 0
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(field, 5, 5).Draw(t, "fields"), " ")
		got, problems := parseCron(text)
		parsed, err := parser.Parse(text)
		if err != nil {
			if len(problems) == 0 {
				t.Fatalf("%q: accepted, robfig says %v", text, err)
			}
			return
		}
		spec := parsed.(*cron.SpecSchedule)
		if len(problems) > 0 {
			never := spec.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero()
			if !never && !strings.Contains(text, "*-") && !strings.Contains(text, "?-") && !strings.Contains(text, "+") {
				t.Fatalf("%q: refused (%v), robfig accepts", text, problems)
			}
			return
		}
		agreed++
		const star = uint64(1) << 63
		want := times{
			minute: spec.Minute &^ star, hour: spec.Hour &^ star, day: spec.Dom &^ star,
			month: spec.Month &^ star, weekday: spec.Dow &^ star,
			either: spec.Dom&star == 0 && spec.Dow&star == 0,
		}
		if got != want {
			t.Fatalf("%q: %+v, robfig reads %+v", text, got, want)
		}
	})
	if agreed == 0 {
		t.Error("not one cron was read by both")
	}
}

func TestCivilAgreesWithTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { compareCivil(t, rapid.Int64Range(-800_000, 3_000_000).Draw(t, "day")) })
	// Where years of 365 days, of centuries and of four centuries end.
	for _, year := range []int{1600, 1896, 1900, 2000, 2001, 2024, 2100, 2400} {
		march := time.Date(year, time.March, 1, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay
		for day := march - 61; day <= march+1; day++ {
			compareCivil(t, day)
		}
	}
}

func compareCivil(t rapid.TB, day int64) {
	year, month, dom := civil(day)
	want := time.Unix(day*secondsPerDay, 0).UTC()
	if int(year) != want.Year() || month != int(want.Month()) || dom != want.Day() || weekday(day) != int(want.Weekday()) {
		t.Fatalf("day %d: %d-%d-%d (%d), want %v", day, year, month, dom, weekday(day), want)
	}
	last := time.Date(want.Year(), want.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	if daysIn(year, month) != last {
		t.Fatalf("%d-%d has %d days, want %d", year, month, daysIn(year, month), last)
	}
}

// The leaps over days and hours find what a walk over all minutes finds.
func TestWallSearchAgreesWithAWalk(t *testing.T) {
	crons := []string{"* * * * *", "0 0 29 2 *", "*/7 3,9 * * 1-5", "59 23 31 * *", "0 0 1-7 * 3", "5/20 */5 13 * 5"}
	rapid.Check(t, func(t *rapid.T) {
		c, problems := parseCron(rapid.SampledFrom(crons).Draw(t, "cron"))
		if problems != nil {
			t.Fatal(problems)
		}
		from := rapid.Int64Range(1_700_000_000, 1_720_000_000).Draw(t, "from")
		to := from + rapid.Int64Range(1, 3*secondsPerDay).Draw(t, "length")
		first, last, any := int64(0), int64(0), false
		for wall := -floorDiv(-from, 60) * 60; wall < to; wall += 60 {
			at := time.Unix(wall, 0).UTC()
			minute := c.hour&(1<<at.Hour()) != 0 && c.minute&(1<<at.Minute()) != 0
			if minute && c.month&(1<<at.Month()) != 0 && c.matches(at.Day(), int(at.Weekday())) {
				if !any {
					first = wall
				}
				last, any = wall, true
			}
		}
		if got, ok := c.nextWall(from, to); ok != any || (ok && got != first) {
			t.Fatalf("nextWall = %d %v, want %d %v", got, ok, first, any)
		}
		if got, ok := c.previousWall(to-1, from); ok != any || (ok && got != last) {
			t.Fatalf("previousWall = %d %v, want %d %v", got, ok, last, any)
		}
	})
}

// What is searched has its first instant and not its limit; going back it has both.
func TestEdgesOfTheWallSearch(t *testing.T) {
	const noon = 12 * 60 * 60
	c, problems := parseCron("0 12 * * *")
	if problems != nil {
		t.Fatal(problems)
	}
	for _, tt := range []struct {
		from, limit int64
		found       bool
	}{{noon - 60, noon, false}, {noon - 60, noon + 1, true}, {noon, noon + 1, true}, {noon + 1, noon + 60, false}} {
		if got, ok := c.nextWall(tt.from, tt.limit); ok != tt.found || ok && got != noon {
			t.Errorf("nextWall(%d, %d) = %d %v, want %v", tt.from, tt.limit, got, ok, tt.found)
		}
	}
	for _, tt := range []struct {
		upTo, floor int64
		found       bool
	}{{noon - 1, 0, false}, {noon, noon, true}, {noon + 60, noon, true}, {noon + 60, noon + 1, false}} {
		if got, ok := c.previousWall(tt.upTo, tt.floor); ok != tt.found || ok && got != noon {
			t.Errorf("previousWall(%d, %d) = %d %v, want %v", tt.upTo, tt.floor, got, ok, tt.found)
		}
	}
}

// Each segment holds what it says, for whatever instant it is asked for.
func TestSegmentsAreTrue(t *testing.T) {
	names := []string{"America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kolkata", "UTC", "Africa/Casablanca", "Pacific/Apia"}
	rapid.Check(t, func(t *rapid.T) {
		z, err := zone(rapid.SampledFrom(names).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.Int64Range(0, 4_000_000_000).Draw(t, "at") // 1970 to 2096
		s := segmentAt(z, at)
		if at < s.start || at >= s.end {
			t.Fatalf("%d is not in %+v", at, s)
		}
		for _, inside := range []int64{max(s.start, at-10*366*secondsPerDay), min(s.end-1, at+10*366*secondsPerDay), at} {
			if offsetAt(z, inside) != s.offset {
				t.Fatalf("at %d the offset is %d, not as in %+v", inside, offsetAt(z, inside), s)
			}
		}
		if s.start != earliest && offsetAt(z, s.start-1) != s.before {
			t.Fatalf("before %d the offset is %d, not as in %+v", s.start, offsetAt(z, s.start-1), s)
		}
	})
}

// Two zones for which time.ZoneBounds tells bounds that are none, made by hand
// since it depends on the machine's zone data whether real ones do.
func TestSegmentsDoNotTrustZoneBounds(t *testing.T) {
	unix := func(text string) int64 {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return at.Unix()
	}
	// Ciudad Juarez left -06:00 for the rules of -07:00 when these were in winter.
	changed := unix("2022-11-30T06:00:00Z")
	juarez := zoneOf(t, changed, -6*3600, -7*3600, "MST7MDT,M3.2.0,M11.1.0")
	// Daylight saving from New Year to the 180th day, as nobody has it.
	newYear := zoneOf(t, unix("2001-06-29T04:00:00Z"), -4*3600, -5*3600, "STD5DST,J1/0,J180/0")
	tests := map[string]struct {
		zone *time.Location
		at   string
		want segment
	}{
		"before the change": {juarez, "2022-11-15T00:00:00Z", segment{earliest, changed, -6 * 3600, -6 * 3600}},
		"after it":          {juarez, "2022-12-15T00:00:00Z", segment{changed, unix("2023-01-01T00:00:00Z"), -7 * 3600, -6 * 3600}},
		"the year's last day, transition next": {
			newYear, "2024-12-31T12:00:00Z",
			segment{unix("2024-06-29T04:00:00Z"), unix("2025-01-01T05:00:00Z"), -5 * 3600, -4 * 3600},
		},
	}
	for name, tt := range tests {
		got := segmentAt(tt.zone, unix(tt.at))
		// Where a stretch without a change is cut is of no concern.
		if got.end != tt.want.end && offsetAt(tt.zone, got.end) == got.offset {
			got.end = tt.want.end
		}
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

// zoneOf is a zone with one recorded change and a rule for later (RFC 9636).
func zoneOf(t *testing.T, at int64, before, after int32, rule string) *time.Location {
	t.Helper()
	header := func(transitions, types, chars uint32) []byte {
		b := append([]byte("TZif2"), make([]byte, 15)...)
		for _, n := range []uint32{0, 0, 0, transitions, types, chars} {
			b = binary.BigEndian.AppendUint32(b, n)
		}
		return b
	}
	b := append(header(0, 1, 1), make([]byte, 7)...) // an empty block of version 1
	b = append(b, header(1, 2, 4)...)
	b = binary.BigEndian.AppendUint64(b, uint64(at))
	b = append(b, 1) // the change is to type 1
	for _, offset := range []int32{before, after} {
		b = binary.BigEndian.AppendUint32(b, uint32(offset))
		b = append(b, 0, 0)
	}
	b = append(b, "LMT\x00\n"+rule+"\n"...)
	z, err := time.LoadLocationFromTZData("test", b)
	if err != nil {
		t.Fatal(err)
	}
	return z
}
