package decide_test

import (
	"testing"
	"time"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/freshness"
	"github.com/corewire/kick/kick/model/request"
)

// driving is a request in phase Executing that stamped the template at second 1.
func driving(r *model.Request) {
	r.Status.RolloutStart, r.Status.RolloutGen = build.At(1), 2
	r.Status.LatestChange = build.At(0.25)
}

// executing is a workload whose restart of second 1, in answer to a change of
// second 0, is complete and not yet written down as such.
func executing(options ...build.Option) *model.Snapshot {
	return build.Snapshot(append([]build.Option{
		build.Change("B", 0), build.Stamped("kick", 1), build.Request(request.Executing, driving),
	}, options...)...)
}

// unstamped takes the stamp away: the former revision is the wanted one again.
func unstamped(s *model.Snapshot) {
	s.Workload.Stamp = model.Stamp{}
	s.Revisions[0].Wanted, s.Revisions[1].Wanted = true, false
}

func unavailable(r *model.Rollout) { r.Complete = false }

// TestNoWakeUpInThePast: a wait whose time is over and that goes on all the same is
// ended by events, not by a timer that is due at once, again and again.
func TestNoWakeUpInThePast(t *testing.T) {
	for name, r := range map[string]func(*model.Rollout){
		"reverted, not observed": func(r *model.Rollout) { r.Observed, r.Rolling, r.Complete = false, true, false },
		"reverted, paused":       func(r *model.Rollout) { r.Paused, r.Rolling, r.Complete = true, true, false },
	} {
		t.Run(name, func(t *testing.T) {
			v := decide.Decide(executing(unstamped, build.Rollout(r)), build.At(5000))
			if v.Phase != request.Executing || !v.WakeAt.IsZero() || len(v.WakeOn) == 0 {
				t.Errorf("phase %s, wakes at %v, on %v; want Executing, woken by events alone", v.Phase, v.WakeAt, v.WakeOn)
			}
		})
	}
}

