package decide_test

import (
	"testing"
	"time"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/model/request"
)

// TestBounds is about the last case of a rule that is one way, and the first that is
// the other.
func TestBounds(t *testing.T) {
	settle := func(d time.Duration) build.Option {
		return build.With(func(p *model.Policy) { p.SettleDelay = d })
	}
	tests := map[string]struct {
		given  []build.Option
		now    float64
		reason request.Reason
	}{
		"settling: the change is dated ahead by as much as clocks may differ": {
			given: []build.Option{settle(10 * time.Second)}, now: 0.25 - build.Allowance.Seconds(), reason: request.Settling,
		},
		"settling: the change is dated ahead by more": {
			given: []build.Option{settle(10 * time.Second)}, now: 0.24 - build.Allowance.Seconds(), reason: request.Restarting,
		},
		"settling: no delay, the change is dated ahead": {
			given: []build.Option{settle(0)}, now: -2, reason: request.Restarting,
		},
		"interval: none, the last restart is dated ahead": {
			given: []build.Option{lastRestart(3)}, now: 1, reason: request.Restarting,
		},
		"strategy: the stale pod is above the partition": {
			given: []build.Option{
				build.Rollout(func(r *model.Rollout) { r.Replicas, r.Partition = 2, 1 }),
				build.Pod("web-1-a", 5, func(p *model.Pod) { p.Ordinal = 0 }), build.Pod("web-1-b", build.Born, func(p *model.Pod) { p.Ordinal = 1 }),
			},
			now: soon, reason: request.Restarting,
		},
		"strategy: no partition, scaled to zero, a pod still runs": {
			given: []build.Option{build.Rollout(func(r *model.Rollout) { r.Replicas = 0 })}, now: soon, reason: request.Restarting,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := decide.Decide(blocked(tt.given...), build.At(tt.now)).Decisive.Reason; got != tt.reason {
				t.Errorf("reason = %s, want %s", got, tt.reason)
			}
		})
	}
}

// A rollout that is stuck is overruled by what came after it began, and by nothing
// else.
//
// Proves: KICK-FEAT-022.
func TestStuckRollout(t *testing.T) {
	stuck := func(s *model.Snapshot) {
		build.Rollout(build.Rolling)(s)
		s.Workload.Rollout.DeadlineExceeded = true
		s.Revisions[0].Created = build.At(10)
		build.Pod("web-0-a", build.Born, func(p *model.Pod) { p.Revision = "web-0" })(s)
	}
	never := func(s *model.Snapshot) { // in front of the source that changed
		build.Reads(build.Flags, discover.Use{Container: "app", Env: true})(s)
		s.Dependencies[1].Record.History = []model.Content{{Seal: "absent", Baseline: true}}
		s.Dependencies[0], s.Dependencies[1] = s.Dependencies[1], s.Dependencies[0]
	}
	tests := map[string]struct {
		given  []build.Option
		reason request.Reason
	}{
		"by a change":                  {given: []build.Option{build.Change("B", 20)}, reason: request.Restarting},
		"by a change of its second":    {given: []build.Option{build.Change("B", 10)}, reason: request.Restarting},
		"by a change of one of two":    {given: []build.Option{build.Change("B", 20), never}, reason: request.Restarting},
		"by what a person speaks of":   {given: []build.Option{build.Request(request.Pending, byHand, changedAt(20))}, reason: request.Restarting},
		"not by what it was made for":  {reason: request.RolloutInProgress},
		"not by a request of kick":     {given: []build.Option{build.Request(request.Pending, func(r *model.Request) { r.Created = build.At(20) })}, reason: request.RolloutInProgress},
		"not by an earlier change":     {given: []build.Option{build.Request(request.Pending, byHand, changedAt(5))}, reason: request.RolloutInProgress},
		"not by a change out of scope": {given: []build.Option{build.Change("B", 20), func(s *model.Snapshot) { s.Dependencies[0].InScope = false }}, reason: request.RolloutInProgress},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := blocked(append([]build.Option{stuck}, tt.given...)...)
			if got := decide.Decide(s, build.At(soon)).Decisive.Reason; got != tt.reason {
				t.Errorf("reason = %s, want %s", got, tt.reason)
			}
		})
	}
}
