package decide_test

import (
	"testing"
	"time"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
)

// ready is a workload that would be restarted at second 30, but for others.
func ready(options ...build.Option) *model.Snapshot {
	return build.Snapshot(append([]build.Option{build.Change("B", 0), build.Request(request.WaitingForGate)}, options...)...)
}

func limits(own, all int) build.Option {
	return func(s *model.Snapshot) { s.Policies[0].MaxConcurrent, s.Settings.MaxConcurrent = own, all }
}

func others(restarts ...model.Restart) build.Option {
	return func(s *model.Snapshot) { s.Restarts = restarts }
}

// Proves: KICK-FEAT-018.
func TestConcurrency(t *testing.T) {
	mine, theirs := model.Restart{At: build.At(20), Executing: true, Mine: true}, model.Restart{At: build.At(20), Executing: true}
	left := func(at float64, told bool) model.Restart {
		return model.Restart{At: build.At(at), Told: told, Mine: true}
	}
	tests := map[string]struct {
		given   []build.Option
		setting string  // that forbids it; empty: it may restart
		look    float64 // after which it looks again
	}{
		"no limit":                          {given: []build.Option{others(mine, mine, mine)}},
		"nobody else":                       {given: []build.Option{limits(1, 1)}},
		"fewer than allowed":                {given: []build.Option{limits(2, 3), others(mine)}},
		"as many as the policy allows":      {given: []build.Option{limits(2, 0), others(mine, mine)}, setting: "spec.restart.maxConcurrent", look: 60},
		"another policy's":                  {given: []build.Option{limits(1, 0), others(theirs, theirs)}},
		"as many as the operator allows":    {given: []build.Option{limits(0, 2), others(mine, theirs)}, setting: "--max-concurrent-restarts", look: 60},
		"about to be made":                  {given: []build.Option{limits(1, 0), others(model.Restart{Reserved: true, Mine: true})}, setting: "spec.restart.maxConcurrent", look: 5},
		"left by a crash":                   {given: []build.Option{limits(1, 0), others(left(20, false))}, setting: "spec.restart.maxConcurrent", look: 60},
		"ended, its rollout runs for ever":  {given: []build.Option{limits(1, 0), others(left(20, true))}},
		"left by a crash long ago":          {given: []build.Option{limits(1, 0), others(left(-1000, false))}},
		"left, the policy gives it an hour": {given: []build.Option{limits(1, 0), build.With(func(p *model.Policy) { p.RolloutTimeout = time.Hour }), others(left(-1000, false))}, setting: "spec.restart.maxConcurrent", look: 60},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := decide.Decide(ready(tt.given...), build.At(30))
			if tt.setting == "" {
				if v.Action != decide.Stamp {
					t.Fatalf("%s: %s, want a restart", v.Action, v.Decisive.Reason)
				}
				return
			}
			if v.Phase != request.WaitingForGate || v.Decisive.Reason != request.ConcurrencyLimited || v.Decisive.Setting != tt.setting {
				t.Errorf("%s (%s, %s), want to wait because of %s", v.Phase, v.Decisive.Reason, v.Decisive.Setting, tt.setting)
			}
			if !v.WakeAt.Equal(build.At(30+tt.look)) || !v.Status.RequeueAt.IsZero() || !v.Valid() {
				t.Errorf("wakes at %v (status %v), want a look after %vs that the status does not tell of", v.WakeAt, v.Status.RequeueAt, tt.look)
			}
		})
	}
}

func TestOtherRestartsAreReadOnlyIfTheyDecide(t *testing.T) {
	tests := map[string]struct {
		given *model.Snapshot
		want  bool
	}{
		"nothing else stands against it": {ready(limits(1, 0)), true},
		"it waited for others before":    {ready(limits(1, 0), others(model.Restart{Executing: true, Mine: true})), true},
		"only the operator has a limit":  {ready(limits(0, 1)), true},
		"no limit":                       {ready(), false},
		"a window is shut":               {ready(limits(1, 1), build.With(shutFor(time.Hour))), false},
		"its restart is under way":       {build.Snapshot(build.Change("B", 0), build.Request(request.Executing), limits(1, 1)), false},
		"it is over":                     {build.Snapshot(build.Change("B", 0), build.Request(request.Succeeded), limits(1, 1)), false},
		"there is no request":            {build.Snapshot(build.Change("B", 0), limits(1, 1)), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := decide.NeedRestarts(tt.given, build.At(30)); got != tt.want {
				t.Errorf("NeedRestarts() = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestRolloutTimeoutOfThePolicy(t *testing.T) {
	tests := map[string]struct {
		own     time.Duration
		now     float64
		want    request.Phase
		setting string
	}{
		"the operator's, not over": {0, 800, request.Executing, ""},
		"the operator's":           {0, 1000, request.Failed, "--rollout-timeout"},
		"a shorter one":            {2 * time.Minute, 200, request.Failed, "spec.restart.rolloutTimeout of KickPolicy shop/all"},
		"a shorter one, not over":  {2 * time.Minute, 100, request.Executing, ""},
		"a longer one, not over":   {time.Hour, 1000, request.Executing, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := build.Snapshot(build.Change("B", 0), build.Stamped("kick", 1), build.Request(request.Executing, driving), build.Rollout(build.Rolling),
				build.With(func(p *model.Policy) { p.RolloutTimeout = tt.own }))
			v := decide.Decide(s, build.At(tt.now))
			if v.Phase != tt.want || v.Phase == request.Failed && v.Decisive.Setting != tt.setting {
				t.Errorf("%s (%s, %q), want %s (%q)", v.Phase, v.Decisive.Reason, v.Decisive.Setting, tt.want, tt.setting)
			}
		})
	}
}
