package decide_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/fingerprint"
	"github.com/corewire/kick/kick/model/request"
	"github.com/corewire/kick/kick/model/schedule"
)

// soon is when most passes here are made: long after any settle delay, long
// before any timeout.
const soon = 60

// never is a schedule with one allow window, on 29 February at midnight UTC.
func never(p *model.Policy) {
	s, err := schedule.Parse([]schedule.Window{{Cron: "0 0 29 2 *", Duration: time.Hour}})
	if err != nil {
		panic(err)
	}
	p.Schedule = s
}

func shutFor(d time.Duration) func(*model.Policy) {
	return func(p *model.Policy) {
		s, err := schedule.Parse([]schedule.Window{{Deny: true, Cron: "0 12 * * *", Duration: d}})
		if err != nil {
			panic(err)
		}
		p.Schedule = s
	}
}

func gate(g model.Gate) build.Option { return func(s *model.Snapshot) { s.Provider = g } }

func missing(s *model.Snapshot) { s.Dependencies[0].Source = model.Source{ID: build.DB} }

func requires(keyName string) build.Option {
	return func(s *model.Snapshot) { s.Dependencies[0].Uses[0].Keys = []string{keyName} }
}

func pendingPod(s *model.Snapshot) {
	s.Pods[0].Running, s.Pods[0].Pending, s.Pods[0].Containers = false, true, nil
}

func noPolicy(s *model.Snapshot) { s.Policies = nil }

func noWorkload(s *model.Snapshot) { s.Workload = nil }

func byHand(r *model.Request) { r.Manual = true }

func twoPolicies(s *model.Snapshot) {
	s.Policies = append(s.Policies, model.Policy{ID: model.Key{Kind: "KickPolicy", Namespace: "shop", Name: "other"}})
}

// blocked is a workload that would be restarted at once but for the options.
func blocked(options ...build.Option) *model.Snapshot {
	return build.Snapshot(append([]build.Option{build.Change("B", 0), build.Request(request.Pending)}, options...)...)
}

