package syncwindow_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gobwas/glob"
	"pgregory.net/rapid"

	"github.com/corewire/kick/kick/model/gitops/syncwindow"
)

var target = syncwindow.Target{Application: "shop", Namespace: "shop", Server: "https://kubernetes.default.svc"}

// drawWindow draws a window whose edges are near enough to be met.
func drawWindow(t *rapid.T) syncwindow.Window {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	return syncwindow.Window{
		Where:        "w",
		Kind:         pick("kind", "allow", "deny", "deny", "Deny"),
		Schedule:     pick("schedule", "0 2 * * *", "30 2 * * *", "15,45 1-3 * * *", "0 0 * * 0", "*/7 * * * *", "0 22 * * 6", "0 */3 * * *", "CRON_TZ=Europe/Berlin 30 1 * * *", "0 0 30 2 *", "59 23 31 * *"),
		Duration:     pick("duration", "1m", "15m", "30m", "1h", "90m", "3h", "12h", "26h", "1500ms", "7m", "0s", "-1h"),
		TimeZone:     pick("zone", "", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/Sao_Paulo"),
		Applications: []string{"*"},
	}
}

// drawNow draws an instant around a change of some clock.
func drawNow(t *rapid.T) time.Time {
	around := rapid.SampledFrom([]string{"2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z", "2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z", "2026-10-03T15:30:00Z", "2018-11-04T03:00:00Z", "2026-06-01T00:00:00Z"}).Draw(t, "around")
	base, err := time.Parse(time.RFC3339, around)
	if err != nil {
		t.Fatal(err)
	}
	minutes := rapid.Int64Range(-36*60, 36*60).Draw(t, "minutes")
	nanos := rapid.SampledFrom([]int64{0, 0, 1, 500_000_000, 999_999_999}).Draw(t, "nanos")
	return base.Add(time.Duration(minutes)*time.Minute + time.Duration(nanos))
}

// TestUntilIsTheNextChange: between now and Until nothing changes but for single
// instants, and at Until it does.
func TestUntilIsTheNextChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		windows := rapid.SliceOfN(rapid.Custom(drawWindow), 1, 4).Draw(t, "windows")
		now := drawNow(t)
		state := syncwindow.At(windows, target, now)
		if state.Until.IsZero() {
			for i := range windows {
				if k := windows[i].Kind; k == "allow" || k == "deny" {
					t.Fatalf("no next change, with %s", windows[i].String())
				}
			}
			return
		}
		span := state.Until.Sub(now)
		if span <= 0 {
			t.Fatalf("until %v is not after now %v", state.Until, now)
		}
		settled := syncwindow.At(windows, target, now.Add(time.Nanosecond))
		for range 20 {
			at := now.Add(time.Duration(rapid.Int64Range(0, int64(span)-1).Draw(t, "sample")))
			got, behind := syncwindow.At(windows, target, at), syncwindow.At(windows, target, at.Add(time.Nanosecond))
			if got.Open != state.Open && behind.Open == got.Open && at.Add(time.Nanosecond).Before(state.Until) && settled.Open == state.Open {
				t.Fatalf("open %v at %v, but %v from %v until %v", got.Open, at, state.Open, now, state.Until)
			}
		}
		if at := syncwindow.At(windows, target, state.Until); !state.AtLeast && at.Open == state.Open {
			t.Fatalf("open %v at now %v and still at until %v", state.Open, now, state.Until)
		}
	})
}

// TestManyStarsMatchAsTheLibrarySays: a pattern with more stars than the library is given is
// matched as it would match it, if it had the time. Names are ASCII; in others the library
// takes a byte for a rune at times.
func TestManyStarsMatchAsTheLibrarySays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		between := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "-", ".", "?", "ab"}), 11, 12).Draw(t, "between")
		pattern := strings.Join(between, "*")
		if rapid.Bool().Draw(t, "open") {
			pattern = "*" + pattern + "*"
		}
		value := strings.ReplaceAll(pattern, "*", rapid.SampledFrom([]string{"", "a", "ba", "-"}).Draw(t, "filled"))
		value = strings.ReplaceAll(value, "?", "b")
		if rapid.Bool().Draw(t, "changed") {
			at := rapid.IntRange(0, len(value)-1).Draw(t, "at")
			value = value[:at] + rapid.SampledFrom([]string{"", "b", "."}).Draw(t, "by") + value[at+1:]
		}
		if got, want := syncwindow.Glob(pattern, value), glob.MustCompile(pattern).Match(value); got != want {
			t.Errorf("%q matches %q: %t, the library says %t", pattern, value, got, want)
		}
	})
}

// FuzzWindow: whatever an AppProject holds, there is an answer, and no panic.
func FuzzWindow(f *testing.F) {
	for _, seed := range []struct{ kind, schedule, duration, zone, pattern string }{
		{"deny", "0 22 * * *", "8h", "Europe/Berlin", "*"},
		{"allow", "CRON_TZ=UTC", "1h", "", "sh*"},
		{"allow", "TZ= * * * * *", "1h", "", "{a,b}"},
		{"deny", "0 0 30 2 *", "-1h", "Nowhere", "[!a-z]"},
		{"deny", "*/0 * * * *", "1d", "Local", "[a"},
		{"deny", "0 9 * * 7", "2562047h47m16.854775807s", "UTC", "{{{"},
		{"deny", "* * * * *", "-2562047h", "Asia/Kolkata", `\`},
		{"deny", "0-59/99999999999 * * * *", "1ns", "right/UTC", "{,}{,}**?"},
		{"allow", "TZ=Local 0 0 * * *", "24h", "../UTC", ""},
		{"deny", "* * * * *", "1h", "UTC", strings.Repeat("*h", 40)},
		{"deny", "* * * * *", "1h", "UTC", strings.Repeat("*{h,o}", 40)},
	} {
		f.Add(seed.kind, seed.schedule, seed.duration, seed.zone, seed.pattern, int64(1772452800))
	}
	f.Fuzz(func(t *testing.T, kind, schedule, duration, zone, pattern string, seconds int64) {
		now := time.Unix(seconds%(1<<33), 1).UTC()
		window := syncwindow.Window{
			Where: "w", Kind: kind, Schedule: schedule, Duration: duration, TimeZone: zone,
			Applications: []string{pattern}, Namespaces: []string{"*"},
		}
		s := syncwindow.At([]syncwindow.Window{window}, target, now)
		if s.Invalid != "" && (s.Open || !s.Until.IsZero()) {
			t.Errorf("a window that cannot be read leaves it open %v until %v", s.Open, s.Until)
		}
		if !s.Until.IsZero() && !s.Until.After(now) {
			t.Errorf("until %v is not after %v", s.Until, now)
		}
		if s.String() == "" {
			t.Error("nothing to say")
		}
	})
}
