package decide

import (
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/freshness"
	"github.com/corewire/kick/kick/model/request"
)

// restarted reports whether the workload carries a restart that answers this
// request and that its status does not know of: what a crash after the patch
// leaves behind. An older stamp, or somebody else's, is evidence like any other.
func restarted(f *facts) bool {
	if f.Workload == nil || f.Request.Status.Phase == request.Executing {
		return false
	}
	s := f.Workload.Stamp
	if f.inPlace() != nil {
		return s.ByKick() && f.answeredBy(s.At)
	}
	if rev := freshness.Wanted(f.Revisions); f.Request.Manual && rev != nil && rev.Created.Before(f.Request.ChangeTime().Truncate(time.Second)) {
		return false // an earlier restart; the request's own times are another clock's
	}
	return s.ByKick() && !s.At.Before(f.latest) && s.At.After(f.openedAt()) && !s.At.Equal(f.Request.Status.RolloutStart)
}

// watching is the step of a restart that is under way.
func watching(target model.Key, since time.Time) Step {
	return Step{
		Rule: "restart", Outcome: Watch, Phase: request.Executing, Reason: request.Restarting,
		Object: target, At: since, wakeOn: []model.WakeOn{model.WakeOnWorkload},
	}
}

// watch follows the rollout that KICK started. No gate is asked: what is begun is
// seen through.
func watch(f *facts) Step {
	s := watching(f.Target, f.Request.Status.RolloutStart)
	if f.Workload == nil || f.Workload.Deleting {
		s.Outcome, s.Phase, s.Reason = End, request.Failed, request.TargetNotFound
		return s
	}
	s.Detail = f.Workload.Rollout.Detail
	f.warn(&s)
	if !f.stampStands() {
		return f.watchReverted(s)
	}
	return f.watchOwn(s)
}

// stampStands reports whether the stamp the request drives is still in place.
func (f *facts) stampStands() bool {
	s := f.Workload.Stamp
	return s.ByKick() && s.At.Equal(f.Request.Status.RolloutStart)
}

// watchOwn is the ordinary case: the rollout of our own stamp.
func (f *facts) watchOwn(s Step) Step {
	switch r := f.Workload.Rollout; {
	case r.InPlace != nil:
		return f.watchInPlace(s)
	case !r.Observed:
	case r.Complete && r.Partition == 0 && !r.OnDelete:
		s.Outcome, s.Phase, s.Reason = End, request.Succeeded, request.RestartCompleted
	case r.Complete:
		return f.watchPartial(s)
	case r.Paused:
		s.Reason = request.Paused
	case r.DeadlineExceeded:
		s.Outcome, s.Phase, s.Reason = End, request.Failed, request.ProgressDeadlineExceeded
	default:
		end, over := f.deadline(f.lastProgress(f.ownBegan()))
		s.look = end
		if over {
			s.look = time.Time{}
			s = f.timedOut(s)
		}
	}
	return s
}

// watchPartial is a rollout that its strategy lets reach only some pods. It has
// succeeded only if the others are fresh as well.
func (f *facts) watchPartial(s Step) Step {
	if f.evidence.State == freshness.Fresh {
		s.Outcome, s.Phase, s.Reason = End, request.Succeeded, request.RestartCompleted
		return s
	}
	s.Outcome, s.Phase, s.Reason, s.Pod = Wait, request.WaitingForRollout, request.Partitioned, f.evidence.Pod
	if f.Workload.Rollout.OnDelete {
		s.Reason = request.OnDelete
	}
	return s
}

// watchReverted: the stamp is gone or is another's. Whoever took over is asked no
// questions; once the rollout is over the pods tell whether they are fresh.
func (f *facts) watchReverted(s Step) Step { //nolint:cyclop // one case an outcome
	s.Manager, s.Taken = f.Workload.Stamp.Manager, true
	r := f.Workload.Rollout
	if !r.Observed || r.Rolling && !r.DeadlineExceeded {
		switch end, over := f.deadline(f.lastProgress(f.ownBegan())); {
		case !over:
			s.look = end
		case r.Observed && !r.Paused: // else the workload's next event tells more
			s = f.timedOut(s)
		}
		return s
	}
	s.Pod, s.Since = f.evidence.Pod, f.evidence.Since
	switch f.evidence.State {
	case freshness.Fresh:
		s.Outcome, s.Phase, s.Reason = End, request.Succeeded, request.RestartCompleted
	case freshness.Stale:
		if r.OnDelete || f.evidence.Below { // no stamp would have reached them
			return f.watchPartial(s)
		}
		s.Outcome, s.Phase, s.Reason = End, request.Failed, request.Reverted
	case freshness.Unknown:
		s.look = f.lookAtPods()
	}
	return s
}
