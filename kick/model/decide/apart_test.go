package decide_test

import (
	"testing"
	"time"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
)

// What is counted from a restart in place is counted by the API server's clock, which
// dated it, however far KICK's is off.

const twoHours = 7200.0

// rateLimited is a Rollout restarted at second -60 of the API server's clock, ten minutes
// being wanted between restarts, in the eyes of a KICK that is ahead of that clock.
func rateLimited(ahead, now float64, told time.Time) decide.Verdict {
	apart := build.With(func(p *model.Policy) { p.MinInterval = 10 * time.Minute })
	said := func(s *model.Snapshot) { s.Request.Status.RequeueAt = told }
	return decide.Decide(blocked(inPlace(), apart, lastRestart(-60), serverAt(now-ahead), said), build.At(now))
}

// Proves: KICK-FEAT-017.
func TestIntervalAfterARestartInPlace(t *testing.T) {
	const blur = 2 + 5 // seconds: of the stamp, and the allowance of these tests
	for name, ahead := range map[string]float64{"one clock": 0, "KICK's ahead": twoHours, "KICK's behind": -twoHours} {
		t.Run(name, func(t *testing.T) {
			v := rateLimited(ahead, ahead+30, time.Time{})
			if end := build.At(ahead + 540 + blur); v.Decisive.Reason != request.RateLimited || !v.WakeAt.Equal(end) || !v.Status.RequeueAt.Equal(end) {
				t.Fatalf("%s, wakes at %v, tells %v; want RateLimited until %v", v.Decisive.Reason, v.WakeAt, v.Status.RequeueAt, end)
			}
			if v = rateLimited(ahead, ahead+540+blur, time.Time{}); v.Action != decide.Stamp {
				t.Errorf("ten minutes later: %s %s, want a restart", v.Action, v.Decisive.Reason)
			}
		})
	}
}

// The API server's clock is known to the second: a status that was right a moment ago is not
// written anew for that, and one that a stepped clock made wrong is.
func TestIntervalIsNotToldAnew(t *testing.T) {
	first := rateLimited(0, 30, time.Time{}).Status.RequeueAt
	tests := map[string]struct {
		ahead, now float64
		stays      bool
	}{
		"a second later":                 {0, 31, true},
		"the API server seems behind":    {0.9, 31, true},
		"the API server seems ahead":     {-0.9, 31, true},
		"KICK's clock was set":           {twoHours, twoHours + 31, false},
		"the time that was told is past": {1.5, 547.5, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := rateLimited(tt.ahead, tt.now, first)
			if v.Decisive.Reason != request.RateLimited || v.Status.RequeueAt.Equal(first) != tt.stays || !v.WakeAt.After(build.At(tt.now)) {
				t.Errorf("%s until %v, wakes at %v; told before: %v, which stays: %v", v.Decisive.Reason, v.Status.RequeueAt, v.WakeAt, first, tt.stays)
			}
		})
	}
}

// Proves: KICK-FEAT-018.
func TestLeftInPlaceByACrash(t *testing.T) {
	left := model.Restart{At: build.At(20), InPlace: true, Mine: true}
	for name, ahead := range map[string]float64{"one clock": 0, "KICK's ahead": twoHours, "KICK's behind": -twoHours} {
		t.Run(name, func(t *testing.T) {
			v := decide.Decide(ready(limits(1, 0), others(left), serverAt(30)), build.At(30+ahead))
			if v.Decisive.Reason != request.ConcurrencyLimited {
				t.Errorf("%s %s, want to wait for what a crash left ten seconds ago", v.Action, v.Decisive.Reason)
			}
			v = decide.Decide(ready(limits(1, 0), others(left), serverAt(2000)), build.At(2000+ahead))
			if v.Action != decide.Stamp {
				t.Errorf("%s %s, want a restart: what a crash left is long over", v.Action, v.Decisive.Reason)
			}
		})
	}
}

// A restart that a person asked for by a date is looked at when that comes, by the clock
// that the date is of.
func TestScheduledInPlaceWakesByTheServersClock(t *testing.T) {
	for name, ahead := range map[string]float64{"one clock": 0, "KICK's ahead": twoHours, "KICK's behind": -twoHours} {
		t.Run(name, func(t *testing.T) {
			v := decide.Decide(blocked(inPlace(pending), dated(600, "argo"), serverAt(30)), build.At(30+ahead))
			if v.Decisive.Reason != request.RestartScheduled || !v.WakeAt.Equal(build.At(600+ahead)) || !v.Decisive.Until.Equal(build.At(600)) {
				t.Errorf("%s until %v, wakes at %v", v.Decisive.Reason, v.Decisive.Until, v.WakeAt)
			}
		})
	}
}