func TestExecuting(t *testing.T) {
	deadline := func(r *model.Rollout) { r.DeadlineExceeded = true }
	paused := func(r *model.Rollout) { r.Paused = true }
	unobserved := func(r *model.Rollout) { r.Observed, r.Rolling, r.Complete = false, true, false }
	noPods := func(s *model.Snapshot) { s.Pods = nil }
	lateRevision := func(s *model.Snapshot) { s.Revisions[1].Created = build.At(1200) }
	stalePod := build.Pod("web-1-a", build.Born)
	tests := map[string]struct {
		given  []build.Option
		now    float64
		phase  request.Phase
		reason request.Reason
		until  float64
	}{
		"complete": {
			now: 30, phase: request.Succeeded, reason: request.RestartCompleted,
		},
		"complete after a window has shut": {
			given: []build.Option{build.With(shutFor(time.Hour))}, now: 30, phase: request.Succeeded, reason: request.RestartCompleted,
		},
		"complete, the policy is gone": {
			given: []build.Option{noPolicy}, now: 30, phase: request.Succeeded, reason: request.RestartCompleted,
		},
		"rolling": {
			given: []build.Option{build.Rollout(build.Rolling), noPods}, now: 30, phase: request.Executing, reason: request.Restarting, until: 901,
		},
		"rolling, a pod became ready": {
			given: []build.Option{build.Rollout(build.Rolling)}, now: 30, phase: request.Executing, reason: request.Restarting, until: 904,
		},
		"rolling, its revision is not to be seen": {
			given: []build.Option{build.Rollout(build.Rolling), func(s *model.Snapshot) { s.Revisions = nil }}, now: 30, phase: request.Executing, reason: request.Restarting, until: 901,
		},
		"not available yet": {
			given: []build.Option{build.Rollout(unavailable)}, now: 30, phase: request.Executing, reason: request.Restarting, until: 904,
		},
		"not observed": {
			given: []build.Option{build.Rollout(unobserved)}, now: 30, phase: request.Executing, reason: request.Restarting,
		},
		"no progress for the timeout": {
			given: []build.Option{build.Rollout(build.Rolling)}, now: 904, phase: request.Failed, reason: request.RolloutTimeout,
		},
		"no progress for the timeout by a clock that was set forward": {
			given: []build.Option{build.Rollout(build.Rolling), func(s *model.Snapshot) { s.ServerNow = build.At(30) }}, now: 3630,
			phase: request.Executing, reason: request.Restarting, until: 3630 + 904 - 30,
		},
		"no progress for the timeout, though the clock was set back": {
			given: []build.Option{build.Rollout(build.Rolling), func(s *model.Snapshot) { s.ServerNow = build.At(904) }}, now: -3600,
			phase: request.Failed, reason: request.RolloutTimeout,
		},
		"no progress, one second before the timeout": {
			given: []build.Option{build.Rollout(build.Rolling)}, now: 903, phase: request.Executing, reason: request.Restarting, until: 904,
		},
		"the controllers were away and have just begun": {
			given: []build.Option{build.Rollout(build.Rolling), noPods, lateRevision}, now: 1201, phase: request.Executing, reason: request.Restarting, until: 2100,
		},
		"deadline of the workload passed": {
			given: []build.Option{build.Rollout(build.Rolling), build.Rollout(deadline)}, now: 30, phase: request.Failed, reason: request.ProgressDeadlineExceeded,
		},
		"deadline of the former generation is not ours": {
			given: []build.Option{build.Rollout(unobserved), build.Rollout(deadline)}, now: 30, phase: request.Executing, reason: request.Restarting,
		},
		"paused": {
			given: []build.Option{build.Rollout(build.Rolling), build.Rollout(paused)}, now: 3000, phase: request.Executing, reason: request.Paused,
		},
		"workload gone": {
			given: []build.Option{noWorkload}, now: 30, phase: request.Failed, reason: request.TargetNotFound,
		},
		"workload being deleted": {
			given: []build.Option{func(s *model.Snapshot) { s.Workload.Deleting = true }}, now: 30, phase: request.Failed, reason: request.TargetNotFound,
		},
		"reverted, pods are fresh": {
			given: []build.Option{unstamped}, now: 30, phase: request.Succeeded, reason: request.RestartCompleted,
		},
		"reverted, pods are stale": {
			given: []build.Option{unstamped, stalePod}, now: 30, phase: request.Failed, reason: request.Reverted,
		},
		"reverted, still rolling": {
			given: []build.Option{unstamped, stalePod, build.Rollout(build.Rolling)}, now: 30, phase: request.Executing, reason: request.Restarting, until: 901,
		},
		"reverted, rolling without progress": {
			given: []build.Option{unstamped, stalePod, build.Rollout(build.Rolling)}, now: 904, phase: request.Failed, reason: request.RolloutTimeout,
		},
		"reverted, rolling past its deadline, stale": {
			given: []build.Option{unstamped, stalePod, build.Rollout(build.Rolling), build.Rollout(deadline)}, now: 30, phase: request.Failed, reason: request.Reverted,
		},
		"reverted and changed to OnDelete, stale": {
			given: []build.Option{unstamped, stalePod, build.Rollout(func(r *model.Rollout) { r.OnDelete = true })}, now: 30, phase: request.WaitingForRollout, reason: request.OnDelete,
		},
		"replaced by somebody else's restart, pods are fresh": {
			given: []build.Option{build.Stamped("kubectl-rollout", 20)}, now: 30, phase: request.Succeeded, reason: request.RestartCompleted,
		},
		"replaced by another restart of kick": {
			given: []build.Option{build.Stamped("kick", 20)}, now: 30, phase: request.Succeeded, reason: request.RestartCompleted,
		},
		"taken over with the same value": {
			given: []build.Option{func(s *model.Snapshot) { s.Workload.Stamp.Manager = "argocd-controller" }}, now: 30, phase: request.Succeeded, reason: request.RestartCompleted,
		},
		"partition: the others are stale": {
			given: []build.Option{build.Rollout(func(r *model.Rollout) { r.Replicas, r.Partition = 2, 1 }), build.Pod("web-1-a", build.Born, func(p *model.Pod) { p.Ordinal = 0 })},
			now:   30, phase: request.WaitingForRollout, reason: request.Partitioned,
		},
		"partition: the others are fresh": {
			given: []build.Option{build.Rollout(func(r *model.Rollout) { r.Replicas, r.Partition = 2, 1 }), build.Pod("web-1-a", 5, func(p *model.Pod) { p.Ordinal = 0 })},
			now:   30, phase: request.Succeeded, reason: request.RestartCompleted,
		},
		"changed to OnDelete meanwhile": {
			given: []build.Option{build.Rollout(func(r *model.Rollout) { r.OnDelete = true }), stalePod}, now: 30, phase: request.WaitingForRollout, reason: request.OnDelete,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := decide.Decide(executing(tt.given...), build.At(tt.now))
			if v.Phase != tt.phase || v.Decisive.Reason != tt.reason {
				t.Errorf("Decide() = %s (%s), want %s (%s)", v.Phase, v.Decisive.Reason, tt.phase, tt.reason)
			}
			wake := time.Time{}
			if tt.until != 0 {
				wake = build.At(tt.until)
			}
			if !v.WakeAt.Equal(wake) {
				t.Errorf("WakeAt = %v, want %v", v.WakeAt, wake)
			}
			if v.Action != decide.Status || !v.Valid() || !request.Legal(request.Executing, v.Phase) {
				t.Errorf("Action = %s, Valid = %v, legal = %v, want a legal status write", v.Action, v.Valid(), request.Legal(request.Executing, v.Phase))
			}
			if done := v.Status.CompletedAt.Equal(build.At(tt.now)); done != tt.phase.Terminal() {
				t.Errorf("CompletedAt = %v in phase %s", v.Status.CompletedAt, tt.phase)
			}
		})
	}
}

