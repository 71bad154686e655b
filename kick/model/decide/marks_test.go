package decide_test

import (
	"testing"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
)

// TestVerdictsAreMarked: what is written is counted, with phase and reason.
func TestVerdictsAreMarked(t *testing.T) {
	mark.Count(true)
	defer mark.Reset()
	defer mark.Count(false)
	suspended := build.Snapshot(build.Change("B", 0), build.Request(request.Pending), build.With(func(p *model.Policy) { p.Suspended = true }))
	decide.Decide(suspended, build.At(60))
	for m, want := range map[mark.Mark]uint64{
		mark.PhaseWaitingForGate: 1, mark.ReasonPolicySuspended: 1, mark.PhaseExecuting: 0, mark.ReasonPaused: 0,
	} {
		if got := mark.Counts()[m]; got != want {
			t.Errorf("mark %s was hit %d times, want %d", mark.All()[m].Name, got, want)
		}
	}
}
