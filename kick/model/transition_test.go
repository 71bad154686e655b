package model_test

import (
	"testing"
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// A request lists each phase once in an episode, in order, whatever the clock does.
func TestReached(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var st model.RequestStatus
	reach := func(phase request.Phase, opened, now int) {
		next := st
		next.Phase, next.OpenedAt = phase, noon.Add(time.Duration(opened)*time.Second)
		next.Transitions = st.Reached(next, noon.Add(time.Duration(now)*time.Second))
		st = next
	}
	reach(request.WaitingForGate, 0, 0)
	reach(request.WaitingForRollout, 0, 1)
	reach(request.WaitingForGate, 0, 2) // again
	reach(request.Executing, 0, -5)     // the clock was set back
	reach(request.Executing, 0, 3)      // nothing new
	reach(request.Succeeded, 0, 4)
	reach(request.Pending, 10, 10)
	reach(request.Succeeded, 10, 11)
	want := []struct {
		phase request.Phase
		at    int
	}{
		{request.WaitingForGate, 0}, {request.WaitingForRollout, 1}, {request.Executing, 1}, {request.Succeeded, 4}, {request.Pending, 10}, {request.Succeeded, 11},
	}
	if len(st.Transitions) != len(want) {
		t.Fatalf("got %v", st.Transitions)
	}
	for i, w := range want {
		if got := st.Transitions[i]; got.Phase != w.phase || !got.At.Equal(noon.Add(time.Duration(w.at)*time.Second)) {
			t.Errorf("transition %d is %s at %s, want %s at %ds", i, got.Phase, got.At, w.phase, w.at)
		}
	}
	for i := range 30 {
		reach(request.Pending, 20+2*i, 20+2*i)
		reach(request.Failed, 20+2*i, 21+2*i)
	}
	if n := len(st.Transitions); n != model.MaxTransitions || st.Transitions[n-1].Phase != request.Failed {
		t.Errorf("%d transitions are kept, want %d", n, model.MaxTransitions)
	}
}