func TestARevertedRestartWithUnjudgeablePodsIsLookedAtAgain(t *testing.T) {
	v := decide.Decide(executing(unstamped, build.NoPods, build.Pod("web-1-a", -5), pendingPod), build.At(30))
	if v.Phase != request.Executing || v.WakeAt.IsZero() {
		t.Errorf("Decide() = %s, wake at %v, want Executing with a time to look again", v.Phase, v.WakeAt)
	}
}

func TestWhoTookOverIsNamed(t *testing.T) {
	tests := map[string]struct {
		given   []build.Option
		taken   bool
		manager string
	}{
		"nobody":                       {},
		"another restart":              {given: []build.Option{build.Stamped("kubectl-rollout", 20)}, taken: true, manager: "kubectl-rollout"},
		"another restart of kick":      {given: []build.Option{build.Stamped("kick", 20)}, taken: true, manager: "kick"},
		"another owner, the same time": {given: []build.Option{func(s *model.Snapshot) { s.Workload.Stamp.Manager = "argocd-controller" }}, taken: true, manager: "argocd-controller"},
		"the stamp was removed":        {given: []build.Option{unstamped}, taken: true},
		"a restart before what a person speaks of": {
			given: []build.Option{build.Request(request.Executing, driving, byHand, changedAt(20))},
		},
		"a person's restart, its revision is not to be seen": {
			given: []build.Option{build.Request(request.Executing, driving, byHand), func(s *model.Snapshot) { s.Revisions = nil }},
		},
		"a person's restart": {given: []build.Option{build.Request(request.Executing, driving, byHand)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := decide.Decide(executing(tt.given...), build.At(30)).Decisive
			if got.Taken != tt.taken || got.Manager != tt.manager {
				t.Errorf("taken = %v by %q, want %v by %q", got.Taken, got.Manager, tt.taken, tt.manager)
			}
		})
	}
}

