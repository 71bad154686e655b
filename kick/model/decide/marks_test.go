package decide_test

import (
	"testing"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
)

// A campaign says what it never came past by these counts: what is written is
// counted, and what is not is not.
func TestVerdictsAreMarked(t *testing.T) {
	suspended := build.With(func(p *model.Policy) { p.Suspended = true })
	flags := func(s *model.Snapshot) {
		build.Reads(build.Flags, build.Env())(s)
		s.Dependencies[1].Record.History = append(s.Dependencies[1].Record.History, build.Content("B", 0))
	}
	found := build.Snapshot(build.Change("B", 0), build.Stamped("kick", 1), build.Request(request.WaitingForGate))
	rolling := build.Rollout(build.Rolling)
	tests := map[string]struct {
		given *model.Snapshot
		now   float64
		hit   []mark.Mark
		not   []mark.Mark
	}{
		"a wait": {
			given: blocked(suspended), now: soon,
			hit: []mark.Mark{mark.PhaseWaitingForGate, mark.ReasonPolicySuspended},
			not: []mark.Mark{mark.PhaseExecuting, mark.ReasonPaused, mark.ChangeWhileExecuting, mark.StampTaken, mark.ManualRequestServed, mark.OthersRolloutAccepted},
		},
		"one change": {given: blocked(suspended, lastRestart(0.1)), now: soon, not: []mark.Mark{mark.ChangesCoalesced}},
		"two":        {given: blocked(suspended, lastRestart(0.1), flags), now: soon, hit: []mark.Mark{mark.ChangesCoalesced}},
		"a restart found at once": {
			given: found, now: 3, hit: []mark.Mark{mark.PhaseExecuting}, not: []mark.Mark{mark.RestartFoundLate, mark.ManualRequestServed},
		},
		"a restart found late":      {given: found, now: 3.1, hit: []mark.Mark{mark.RestartFoundLate}},
		"a request by hand":         {given: executing(rolling, build.Request(request.Executing, driving, byHand)), now: soon, hit: []mark.Mark{mark.ManualRequestServed}},
		"a request by hand waits":   {given: blocked(suspended, build.Request(request.Pending, byHand)), now: soon, not: []mark.Mark{mark.ManualRequestServed}},
		"a restart ends":            {given: executing(), now: soon, hit: []mark.Mark{mark.PhaseSucceeded}, not: []mark.Mark{mark.ChangeWhileExecuting, mark.StampTaken, mark.OthersRolloutAccepted}},
		"nothing is written":        {given: blocked(ended(request.Succeeded), build.Pod("web-1-a", 5)), now: soon, not: []mark.Mark{mark.PhaseSucceeded}},
		"a restart is only planned": {given: blocked(), now: soon, not: []mark.Mark{mark.PhaseExecuting}},
		"a change while it runs":    {given: executing(rolling, build.Change("C", 20)), now: soon, hit: []mark.Mark{mark.ChangeWhileExecuting}},
		"a change while it waits":   {given: blocked(suspended, build.Change("C", 20)), now: soon, not: []mark.Mark{mark.ChangeWhileExecuting}},
		"somebody's restart":        {given: executing(build.Stamped("x", 20)), now: soon, hit: []mark.Mark{mark.StampTaken, mark.OthersRolloutAccepted}},
		"somebody's, not yet ended": {given: executing(build.Stamped("x", 20), rolling), now: soon, hit: []mark.Mark{mark.StampTaken}, not: []mark.Mark{mark.OthersRolloutAccepted}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			mark.Count(true)
			defer mark.Reset()
			defer mark.Count(false)
			decide.Decide(tt.given, build.At(tt.now))
			for want, marks := range map[uint64][]mark.Mark{1: tt.hit, 0: tt.not} {
				for _, m := range marks {
					if got := mark.Counts()[m]; got != want {
						t.Errorf("mark %s was hit %d times, want %d", mark.All()[m].Name, got, want)
					}
				}
			}
		})
	}
}
