package decide

import (
	"cmp"
	"slices"
	"time"

	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/freshness"
	"github.com/corewire/kick/kick/model/request"
)

// late is how long after a restart it is found at the latest if nothing went wrong;
// only a mark depends on it.
const late = 2 * time.Second

// maxCauses is how many changed sources a request's status names.
const maxCauses = 16

// Decide judges one workload. now is KICK's clock in microseconds; the snapshot
// must hold the pods if NeedPods asked for them.
func Decide(s *model.Snapshot, now time.Time) Verdict {
	if s.Request == nil {
		return withoutRequest(s, now)
	}
	f := newFacts(s, now)
	v := judge(f)
	note(f, &v)
	if s.Turn.After(now) && (v.WakeAt.IsZero() || s.Turn.Before(v.WakeAt)) {
		v.WakeAt = s.Turn
	}
	return v
}

func judge(f *facts) Verdict {
	switch st := f.Request.Status; {
	case st.Phase.Terminal():
		return finished(f)
	case st.Phase == request.Executing:
		return f.verdict(watch(f))
	case restarted(f):
		return f.adopt()
	}
	trail, decisive := ask(f)
	v := f.verdict(*decisive)
	v.Trail = trail
	if decisive.Outcome == Act {
		v.Action, v.StampAt = Stamp, f.stamp()
	}
	return v
}

// NeedPods reports whether a judgement of this snapshot depends on the pods, so
// that gather lists them only then.
func NeedPods(s *model.Snapshot, now time.Time) bool {
	executing := s.Request.Executing()
	if s.Workload == nil || len(s.Policies) == 0 && !executing { // what is begun is seen through
		return false
	}
	if f := newProgress(s, now); f != nil && f.mayBeStuck() {
		return true
	}
	r := s.Workload.Rollout
	switch {
	case !r.Observed || r.Rolling:
		return false // nothing is judged until that is over
	case executing:
		f := facts{Snapshot: s, now: now}
		return partial(&r) || !f.stampStands()
	}
	return freshness.NeedPods(s, now)
}

// partial reports that the controller's counts do not tell which pods are new.
func partial(r *model.Rollout) bool { return r.Partition > 0 || r.OnDelete || r.InPlace != nil }

// NeedProvider reports whether a judgement of this snapshot depends on what the GitOps
// tool says: a request is open, and one policy alone applies.
func NeedProvider(s *model.Snapshot) bool {
	if s.Workload == nil || s.Request == nil || len(s.Policies) != 1 || s.Policies[0].Provider == "" {
		return false
	}
	return !s.Request.Status.Phase.Terminal() && !s.Request.Executing()
}

// newProgress returns facts to judge a running rollout's progress by, or nil when
// none runs.
func newProgress(s *model.Snapshot, now time.Time) *facts {
	r := s.Workload.Rollout
	if !r.Observed && r.InPlace == nil || !r.Rolling && (!s.Request.Executing() || r.Complete) {
		return nil
	}
	return &facts{Snapshot: s, now: now}
}

// mayBeStuck reports whether only the pods can tell if the rollout still moves.
func (f *facts) mayBeStuck() bool {
	began := f.rolloutBegan()
	if f.Request.Executing() {
		began = f.ownBegan()
	}
	_, over := f.deadline(began)
	return over || f.Workload.Rollout.DeadlineExceeded || f.stalled(began)
}

// withoutRequest decides whether a workload gets a request. The trail is that of
// a request opened now, so that a plan can be explained before it is one.
func withoutRequest(s *model.Snapshot, now time.Time) Verdict {
	supposed := *s
	supposed.Request = &model.Request{ID: s.Target, Created: now}
	f := newFacts(&supposed, now)
	v := Verdict{Action: None}
	v.Trail, v.Decisive = ask(f)
	if needed(f) {
		v.Action, v.Phase = Open, request.Pending
	}
	v.WakeAt = v.Decisive.wakeAt()
	return v
}

