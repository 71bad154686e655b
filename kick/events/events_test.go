package events_test

import (
	"testing"

	"github.com/corewire/kick/kick/events"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

func TestForTransition(t *testing.T) {
	const normal, warning = "Normal", "Warning"
	st := func(p request.Phase, r request.Reason) model.RequestStatus {
		return model.RequestStatus{Phase: p, Reason: r, Message: "because"}
	}
	opened := st(request.Pending, request.Opened)
	executing := st(request.Executing, request.Restarting)
	tests := map[string]struct {
		from, to model.RequestStatus
		kind     string // empty: no event
		reason   string
	}{
		"first status: window shut":  {model.RequestStatus{}, st(request.WaitingForGate, request.OutsideSchedule), normal, events.WaitingForSchedule},
		"suspended":                  {opened, st(request.WaitingForGate, request.PolicySuspended), normal, events.WaitingForGate},
		"rate limited":               {opened, st(request.WaitingForGate, request.RateLimited), normal, events.WaitingForGate},
		"bad schedule":               {opened, st(request.WaitingForGate, request.ConfigurationError), warning, events.WaitingForGate},
		"two policies":               {opened, st(request.WaitingForGate, request.PolicyConflict), warning, events.WaitingForGate},
		"source missing":             {opened, st(request.WaitingForGate, request.SourceMissing), warning, events.WaitingForGate},
		"refused":                    {opened, st(request.WaitingForGate, request.PatchRejected), warning, events.WaitingForGate},
		"settling":                   {opened, st(request.WaitingForGate, request.Settling), "", ""},
		"owner unknown":              {opened, st(request.WaitingForOwner, request.OwnerUnknown), warning, events.OwnerUnknown},
		"owner ambiguous":            {opened, st(request.WaitingForOwner, request.AmbiguousOwner), warning, events.OwnerAmbiguous},
		"out of sync":                {opened, st(request.WaitingForApplicationSync, request.OwnerOutOfSync), normal, events.WaitingForGitOpsSync},
		"rolling":                    {opened, st(request.WaitingForRollout, request.RolloutInProgress), normal, events.WaitingForRollout},
		"same phase, other reason":   {st(request.WaitingForRollout, request.RolloutInProgress), st(request.WaitingForRollout, request.OnDelete), normal, events.WaitingForRollout},
		"same phase and reason":      {st(request.WaitingForRollout, request.OnDelete), st(request.WaitingForRollout, request.OnDelete), "", ""},
		"restarted":                  {opened, executing, normal, events.KickStarted},
		"paused while it runs":       {executing, st(request.Executing, request.Paused), "", ""},
		"old pods are not evicted":   {executing, st(request.Executing, request.EvictionRefused), warning, events.WaitingForRollout},
		"too few pods are available": {executing, st(request.Executing, request.UnreadyPods), warning, events.WaitingForRollout},
		"it goes on":                 {st(request.Executing, request.UnreadyPods), executing, "", ""},
		"it failed for unready pods": {st(request.Executing, request.UnreadyPods), st(request.Failed, request.UnreadyPods), warning, events.KickFailed},
		"succeeded":                  {executing, st(request.Succeeded, request.RestartCompleted), normal, events.KickSucceeded},
		"failed":                     {executing, st(request.Failed, request.RolloutTimeout), warning, events.KickFailed},
		"nothing to do":              {opened, st(request.NoLongerRequired, request.Fresh), normal, events.KickNoLongerRequired},
		"dry run":                    {opened, st(request.DryRun, request.DryRunOnly), normal, events.KickDryRun},
		"gate passed by hand":        {opened, model.RequestStatus{Phase: request.WaitingForApplicationSync, Overridden: "because"}, warning, events.GateOverridden},
		"reopened":                   {st(request.Succeeded, request.RestartCompleted), opened, "", ""},
		"a phase of a later version": {opened, st("Dreaming", "x"), "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, worth := events.ForTransition(tt.from, tt.to)
			if worth != (tt.kind != "") {
				t.Fatalf("ForTransition() = %+v, %v", got, worth)
			}
			if got.Type != tt.kind || got.Reason != tt.reason {
				t.Errorf("event = %s %s, want %s %s", got.Type, got.Reason, tt.kind, tt.reason)
			}
			if worth && (got.Note != "because" || got.Action == "") {
				t.Errorf("event = %+v, want the message as note and an action", got)
			}
		})
	}
}

func TestEveryPhaseButPendingHasAnEvent(t *testing.T) {
	for _, p := range request.Phases {
		_, worth := events.ForTransition(model.RequestStatus{}, model.RequestStatus{Phase: p, Reason: request.PolicySuspended})
		if want := p != request.Pending; worth != want {
			t.Errorf("entering %s: event = %v, want %v", p, worth, want)
		}
	}
}
