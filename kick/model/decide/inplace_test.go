package decide_test

import (
	"slices"
	"testing"
	"time"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
)

// inPlace makes the workload one whose restart replaces pods and makes no revision.
func inPlace(change ...func(*model.InPlace)) build.Option {
	return func(s *model.Snapshot) {
		in := &model.InPlace{Spare: 1}
		for _, c := range change {
			c(in)
		}
		s.Workload.Rollout.InPlace = in
		s.Workload.Rollout.Rolling = in.Pending || in.Updating || in.Invalid != ""
		s.Workload.Rollout.Complete = !s.Workload.Rollout.Rolling
	}
}

// dated is a restart in place, its pods being those there were.
func dated(at float64, manager string) build.Option {
	return func(s *model.Snapshot) {
		s.Workload.Stamp = model.Stamp{Raw: build.At(at).Format(time.RFC3339), At: build.At(at), Manager: manager}
		s.Workload.Generation++
	}
}

func pending(in *model.InPlace)  { in.Pending = true }
func updating(in *model.InPlace) { in.Updating = true }
func noSpare(in *model.InPlace)  { in.Pending, in.Spare = true, 0 }

// TestDateOfARestartInPlace: it is the second that has begun when KICK restarts, and that
// second is later than the one of the change: the pods' creation is known to the second,
// so that one of the change's own second may have read what was there before.
//
// Proves: KICK-FEAT-024.
func TestDateOfARestartInPlace(t *testing.T) {
	tests := map[string]struct {
		given  []build.Option
		now    float64
		date   float64 // second of the stamp; -1: none is set
		wakeAt float64
	}{
		"the second of the change is not over":         {now: 0.5, date: -1, wakeAt: 1},
		"a microsecond before it is":                   {now: 0.999999, date: -1, wakeAt: 1},
		"the next second has begun":                    {now: 1, date: 1},
		"later: what is cut off is never rounded":      {now: 7.9, date: 7},
		"the change came late in its second":           {given: []build.Option{build.Change("C", 3.9)}, now: 3.95, date: -1, wakeAt: 4},
		"the API server's clock decides, not KICK's":   {given: []build.Option{serverAt(0.5)}, now: 30.5, date: -1, wakeAt: 31},
		"and dates the restart":                        {given: []build.Option{serverAt(2.25)}, now: 30.5, date: 2},
		"the second of somebody's restart is not over": {given: []build.Option{dated(4, "argo")}, now: 4.5, date: -1, wakeAt: 5},
		"the second after somebody's restart":          {given: []build.Option{dated(4, "argo")}, now: 5, date: 5},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := decide.Decide(blocked(append([]build.Option{inPlace()}, tt.given...)...), build.At(tt.now))
			if tt.date < 0 {
				if v.Action == decide.Stamp || v.Phase != request.WaitingForGate || v.Decisive.Reason != request.Settling || !v.WakeAt.Equal(build.At(tt.wakeAt)) {
					t.Errorf("%s %s (%s), wakes at %v; want WaitingForGate Settling until %v", v.Action, v.Phase, v.Decisive.Reason, v.WakeAt, build.At(tt.wakeAt))
				}
				return
			}
			if v.Action != decide.Stamp || !v.StampAt.Equal(build.At(tt.date)) {
				t.Errorf("%s at %v, want a stamp of %v", v.Action, v.StampAt, build.At(tt.date))
			}
		})
	}
}

func serverAt(second float64) build.Option {
	return func(s *model.Snapshot) { s.ServerNow = build.At(second) }
}

// restarting is a restart in place of second 1 in answer to a change of second 0.
func restarting(options ...build.Option) *model.Snapshot {
	return build.Snapshot(append([]build.Option{build.Change("B", 0), dated(1, "kick"), build.Request(request.Executing, driving)}, options...)...)
}

