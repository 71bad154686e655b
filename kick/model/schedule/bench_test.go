package schedule_test

import (
	"testing"

	"github.com/corewire/kick/kick/model/schedule"
)

func BenchmarkAt(b *testing.B) {
	const berlin = "Europe/Berlin"
	tests := map[string][]schedule.Window{
		"nightly":                {allow("0 2 * * *", hour, berlin)},
		"nightly in UTC":         {allow("0 2 * * *", hour, "")},
		"office hours, lunch":    {allow("0 8 * * 1-5", 9*hour, berlin), deny("0 12 * * *", hour, berlin)},
		"four windows":           {allow("0 2 * * 1-5", hour, berlin), allow("0 10 * * 6", 4*hour, berlin), deny("0 0 24 12 *", 72*hour, berlin), deny("0 0 1 * *", 24*hour, "")},
		"29 February":            {allow("0 0 29 2 *", hour, berlin)},
		"always, each minute":    {allow("* * * * *", hour, berlin)},
		"always, in two halves":  {deny("0 0 * * 1-5", 26*hour, berlin), deny("0 0 * * 0,6", 26*hour, berlin)},
		"never, allow in denies": {allow("0 3 * * *", hour, berlin), deny("0 2 * * *", 3*hour, berlin)},
		"as nasty as can be":     {allow("* * * * *", 20e9, berlin), deny("* * * * *", 30e9, berlin)},
	}
	now := instant("2026-05-05T12:30:40Z")
	for name, windows := range tests {
		b.Run(name, func(b *testing.B) {
			s := mustParse(b, windows...)
			b.ReportAllocs()
			for b.Loop() {
				s.At(now)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	windows := []schedule.Window{allow("0 8 * * 1-5", 9*hour, "Europe/Berlin"), deny("*/10 12 * * *", hour, "America/New_York")}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schedule.Parse(windows); err != nil {
			b.Fatal(err)
		}
	}
}