// Proves: KICK-FEAT-006, KICK-FEAT-007, KICK-FEAT-019, KICK-FEAT-020, KICK-FEAT-021, I5.
func TestEachRule(t *testing.T) {
	tests := map[string]struct {
		given  []build.Option
		now    float64
		phase  request.Phase
		reason request.Reason
		until  float64 // second of WakeAt; 0: none
		wakeOn []model.WakeOn
		action decide.Action
	}{
		"nothing stands against it": {
			phase: request.Executing, reason: request.Restarting, action: decide.Stamp, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"target: gone": {
			given: []build.Option{noWorkload}, phase: request.NoLongerRequired, reason: request.TargetNotFound,
		},
		"target: being deleted": {
			given: []build.Option{func(s *model.Snapshot) { s.Workload.Deleting = true }}, phase: request.NoLongerRequired, reason: request.TargetNotFound,
		},
		"target: gone, asked for by hand": {
			given: []build.Option{build.Request(request.Pending, byHand), noWorkload}, phase: request.Failed, reason: request.TargetNotFound,
		},
		"policy: none": {
			given: []build.Option{noPolicy}, phase: request.NoLongerRequired, reason: request.NoLongerManaged,
		},
		"policy: none, asked for by hand": {
			given: []build.Option{noPolicy, build.Request(request.Pending, byHand)}, phase: request.NoLongerRequired, reason: request.NoLongerManaged,
		},
		"policy: two": {
			given: []build.Option{twoPolicies}, phase: request.WaitingForGate, reason: request.PolicyConflict,
			wakeOn: []model.WakeOn{model.WakeOnPolicy, model.WakeOnWorkload},
		},
		"policy: suspended": {
			given: []build.Option{build.With(func(p *model.Policy) { p.Suspended = true })}, phase: request.WaitingForGate, reason: request.PolicySuspended,
			wakeOn: []model.WakeOn{model.WakeOnPolicy},
		},
		"asked: for a change that is still to come": {
			given: []build.Option{build.Request(request.Pending, byHand, changedAt(3600)), build.Pod("web-1-a", 5)}, phase: request.WaitingForGate, reason: request.NotYet,
			until: 3600, wakeOn: []model.WakeOn{model.WakeOnRequest},
		},
		"asked: for a change that is still to come, but a source has changed": {
			given: []build.Option{build.Request(request.Pending, byHand, changedAt(3600))}, phase: request.Executing, reason: request.Restarting,
			action: decide.Stamp, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"windows: deny": {
			given: []build.Option{build.With(shutFor(time.Hour))}, phase: request.WaitingForGate, reason: request.OutsideSchedule,
			until: 3600, wakeOn: []model.WakeOn{model.WakeOnPolicy},
		},
		"windows: no allow is open": {
			given: []build.Option{build.With(never)}, phase: request.WaitingForGate, reason: request.OutsideSchedule,
			until: time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC).Sub(build.Start).Seconds(), wakeOn: []model.WakeOn{model.WakeOnPolicy},
		},
		"windows: cannot be read": {
			given: []build.Option{build.With(func(p *model.Policy) { p.Invalid = "spec.schedule.windows[0]" })}, phase: request.WaitingForGate, reason: request.ConfigurationError,
			wakeOn: []model.WakeOn{model.WakeOnPolicy},
		},
		"provider: no owner": {
			given: []build.Option{gate(model.Gate{Reason: request.OwnerUnknown})}, phase: request.WaitingForOwner, reason: request.OwnerUnknown,
			wakeOn: []model.WakeOn{model.WakeOnPolicy},
		},
		"provider: several owners": {
			given: []build.Option{gate(model.Gate{Reason: request.AmbiguousOwner, WakeOn: []model.WakeOn{"owner"}})}, phase: request.WaitingForOwner, reason: request.AmbiguousOwner,
			wakeOn: []model.WakeOn{model.WakeOnPolicy, "owner"},
		},
		"provider: out of sync": {
			given: []build.Option{gate(model.Gate{Reason: request.OwnerOutOfSync})}, phase: request.WaitingForApplicationSync, reason: request.OwnerOutOfSync,
			wakeOn: []model.WakeOn{model.WakeOnPolicy},
		},
		"provider: reconciling": {
			given: []build.Option{gate(model.Gate{Reason: request.OwnerReconciling, WakeAt: build.At(90)})}, phase: request.WaitingForApplicationSync, reason: request.OwnerReconciling,
			until: 90, wakeOn: []model.WakeOn{model.WakeOnPolicy},
		},
		"provider: cannot be asked": {
			given: []build.Option{gate(model.Gate{Reason: request.ProviderUnavailable})}, phase: request.WaitingForGate, reason: request.ProviderUnavailable,
			wakeOn: []model.WakeOn{model.WakeOnPolicy},
		},
		"provider: its project cannot be read": {
			given: []build.Option{gate(model.Gate{Reason: request.ProjectUnknown})}, phase: request.WaitingForGate, reason: request.ProjectUnknown,
			wakeOn: []model.WakeOn{model.WakeOnPolicy},
		},
		"rollout: generation not observed": {
			given: []build.Option{build.Rollout(func(r *model.Rollout) { r.Observed, r.Rolling, r.Complete = false, true, false })},
			phase: request.WaitingForRollout, reason: request.RolloutInProgress, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"rollout: rolling": {
			given: []build.Option{build.Rollout(build.Rolling), func(s *model.Snapshot) { s.Revisions[0].Created = build.At(30) }},
			phase: request.WaitingForRollout, reason: request.RolloutInProgress, until: 30 + 900, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"rollout: rolling, a pod became ready since": {
			given: []build.Option{build.Rollout(build.Rolling), build.Pod("web-1-b", 40)},
			phase: request.WaitingForRollout, reason: request.RolloutInProgress, until: 43 + 900, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"rollout: rolling and paused": {
			given: []build.Option{build.Rollout(build.Rolling), build.Rollout(func(r *model.Rollout) { r.Paused = true })},
			phase: request.WaitingForRollout, reason: request.Paused, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"rollout: stuck since before the change": {
			given: []build.Option{build.Rollout(build.Rolling), build.Pod("web-1-a", build.Born)}, now: soon,
			phase: request.Executing, reason: request.Restarting, action: decide.Stamp, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"rollout: past its deadline since before the change": {
			given: []build.Option{build.Rollout(build.Rolling), build.Rollout(func(r *model.Rollout) { r.DeadlineExceeded = true }), build.Pod("web-1-b", 40), build.Pod("web-1-a", build.Born)},
			phase: request.Executing, reason: request.Restarting, action: decide.Stamp, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"rollout: stuck, but younger than the change": {
			given: []build.Option{
				build.Rollout(build.Rolling), build.Rollout(func(r *model.Rollout) { r.DeadlineExceeded = true }),
				func(s *model.Snapshot) { s.Revisions[0].Created = build.At(10) },
				build.Pod("web-0-a", build.Born, func(p *model.Pod) { p.Revision = "web-0" }),
			},
			phase: request.WaitingForRollout, reason: request.RolloutInProgress, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"freshness: fresh": {
			given: []build.Option{build.Pod("web-1-a", 5)}, phase: request.NoLongerRequired, reason: request.Fresh,
		},
		"freshness: nothing runs": {
			given: []build.Option{build.NoPods}, phase: request.NoLongerRequired, reason: request.NotRunning,
		},
		"strategy: paused": {
			given: []build.Option{build.Rollout(func(r *model.Rollout) { r.Paused = true })},
			phase: request.WaitingForRollout, reason: request.Paused, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"strategy: paused and fresh": {
			given: []build.Option{build.Rollout(func(r *model.Rollout) { r.Paused = true }), build.Pod("web-1-a", 5)},
			phase: request.NoLongerRequired, reason: request.Fresh,
		},
		"strategy: OnDelete": {
			given: []build.Option{build.Rollout(func(r *model.Rollout) { r.OnDelete = true })},
			phase: request.WaitingForRollout, reason: request.OnDelete, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"strategy: OnDelete, somebody deleted the pods": {
			given: []build.Option{build.Rollout(func(r *model.Rollout) { r.OnDelete = true }), build.Pod("web-1-a", 5)},
			phase: request.NoLongerRequired, reason: request.Fresh,
		},
		"strategy: partition covers all": {
			given: []build.Option{build.Rollout(func(r *model.Rollout) { r.Partition = 1 })},
			phase: request.WaitingForRollout, reason: request.Partitioned, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"strategy: only pods below the partition": {
			given: []build.Option{
				build.Rollout(func(r *model.Rollout) { r.Replicas, r.Partition = 2, 1 }),
				build.Pod("web-1-a", build.Born, func(p *model.Pod) { p.Ordinal = 0 }), build.Pod("web-1-b", 5, func(p *model.Pod) { p.Ordinal = 1 }),
			},
			phase: request.WaitingForRollout, reason: request.Partitioned, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"settling": {
			given: []build.Option{build.With(func(p *model.Policy) { p.SettleDelay = 10 * time.Second })}, now: 1,
			phase: request.WaitingForGate, reason: request.Settling, until: 10.25, wakeOn: []model.WakeOn{model.WakeOnLedger},
		},
		"settling: quiet for long enough": {
			given: []build.Option{build.With(func(p *model.Policy) { p.SettleDelay = 10 * time.Second })}, now: 10.25,
			phase: request.Executing, reason: request.Restarting, action: decide.Stamp, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"settling: never longer than ten delays": {
			given: []build.Option{build.With(func(p *model.Policy) { p.SettleDelay = 10 * time.Second }), build.Change("C", 99)}, now: 99.5,
			phase: request.WaitingForGate, reason: request.Settling, until: 100, wakeOn: []model.WakeOn{model.WakeOnLedger},
		},
		"settling: ten delays are over": {
			given: []build.Option{build.With(func(p *model.Policy) { p.SettleDelay = 10 * time.Second }), build.Change("C", 99)}, now: 100,
			phase: request.Executing, reason: request.Restarting, action: decide.Stamp, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"settling: also before the first status write": {
			given: []build.Option{build.With(func(p *model.Policy) { p.SettleDelay = 500 * time.Millisecond }), build.Request("")}, now: 0.5,
			phase: request.WaitingForGate, reason: request.Settling, until: 0.75, wakeOn: []model.WakeOn{model.WakeOnLedger},
		},
		"sources: missing": {
			given: []build.Option{missing}, phase: request.WaitingForGate, reason: request.SourceMissing,
			wakeOn: []model.WakeOn{model.WakeOnSource, model.WakeOnWorkload},
		},
		"sources: back, but not on record yet": {
			given: []build.Option{func(s *model.Snapshot) {
				r := s.Dependencies[0].Record
				r.History = append(r.History, model.Content{Seal: fingerprint.Absent, Observed: build.At(1), Written: build.At(1)})
				s.Dependencies[0].InScope, s.Dependencies[0].Unrecorded = false, true
				build.Reads(build.Flags, build.Env())(s)
				s.Dependencies[1].Record.History = append(s.Dependencies[1].Record.History, build.Content("B", 0))
			}},
			phase: request.WaitingForGate, reason: request.Settling, wakeOn: []model.WakeOn{model.WakeOnLedger, model.WakeOnSource},
		},
		"sources: another content stands than is on record": {
			given: []build.Option{func(s *model.Snapshot) { s.Dependencies[0].Unrecorded = true }},
			phase: request.WaitingForGate, reason: request.Settling, wakeOn: []model.WakeOn{model.WakeOnLedger, model.WakeOnSource},
		},
		"sources: another content stands out of scope": {
			given: []build.Option{func(s *model.Snapshot) {
				build.Reads(build.Flags, build.Env())(s)
				s.Dependencies[1].InScope, s.Dependencies[1].Unrecorded = false, true
			}},
			phase: request.Executing, reason: request.Restarting, action: decide.Stamp, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"sources: missing out of scope": {
			given: []build.Option{func(s *model.Snapshot) {
				build.Reads(build.Flags, build.Env())(s)
				s.Dependencies[1].InScope, s.Dependencies[1].Source = false, model.Source{ID: build.Flags}
			}},
			phase: request.WaitingForGate, reason: request.SourceMissing, wakeOn: []model.WakeOn{model.WakeOnSource, model.WakeOnWorkload},
		},
		"sources: key missing": {
			given: []build.Option{requires("token")}, phase: request.WaitingForGate, reason: request.SourceMissing,
			wakeOn: []model.WakeOn{model.WakeOnSource, model.WakeOnWorkload},
		},
		"sources: key there": {
			given: []build.Option{requires("password")}, phase: request.Executing, reason: request.Restarting, action: decide.Stamp, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"sources: optional missing": {
			given: []build.Option{build.Reads(build.DB, build.Optional(build.Env())), build.Change("absent", 0), missing},
			phase: request.Executing, reason: request.Restarting, action: decide.Stamp, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"dry run": {
			given: []build.Option{build.With(func(p *model.Policy) { p.DryRun = true })}, phase: request.DryRun, reason: request.DryRunOnly,
		},
		"interval": {
			given: []build.Option{build.With(func(p *model.Policy) { p.MinInterval = 10 * time.Minute }), lastRestart(-60)},
			phase: request.WaitingForGate, reason: request.RateLimited, until: 540, wakeOn: []model.WakeOn{model.WakeOnPolicy},
		},
		"interval: over": {
			given: []build.Option{build.With(func(p *model.Policy) { p.MinInterval = 10 * time.Minute }), lastRestart(-540)},
			phase: request.Executing, reason: request.Restarting, action: decide.Stamp, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
		"interval: a restart of somebody else does not count": {
			given: []build.Option{build.With(func(p *model.Policy) { p.MinInterval = 10 * time.Minute }), func(s *model.Snapshot) {
				s.Workload.Stamp = model.Stamp{Raw: "x", At: build.At(-60), Manager: "kubectl-rollout"}
			}},
			phase: request.Executing, reason: request.Restarting, action: decide.Stamp, wakeOn: []model.WakeOn{model.WakeOnWorkload},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			now := build.At(soon)
			if tt.now != 0 {
				now = build.At(tt.now)
			}
			v := decide.Decide(blocked(tt.given...), now)
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
			if diff := cmp.Diff(tt.wakeOn, v.WakeOn); diff != "" {
				t.Errorf("WakeOn (-want +got):\n%s", diff)
			}
			action := decide.Status
			if tt.action != "" {
				action = tt.action
			}
			if v.Action != action || !v.Valid() {
				t.Errorf("Action = %s, Valid = %v, want %s, true", v.Action, v.Valid(), action)
			}
		})
	}
}

// lastRestart says that an earlier episode ended with a restart at that second.
func lastRestart(at float64) build.Option {
	return func(s *model.Snapshot) { s.Request.Status.RolloutStart = build.At(at) }
}

// A pod that has not started may start with old content at any moment, and
// nothing of its workload's status has to move then.
func TestPodsThatHaveNotStartedAreLookedAtAgain(t *testing.T) {
	v := decide.Decide(blocked(pendingPod, build.Pod("web-1-a", -30), pendingPod), build.At(soon))
	if v.Phase != request.WaitingForRollout || v.Decisive.Reason != request.PodsNotStarted {
		t.Fatalf("Decide() = %s (%s), want WaitingForRollout (PodsNotStarted)", v.Phase, v.Decisive.Reason)
	}
	if want := build.At(soon).Add(15 * time.Second); !v.WakeAt.Equal(want) {
		t.Errorf("WakeAt = %v, want %v: no event tells when a pod starts", v.WakeAt, want)
	}
	for age, after := range map[time.Duration]time.Duration{0: 10 * time.Second, 3 * time.Minute: 30 * time.Second, 18 * time.Minute: 3 * time.Minute, 48 * time.Hour: 5 * time.Minute} {
		s := blocked(pendingPod, build.Pod("web-1-a", -30), pendingPod)
		now := s.Pods[len(s.Pods)-1].Created.Add(age)
		if v := decide.Decide(s, now); !v.WakeAt.Equal(now.Add(after)) {
			t.Errorf("a pod that has waited for %v is looked at again after %v, want %v", age, v.WakeAt.Sub(now), after)
		}
	}
}

// The blocks in their order; each one is lifted in turn and the next one must
// name the phase.
func TestOrderOfRules(t *testing.T) {
	blocks := []struct {
		reason request.Reason
		set    build.Option
		lift   build.Option
	}{
		{request.PolicySuspended, build.With(func(p *model.Policy) { p.Suspended = true }), build.With(func(p *model.Policy) { p.Suspended = false })},
		{request.ConfigurationError, build.With(func(p *model.Policy) { p.Invalid = "x" }), build.With(func(p *model.Policy) { p.Invalid = "" })},
		{request.OutsideSchedule, build.With(shutFor(time.Hour)), build.With(func(p *model.Policy) { p.Schedule = schedule.Schedule{} })},
		{request.OwnerOutOfSync, gate(model.Gate{Reason: request.OwnerOutOfSync}), gate(model.Gate{Open: true})},
		{request.RolloutInProgress, build.Rollout(build.Rolling), build.Rollout(func(r *model.Rollout) { r.Rolling, r.Complete = false, true })},
		{request.Fresh, build.Pod("web-1-a", 5), build.Pod("web-1-a", build.Born)},
		{request.OnDelete, build.Rollout(func(r *model.Rollout) { r.OnDelete = true }), build.Rollout(func(r *model.Rollout) { r.OnDelete = false })},
		{request.Settling, build.With(func(p *model.Policy) { p.SettleDelay = time.Hour }), build.With(func(p *model.Policy) { p.SettleDelay = 0 })},
		{request.SourceMissing, missing, func(s *model.Snapshot) { s.Dependencies[0].Source.Present = true }},
		{request.DryRunOnly, build.With(func(p *model.Policy) { p.DryRun = true }), build.With(func(p *model.Policy) { p.DryRun = false })},
		{request.RateLimited, build.With(func(p *model.Policy) { p.MinInterval = time.Hour }), build.With(func(p *model.Policy) { p.MinInterval = 0 })},
	}
	s := blocked(lastRestart(-10), func(s *model.Snapshot) { s.Revisions[0].Created = build.At(-1) })
	for _, b := range blocks {
		b.set(s)
	}
	for _, b := range blocks {
		if got := decide.Decide(s, build.At(soon)).Decisive.Reason; got != b.reason {
			t.Errorf("reason = %s, want %s", got, b.reason)
		}
		b.lift(s)
	}
	if v := decide.Decide(s, build.At(soon)); v.Action != decide.Stamp {
		t.Errorf("with every block lifted: %s (%s), want a restart", v.Phase, v.Decisive.Reason)
	}
}