// finished decides whether a terminal request starts again.
func finished(f *facts) Verdict {
	v := Verdict{Phase: f.Request.Status.Phase, Action: None}
	v.Trail, v.Decisive = ask(f)
	if !reopens(f) {
		v.WakeAt = f.Request.Ahead(f.now)
		return v
	}
	step := Step{Rule: "reopen", Outcome: Pass, Phase: request.Pending, Reason: request.Opened, Object: f.evidence.Source, At: cmp.Or(f.latest, f.evidence.Changed)}
	st := f.status(step)
	st.OpenedAt, st.CompletedAt, st.RequeueAt = f.now, time.Time{}, time.Time{}
	st.Overridden, st.OverriddenAt = "", time.Time{}
	return Verdict{Phase: request.Pending, Action: Status, Status: st, Decisive: &step, Trail: v.Trail}
}

// adopt writes down a restart that was found on the workload.
func (f *facts) adopt() Verdict {
	s := watching(f.Target, f.Workload.Stamp.At)
	f.warn(&s)
	v := f.verdict(s)
	v.Status.RolloutStart, v.Status.RolloutRev = f.Workload.Stamp.At, ""
	v.Status.RolloutGen = f.Workload.Generation
	v.Status.CompletedAt = time.Time{}
	v.Action = Status
	if f.now.Sub(f.stampedAt(f.Workload.Stamp.At)) > late {
		mark.Hit(mark.RestartFoundLate)
	}
	return v
}

// verdict is the answer that follows from the decisive step.
func (f *facts) verdict(step Step) Verdict {
	st := f.status(step)
	v := Verdict{
		Phase: step.Phase, Action: Status, Status: st, Decisive: &step, Trail: []Step{step},
		WakeAt: step.wakeAt(), WakeOn: slices.Clone(step.wakeOn),
	}
	if executed := f.Request.Status.Phase == request.Executing; executed && step.Outcome == End {
		if rev := freshness.Wanted(f.Revisions); rev != nil {
			v.Status.RolloutRev = rev.Name
		}
	}
	return v
}

// status is the request's status as the step leaves it.
func (f *facts) status(step Step) model.RequestStatus {
	st := f.Request.Status
	st.Phase, st.Reason, st.RequeueAt = step.Phase, step.Reason, time.Time{}
	if step.Phase.Waiting() {
		st.RequeueAt = step.Until
	}
	if st.OpenedAt.IsZero() {
		st.OpenedAt = f.created()
	}
	if f.latest.After(st.LatestChange) {
		st.LatestChange = f.latest
	}
	if st.Phase != request.Executing && f.Request.Status.Phase != request.Executing || len(st.Causes) == 0 {
		st.Causes = f.answers()
	}
	if step.Phase.Terminal() && st.CompletedAt.IsZero() {
		st.CompletedAt = f.now
	}
	f.override(&st, &step)
	return st
}

// answers are the changes that the episode is about, newest first: those since the
// last restart, or if there are none the newest one.
func (f *facts) answers() []model.Cause {
	all := slices.Clone(f.causes)
	slices.SortFunc(all, func(a, b model.Cause) int {
		return cmp.Or(b.ChangedAt.Compare(a.ChangedAt), cmp.Compare(a.Source.String(), b.Source.String()))
	})
	since := 0
	for since < len(all) && since < maxCauses && all[since].ChangedAt.After(f.Request.Status.RolloutStart) {
		since++
	}
	return all[:min(max(since, 1), len(all))]
}

// Refused is the verdict after the API server turned a restart down for good.
func Refused(s *model.Snapshot, now time.Time, why string) Verdict {
	f := newFacts(s, now)
	step := wait(request.WaitingForGate, request.PatchRejected, model.WakeOnWorkload, model.WakeOnPolicy)
	step.Rule, step.Object, step.Detail = "restart", f.Target, why
	v := f.verdict(step)
	note(f, &v)
	return v
}