// after applies a verdict to the snapshot as the cluster would. The API server's
// clock is that many seconds ahead of KICK's.
func after(s *model.Snapshot, v *decide.Verdict, ahead float64) {
	switch v.Action {
	case decide.Status:
		s.Request.Status = v.Status
	case decide.Stamp:
		build.Stamped("kick", v.StampAt.Sub(build.Start).Seconds())(s)
		s.Workload.Stamp.At = v.StampAt
		shift := time.Duration(ahead * float64(time.Second))
		made := &s.Revisions[len(s.Revisions)-1]
		made.Created = made.Created.Add(shift)
		s.Pods[0].Created = s.Pods[0].Created.Add(shift)
		build.Rollout(build.Rolling)(s)
		s.Workload.Rollout.Observed = false
	case decide.Open:
		build.Request("")(s)
	case decide.None:
	}
}

func complete(s *model.Snapshot) {
	s.Workload.Rollout = model.Rollout{Observed: true, Replicas: 1, Complete: true}
}

// A change is restarted for, the process dies after each write, and every
// following pass knows only what the cluster tells.
func TestARestartFromEndToEnd(t *testing.T) {
	tests := map[string]struct {
		given    []build.Option
		passes   []float64 // seconds of KICK's clock
		complete int       // before which pass the rollout is complete
		ahead    float64   // of the API server's clock
		want     []request.Phase
	}{
		"new request, open gate": {
			given: []build.Option{build.Request("")}, passes: []float64{0.3, 0.4, 1.3, 1.4}, complete: 3,
			want: []request.Phase{request.Executing, request.Executing, request.Executing, request.Succeeded},
		},
		"settles first": {
			given: []build.Option{build.Request(""), build.With(func(p *model.Policy) { p.SettleDelay = time.Second })}, passes: []float64{0.3, 1.3, 1.4, 2.4}, complete: 3,
			want: []request.Phase{request.WaitingForGate, request.Executing, request.Executing, request.Succeeded},
		},
		"settles first, kick's clock is behind the API server's": {
			given: []build.Option{
				func(s *model.Snapshot) { s.Dependencies[0].Record.History[1].Observed = build.At(-3.8) },
				build.Request(""), build.With(func(p *model.Policy) { p.SettleDelay = time.Second }),
			},
			passes: []float64{-3.7, -2.7, -2.6, -1.6}, complete: 3, ahead: 4,
			want: []request.Phase{request.WaitingForGate, request.Executing, request.Executing, request.Succeeded},
		},
		"reopened and stamped in one instant": {
			given:  []build.Option{build.Request(request.Succeeded, func(r *model.Request) { r.Status.LatestChange = build.At(-100) })},
			passes: []float64{0.3, 0.3, 0.3, 1.3}, complete: 3,
			want: []request.Phase{request.Pending, request.Executing, request.Executing, request.Succeeded},
		},
		"reopened, then the clock steps back": {
			given:  []build.Option{build.Request(request.Succeeded, func(r *model.Request) { r.Status.LatestChange = build.At(-100) })},
			passes: []float64{0.3, -60, -59.9, -50}, complete: 3,
			want: []request.Phase{request.Pending, request.Executing, request.Executing, request.Succeeded},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := build.Snapshot(append([]build.Option{build.Change("B", 0)}, tt.given...)...)
			for i, now := range tt.passes {
				if i == tt.complete {
					complete(s)
				}
				v := decide.Decide(s, build.At(now))
				if v.Phase != tt.want[i] {
					t.Fatalf("pass %d at %v: %s (%s), want %s", i, now, v.Phase, v.Decisive.Reason, tt.want[i])
				}
				after(s, &v, tt.ahead)
			}
			if got := s.Request.Status; got.RolloutRev != "web-2" || !got.RolloutStart.Equal(s.Workload.Stamp.At) {
				t.Errorf("status = %+v, want the rollout of revision web-2 and its stamp", got)
			}
			if v := decide.Decide(s, build.At(100)); v.Action != decide.None {
				t.Errorf("after the end: %s %s, want nothing to do", v.Action, v.Phase)
			}
		})
	}
}

