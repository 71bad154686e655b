package decide

import (
	"time"

	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/freshness"
	"github.com/corewire/kick/kick/model/request"
)

// rollout: while pods of another revision are coming or going nothing can be
// judged. A rollout that began before the change and is stuck does not count: the
// change may be its cure.
func rollout(f *facts) Step {
	if f.Workload == nil {
		return Step{Outcome: Pass}
	}
	r := f.Workload.Rollout
	if r.Observed && !r.Rolling {
		return Step{Outcome: Pass, Object: f.Target, Detail: r.Detail}
	}
	if s, held := f.held(); held {
		return s
	}
	stuck, next := f.stuck()
	if stuck && f.beganBeforeChange() {
		mark.Hit(mark.StuckRolloutOverruled)
		return Step{Outcome: Pass, Object: f.Target, Detail: "the running rollout is stuck and older than the change"}
	}
	s := wait(request.WaitingForRollout, request.RolloutInProgress, model.WakeOnWorkload)
	s.Object, s.Detail = f.Target, r.Detail
	if !stuck {
		s.look = next
	}
	return s
}

// stuck reports whether the running rollout has failed: its own deadline passed,
// or nothing of it moved for the rollout timeout. Otherwise it says when to look
// again.
func (f *facts) stuck() (bool, time.Time) {
	if f.Workload.Rollout.DeadlineExceeded {
		return true, time.Time{}
	}
	began := f.rolloutBegan()
	if began.IsZero() || !f.Workload.Rollout.Observed {
		return false, time.Time{}
	}
	end, over := f.deadline(f.lastProgress(began))
	return over, end
}

// rolloutBegan is when the wanted revision was made; zero: not made yet.
func (f *facts) rolloutBegan() time.Time {
	if in := f.inPlace(); in != nil && in.Pending {
		return f.Workload.Stamp.At
	}
	if rev := freshness.Wanted(f.Revisions); rev != nil {
		return rev.Created
	}
	return time.Time{}
}

// ownBegan is when the rollout of KICK's own stamp began, API server's clock. The
// stamp itself is KICK's clock, as it stands now against the server's; it counts
// where no revision carries it, or not any more.
func (f *facts) ownBegan() time.Time {
	if f.inPlace() != nil {
		return f.Request.Status.RolloutStart
	}
	if began := f.rolloutBegan(); !began.IsZero() && f.stampStands() {
		return began
	}
	return f.Request.Status.RolloutStart.Add(f.Server(f.now).Sub(f.now))
}

// lastProgress is the newest sign of life of the running rollout: its begin, its
// resumption, or a pod of the wanted revision that was made or became ready.
func (f *facts) lastProgress(began time.Time) time.Time {
	last, rev := began, freshness.Wanted(f.Revisions)
	if rev != nil && rev.Created.After(last) {
		last = rev.Created
	}
	if resumed := f.Workload.Rollout.Resumed; resumed.After(last) {
		last = resumed
	}
	for i := range f.Pods {
		p := &f.Pods[i]
		if rev == nil || p.Revision != rev.Name {
			continue
		}
		for _, t := range []time.Time{p.Created, p.ReadySince} {
			if t.After(last) {
				last = t
			}
		}
	}
	return last
}

// beganBeforeChange reports whether the wanted revision predates the newest
// change, so that its pods may have read what stood before.
func (f *facts) beganBeforeChange() bool {
	began := f.rolloutBegan()
	for i := range f.Dependencies {
		d := &f.Dependencies[i]
		if d.Record == nil || !d.InScope {
			continue
		}
		if h := d.Record.HistoryFor(d.Required()); len(h) > 0 && !began.After(h[len(h)-1].Written) {
			return true
		}
	}
	return f.Request != nil && f.Request.Manual && !began.After(f.Request.ChangeTime())
}

// lookAtPods is when pods that have not started are looked at again: that one of them
// starts and is not ready shows in nothing that is watched. One that has waited for
// long is looked at less often.
func (f *facts) lookAtPods() time.Time {
	var youngest time.Time
	for i := range f.Pods {
		if f.Pods[i].Pending {
			youngest = model.Later(youngest, f.Pods[i].Created)
		}
	}
	return f.now.Add(model.Patience(f.now.Sub(youngest), 10*time.Second, 5*time.Minute))
}

// fresh: a workload whose pods all carry the current content needs nothing.
func fresh(f *facts) Step {
	e := f.evidence
	s := Step{Outcome: Pass, Reason: e.Reason, Object: e.Source, At: e.Changed, Pod: e.Pod, Since: e.Since}
	if f.Workload == nil {
		return s
	}
	switch e.State {
	case freshness.Fresh:
		s.Outcome, s.Phase = End, request.NoLongerRequired
	case freshness.Unknown:
		s.Outcome, s.Phase = Wait, request.WaitingForRollout
		s.wakeOn = []model.WakeOn{model.WakeOnWorkload, model.WakeOnSource}
		s.look = f.lookAtPods()
	case freshness.Stale:
	}
	return s
}

// strategy: a stamp must be able to replace the stale pods. Where it cannot, KICK
// says who can, at once, and patches nothing.
func strategy(f *facts) Step {
	if f.Workload == nil {
		return Step{Outcome: Pass}
	}
	reason := request.Reason("")
	switch r := f.Workload.Rollout; {
	case f.Workload.RunBy != (model.Key{}):
		return f.runByAnother()
	case r.Paused:
		reason = request.Paused
	case r.OnDelete:
		reason = request.OnDelete
	case f.evidence.Below, r.Partition > 0 && r.Partition >= r.Replicas:
		reason = request.Partitioned
	default:
		return Step{Outcome: Pass, Object: f.Target}
	}
	s := wait(request.WaitingForRollout, reason, model.WakeOnWorkload)
	s.Object = f.Target
	return s
}
