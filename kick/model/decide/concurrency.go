package decide

import (
	"time"

	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// When a workload that waits for others is looked at again, should the end of a restart
// show in nothing that wakes it: that a reservation was given up, or that a restart no
// request tells of is over.
const (
	lookAtReserved = 5 * time.Second
	lookAtRestarts = time.Minute
)

// The fields that limit how many restarts are under way at a time.
const (
	ownLimit    = "spec.restart.maxConcurrent"
	globalLimit = "--max-concurrent-restarts"
)

// NeedRestarts reports whether a judgement of this snapshot depends on what other
// restarts are under way, so that gather looks for them only then: if nothing else
// stands against this one.
func NeedRestarts(s *model.Snapshot, now time.Time) bool {
	if s.Request == nil || len(s.Policies) != 1 || s.Settings.MaxConcurrent <= 0 && s.Policies[0].MaxConcurrent <= 0 {
		return false
	}
	if phase := s.Request.Status.Phase; phase.Terminal() || phase == request.Executing {
		return false
	}
	alone := *s
	alone.Restarts = nil
	return judge(newFacts(&alone, now)).Action == Stamp
}

// concurrency: a source that many workloads share must not put all of them into a
// rollout at once.
func concurrency(f *facts) Step {
	if f.policy == nil {
		return Step{Outcome: Pass}
	}
	own, all, reserved := f.underWay()
	s := Step{Outcome: Pass, Object: f.policy.ID}
	switch {
	case f.policy.MaxConcurrent > 0 && own >= f.policy.MaxConcurrent:
		s = limited(f.policy.MaxConcurrent, ownLimit)
		s.Object = f.policy.ID
	case f.Settings.MaxConcurrent > 0 && all >= f.Settings.MaxConcurrent:
		s = limited(f.Settings.MaxConcurrent, globalLimit)
	default:
		return s
	}
	s.look = f.now.Add(lookAtRestarts)
	if reserved {
		mark.Hit(mark.WaitedForReserved)
		s.look = f.now.Add(lookAtReserved)
	}
	return s
}

func limited(limit int, field string) Step {
	s := wait(request.WaitingForGate, request.ConcurrencyLimited, model.WakeOnRestart, model.WakeOnPolicy)
	s.Limit, s.Setting = limit, field
	return s
}

// underWay counts the restarts of other workloads: those of the same policy, and all.
// reserved tells that one of them may not come to be.
func (f *facts) underWay() (own, all int, reserved bool) {
	for i := range f.Restarts {
		r := &f.Restarts[i]
		if !f.inFlight(r) {
			continue
		}
		all++
		reserved = reserved || r.Reserved
		if r.Mine {
			own++
		}
	}
	return own, all, reserved
}

// inFlight: from before the stamp is written until the request has ended. A stamp whose
// rollout runs and that no request tells of is what a crash leaves, for as long as its
// request may need to find it.
func (f *facts) inFlight(r *model.Restart) bool {
	now := f.now
	if r.InPlace {
		now = f.Server(f.now)
	}
	return r.Reserved || r.Executing || !r.Told && now.Sub(r.At) < f.rolloutTimeout()
}