// Proves: KICK-FEAT-024.
func TestRestartInPlace(t *testing.T) {
	fresh, sameSecond := build.Pod("web-1-a", 1), build.Pod("web-1-b", 1)
	paused := build.Rollout(func(r *model.Rollout) { r.Paused = true })
	unobserved := build.Rollout(func(r *model.Rollout) { r.Observed, r.Complete = false, false })
	short := build.Rollout(func(r *model.Rollout) { r.Complete = false })
	tests := map[string]struct {
		given  []build.Option
		now    float64
		phase  request.Phase
		reason request.Reason
	}{
		"noted and complete while no pod is there yet":       {[]build.Option{inPlace(), fresh, sameSecond, func(s *model.Snapshot) { s.Pods = nil }}, 30, request.Executing, request.Restarting},
		"noted and complete while the last pod is not ready": {[]build.Option{inPlace(), fresh, func(s *model.Snapshot) { s.Pods[0].ReadySince = time.Time{} }}, 30, request.Executing, request.Restarting},
		"every pod is new":                                             {[]build.Option{inPlace(), fresh, sameSecond}, 30, request.Succeeded, request.RestartCompleted},
		"noted as done, but an old pod is left":                        {[]build.Option{inPlace(), fresh, build.Pod("web-1-b", build.Born)}, 30, request.WaitingForRollout, request.RestartDropped},
		"noted as done, but no pod is new":                             {[]build.Option{inPlace()}, 30, request.WaitingForRollout, request.RestartDropped},
		"noted as done, and all pods are new but one is not available": {[]build.Option{inPlace(), short, fresh}, 30, request.Executing, request.Restarting},
		"everything still looks as before":                             {[]build.Option{inPlace(), unobserved, fresh}, 30, request.Executing, request.Restarting},
		"on its way":                                                   {[]build.Option{inPlace(pending)}, 30, request.Executing, request.Restarting},
		"on its way, all pods are new but not noted":                   {[]build.Option{inPlace(pending), fresh}, 30, request.Executing, request.Restarting},
		"too few pods are available for a minute":                      {[]build.Option{inPlace(noSpare)}, 62, request.Executing, request.UnreadyPods},
		"too few for less than a minute":                               {[]build.Option{inPlace(noSpare)}, 60, request.Executing, request.Restarting},
		"enough are, and none goes: a budget refuses it":               {[]build.Option{inPlace(pending)}, 62, request.Executing, request.EvictionRefused},
		"too few until the rollout timeout":                            {[]build.Option{inPlace(noSpare)}, 902, request.Failed, request.UnreadyPods},
		"refused until the rollout timeout":                            {[]build.Option{inPlace(pending)}, 902, request.Failed, request.EvictionRefused},
		"an update began in the meantime":                              {[]build.Option{inPlace(updating)}, 30, request.WaitingForRollout, request.UpdateInProgress},
		"an update began, and pauses":                                  {[]build.Option{inPlace(updating), paused}, 30, request.WaitingForRollout, request.Paused},
		"an update was aborted":                                        {[]build.Option{inPlace(updating, func(in *model.InPlace) { in.Aborted = true })}, 30, request.WaitingForRollout, request.RolloutAborted},
		"its spec became invalid":                                      {[]build.Option{inPlace(func(in *model.InPlace) { in.Invalid = "no strategy" })}, 30, request.WaitingForRollout, request.RolloutInvalid},
		"invalid while it is on its way, for a minute":                 {[]build.Option{inPlace(pending, func(in *model.InPlace) { in.Invalid = "no strategy" })}, 62, request.Executing, request.RolloutInvalid},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := decide.Decide(restarting(tt.given...), build.At(tt.now))
			if v.Phase != tt.phase || v.Decisive.Reason != tt.reason || v.Action == decide.Stamp {
				t.Errorf("%s %s (%s), want %s (%s)", v.Action, v.Phase, v.Decisive.Reason, tt.phase, tt.reason)
			}
			if !v.Phase.Terminal() && v.WakeAt.IsZero() && len(v.WakeOn) == 0 {
				t.Error("nothing wakes it")
			}
		})
	}
}

// TestNoRestartIntoAnUpdate: whatever the pods are, KICK waits while the workload is
// between two templates, and says why.
//
// Proves: KICK-FEAT-024.
func TestNoRestartIntoAnUpdate(t *testing.T) {
	paused := build.Rollout(func(r *model.Rollout) { r.Paused = true })
	later := func(s *model.Snapshot) {
		s.Workload.Stamp = model.Stamp{Raw: "later", At: build.At(600), Manager: "argo"}
	}
	soonish := func(s *model.Snapshot) {
		s.Workload.Stamp = model.Stamp{Raw: "soon", At: build.At(63), Manager: "argo"}
	}
	tests := map[string]struct {
		given  []build.Option
		reason request.Reason
	}{
		"mid-canary":                   {[]build.Option{inPlace(updating)}, request.UpdateInProgress},
		"mid-canary, at a pause":       {[]build.Option{inPlace(updating), paused}, request.Paused},
		"aborted":                      {[]build.Option{inPlace(updating, func(in *model.InPlace) { in.Aborted = true })}, request.RolloutAborted},
		"invalid":                      {[]build.Option{inPlace(func(in *model.InPlace) { in.Invalid = "no strategy" })}, request.RolloutInvalid},
		"a restart of others is ahead": {[]build.Option{inPlace(pending), later}, request.RestartScheduled},
		"a restart of others is on":    {[]build.Option{inPlace(pending), soonish}, request.RolloutInProgress},
		"paused by hand":               {[]build.Option{inPlace(), paused}, request.Paused},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := decide.Decide(blocked(tt.given...), build.At(soon))
			if v.Phase != request.WaitingForRollout || v.Decisive.Reason != tt.reason || v.Action == decide.Stamp || !slices.Contains(v.WakeOn, model.WakeOnWorkload) {
				t.Errorf("%s %s (%s) woken by %v, want WaitingForRollout (%s) woken by the workload", v.Action, v.Phase, v.Decisive.Reason, v.WakeOn, tt.reason)
			}
		})
	}
}

// TestWhatAnotherRuns: a Deployment whose template a Rollout runs is not restarted.
//
// Proves: KICK-FEAT-024.
func TestWhatAnotherRuns(t *testing.T) {
	by := model.Key{Kind: "Rollout", Namespace: "shop", Name: "web"}
	v := decide.Decide(blocked(func(s *model.Snapshot) { s.Workload.RunBy = by }), build.At(soon))
	if v.Phase != request.WaitingForRollout || v.Decisive.Reason != request.RunByRollout || v.Decisive.Detail != by.String() {
		t.Errorf("%s (%s) %q, want WaitingForRollout (RunByRollout) that names %s", v.Phase, v.Decisive.Reason, v.Decisive.Detail, by)
	}
}
