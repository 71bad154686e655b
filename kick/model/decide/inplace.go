package decide

import (
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/freshness"
	"github.com/corewire/kick/kick/model/request"
)

// What is particular to workloads whose restart replaces pods in place
// (docs/decisions/0016). Their stamp is whole seconds of the API server's clock, and
// never later than that: pods created before it go.

// stallNotice is how long such a restart may make no progress before its request says
// what holds it up. Argo Rollouts tries an eviction again every 30 seconds.
const stallNotice = time.Minute

// blur is how much later than its stamp such a restart may have been made: the stamp is
// cut to the second, and the API server's clock is known to the second.
const blur = 2 * time.Second

// inPlace is nil for workloads that are restarted by a new revision.
func (f *facts) inPlace() *model.InPlace {
	if f.Workload == nil {
		return nil
	}
	return f.Workload.Rollout.InPlace
}

// SinglePod warns of a restart in place that interrupts the service.
const SinglePod = "its one pod goes before the new one is up"

// warn says of a restart that is under way what a person might not expect of it.
func (f *facts) warn(s *Step) {
	if f.inPlace() != nil && f.Workload.Rollout.Replicas == 1 {
		s.Detail = SinglePod
	}
}

// stampedAt is the time of a stamp as KICK's clock shows it, to the second that the API
// server's clock is known to: nothing that a status tells may depend on it.
func (f *facts) stampedAt(stamp time.Time) time.Time {
	if f.inPlace() == nil || stamp.IsZero() {
		return stamp
	}
	return f.shown(stamp)
}

// proves reports whether pods created at a stamp or later have read every change there
// is on record.
func (f *facts) proves(stamp time.Time) bool {
	return stamp.After(freshness.Written(f.Snapshot, f.now))
}

// answeredBy reports whether a stamp of KICK's answers this request: it proves every
// change, was made after the opening, to the second, and no status tells of it. An opening
// that is still to come is what KICK's clock left when it was set back: it tells nothing.
func (f *facts) answeredBy(stamp time.Time) bool {
	opened := f.openedAt()
	return f.proves(stamp) && !stamp.Equal(f.Request.Status.RolloutStart) &&
		(opened.After(f.now) || !f.stampedAt(stamp).Add(time.Second).Before(opened))
}

// secondOver waits until the API server's clock shows a second that is later than every
// change and than the last stamp. Only then does a stamp that is not in the future
// tell the pods that read the old content from those that did not.
func (f *facts) secondOver() Step {
	s := Step{Outcome: Pass, At: f.latest}
	if f.inPlace() == nil {
		return s
	}
	server := f.Server(f.now)
	due := freshness.Written(f.Snapshot, f.now)
	if last := f.Workload.Stamp.At; !last.After(server) {
		due = model.Later(due, last)
	}
	due = due.Truncate(time.Second).Add(time.Second)
	if !server.Before(due) {
		return s
	}
	s = wait(request.WaitingForGate, request.Settling, model.WakeOnLedger)
	s.At, s.Detail = f.latest, "a restart is dated in whole seconds, and that of the change is not over"
	s.look = f.now.Add(due.Sub(server)) // not told: the API server's clock is known to the second only
	return s
}

// held is the wait for a workload that is kept from a restart, or in whose way one would
// be, for as long as it takes.
func (f *facts) held() (Step, bool) {
	r := f.Workload.Rollout
	s := wait(request.WaitingForRollout, request.Paused, model.WakeOnWorkload)
	s.Object, s.Detail = f.Target, r.Detail
	in := r.InPlace
	switch {
	case !r.Observed:
		return s, false
	case in == nil:
		s.Detail = ""
	case in.Invalid != "":
		s.Reason, s.Detail = request.RolloutInvalid, in.Invalid
		return s, true
	case in.Aborted:
		s.Reason = request.RolloutAborted
		return s, true
	case in.Updating && !r.Paused:
		s.Reason = request.UpdateInProgress
		return s, true
	case in.Pending && f.Workload.Stamp.At.Sub(f.Server(f.now)) > f.Settings.ClockAllowance:
		s.Reason, s.Until = request.RestartScheduled, f.Workload.Stamp.At // as the workload has it, the API server's clock
		s.look = f.now.Add(s.Until.Sub(f.Server(f.now)))
		return s, true
	}
	return s, r.Paused
}