// Proves: KICK-FEAT-005.
func TestAdoptAfterACrash(t *testing.T) {
	waiting := build.Request(request.WaitingForGate)
	tests := map[string]struct {
		given []build.Option
		want  request.Phase
	}{
		"our own stamp, the rollout runs":        {given: []build.Option{build.Stamped("kick", 1), waiting, build.Rollout(build.Rolling)}, want: request.Executing},
		"our own stamp, the rollout is complete": {given: []build.Option{build.Stamped("kick", 1), waiting}, want: request.Executing},
		"our own stamp, a window is shut now":    {given: []build.Option{build.Stamped("kick", 1), waiting, build.With(shutFor(time.Hour))}, want: request.Executing},
		"before the first status write":          {given: []build.Option{build.Stamped("kick", 1), build.Request("")}, want: request.Executing},
		"a stamp older than the change":          {given: []build.Option{build.Stamped("kick", 0.1), waiting}, want: request.Executing}, // restarts again
		"a stamp of somebody else":               {given: []build.Option{build.Stamped("kubectl-rollout", 1), waiting}, want: request.NoLongerRequired},
		"a stamp older than the request": {
			given: []build.Option{build.Stamped("kick", 1), build.Request(request.WaitingForGate, func(r *model.Request) { r.Status.OpenedAt = build.At(2) })},
			want:  request.NoLongerRequired,
		},
		"a stamp the status knows": {
			given: []build.Option{build.Stamped("kick", 1), build.Request(request.WaitingForGate, driving)}, want: request.NoLongerRequired,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := build.Snapshot(append([]build.Option{build.Change("B", 0)}, tt.given...)...)
			v := decide.Decide(s, build.At(30))
			if v.Phase != tt.want {
				t.Errorf("Decide() = %s (%s), want %s", v.Phase, v.Decisive.Reason, tt.want)
			}
			if v.Action == decide.Status && v.Phase == request.Executing && (!v.Status.RolloutStart.Equal(build.At(1)) || v.Status.RolloutGen != 2) {
				t.Errorf("status = %+v, want the stamp of second 1 at generation 2", v.Status)
			}
		})
	}
}

// A request that has been answered must not be restarted for the same change in a
// circle, whatever stands on the workload.
//
// Proves: KICK-FEAT-005, I6.
func TestNoCircleOfRestarts(t *testing.T) {
	tests := map[string]struct {
		given []build.Option
	}{
		"by hand": {given: []build.Option{build.Request("", byHand)}},
		"by hand, for a change far in the future": {
			given: []build.Option{build.Request("", byHand, func(r *model.Request) { r.ChangedAt = build.At(1e9) })},
		},
		"a change without a date": {
			given: []build.Option{build.Change("B", 0), func(s *model.Snapshot) {
				h := s.Dependencies[0].Record.History
				h[1].LastWrite, h[1].Written = build.At(-5000), build.At(5.25)
			}, build.Request("")},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := build.Snapshot(append(tt.given, build.With(func(p *model.Policy) { p.MinInterval = 30 * time.Second }))...)
			restarts := 0
			for now := 0.3; now < 3600; now += 2 {
				v := decide.Decide(s, build.At(now))
				if v.Action == decide.Stamp {
					restarts++
				}
				after(s, &v, 0)
				if v.Action != decide.Stamp {
					complete(s)
				}
			}
			if restarts > 1 {
				t.Errorf("%d restarts within an hour, want at most 1", restarts)
			}
		})
	}
}

func TestEvidenceOfTheBuilder(t *testing.T) {
	if got := freshness.Judge(executing(), build.At(30)).State; got != freshness.Fresh {
		t.Errorf("the restarted workload is %s, want fresh", got)
	}
}