// runByAnother: a stamp in a template that another workload runs would be an update of
// that, a canary from its first step.
func (f *facts) runByAnother() Step {
	s := wait(request.WaitingForRollout, request.RunByRollout, model.WakeOnWorkload)
	s.Object, s.Detail = f.Target, f.Workload.RunBy.String()
	return s
}

// watchInPlace follows a restart whose stamp stands. That its controller has dealt with
// the stamp proves nothing: it also does so where an update made it drop the restart. Nor
// does a complete status without the pods: it may count those that were there before the
// last eviction, as a blue-green restart is noted by the very pass that takes the last old
// pod down.
func (f *facts) watchInPlace(s Step) Step {
	r := f.Workload.Rollout
	if !r.Observed || r.InPlace.Pending {
		return f.watchPending(s)
	}
	early := r.Complete && f.PodsListed && f.serving() < int(r.Replicas)
	if r.Complete && !early {
		if noted, is := f.noted(s); is {
			return noted
		}
	}
	if held, is := f.held(); is {
		held.Rule = s.Rule
		return held
	}
	end, over := f.deadline(f.lastProgress(f.ownBegan()))
	switch s.look = end; {
	case over:
		s.look = time.Time{}
		s = f.timedOut(s)
	case early: // no watch shows pods, and the status may not change any more
		s.look = earlier(end, f.now.Add(stallNotice))
	}
	return s
}

// noted is what has become of a restart that its controller calls done.
func (f *facts) noted(s Step) (Step, bool) {
	switch {
	case f.replaced() || f.evidence.State == freshness.Fresh:
		s.Outcome, s.Phase, s.Reason = End, request.Succeeded, request.RestartCompleted
	case f.PodsListed:
		s.Outcome, s.Phase, s.Reason = Wait, request.WaitingForRollout, request.RestartDropped
		s.wakeOn = append(s.wakeOn, model.WakeOnRequest)
	default:
		return s, false
	}
	return s, true
}

// serving is how many pods are up.
func (f *facts) serving() int {
	up := 0
	for i := range f.Pods {
		if p := &f.Pods[i]; p.Running && !p.ReadySince.IsZero() {
			up++
		}
	}
	return up
}

// replaced reports whether every pod is as new as the stamp asks for.
func (f *facts) replaced() bool {
	for i := range f.Pods {
		p := &f.Pods[i]
		if (p.Running || p.Pending) && p.Created.Before(f.Workload.Stamp.At) {
			return false
		}
	}
	return f.PodsListed
}

// watchPending waits for the controller to replace the pods, and says what holds it up
// if none was for a while.
func (f *facts) watchPending(s Step) Step {
	last := f.lastProgress(f.ownBegan())
	end, over := f.deadline(last)
	s.look = end
	if f.stalled(last) {
		s.Reason, s.Detail = f.holdUp()
	} else {
		s.look = earlier(end, f.now.Add(last.Add(stallNotice).Sub(f.Server(f.now))))
	}
	if over {
		reason, detail := s.Reason, s.Detail
		if s = f.timedOut(s); reason != request.Restarting {
			s.Reason, s.Detail = reason, detail
		}
		s.look = time.Time{}
	}
	return s
}

// stalled reports whether a restart in place has made no progress for so long that its
// request says so.
func (f *facts) stalled(last time.Time) bool {
	in := f.inPlace()
	return in != nil && f.Request.Executing() && (in.Pending || !f.Workload.Rollout.Observed) && f.Server(f.now).Sub(last) >= stallNotice
}

// holdUp is what keeps the controller from replacing pods, as far as that can be seen.
func (f *facts) holdUp() (request.Reason, string) {
	switch in := f.inPlace(); {
	case !f.Workload.Rollout.Observed:
		return request.Restarting, f.Workload.Rollout.Detail
	case in.Invalid != "":
		return request.RolloutInvalid, in.Invalid
	case in.Spare <= 0:
		return request.UnreadyPods, ""
	}
	return request.EvictionRefused, ""
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
