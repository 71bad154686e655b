package decide

import (
	"fmt"
	"strings"
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/freshness"
	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/request"
)

// wait is a step that blocks a restart until something of wakeOn happens.
func wait(phase request.Phase, reason request.Reason, wakeOn ...model.WakeOn) Step {
	return Step{Outcome: Wait, Phase: phase, Reason: reason, wakeOn: wakeOn}
}

// end is a step that settles the request.
func end(phase request.Phase, reason request.Reason) Step {
	return Step{Outcome: End, Phase: phase, Reason: reason}
}

// target: without a workload there is nothing to restart. A person who asked for
// it is told so; a request of KICK's own has lost its purpose.
func target(f *facts) Step {
	if f.Workload != nil && !f.Workload.Deleting {
		return Step{Outcome: Pass, Object: f.Target}
	}
	phase := request.NoLongerRequired
	if f.Request.Manual {
		phase = request.Failed
	}
	s := end(phase, request.TargetNotFound)
	s.Object = f.Target
	return s
}

// policy: exactly one policy must select the workload, and it must not be
// suspended. Two policies that disagree cannot both be obeyed, so KICK waits.
func policy(f *facts) Step {
	switch {
	case f.policy == nil:
		s := end(request.NoLongerRequired, request.NoLongerManaged)
		s.Object = f.Target
		return s
	case len(f.Policies) > 1:
		s := wait(request.WaitingForGate, request.PolicyConflict, model.WakeOnPolicy, model.WakeOnWorkload)
		names := make([]string, 0, len(f.Policies))
		for i := range f.Policies {
			names = append(names, f.Policies[i].ID.Name)
		}
		s.Object, s.Detail = f.policy.ID, strings.Join(names, ", ")
		return s
	case f.policy.Suspended:
		s := wait(request.WaitingForGate, request.PolicySuspended, model.WakeOnPolicy)
		s.Object = f.policy.ID
		return s
	}
	return Step{Outcome: Pass, Object: f.policy.ID}
}

// asked: a person may name a change that is still to come. It is waited for, unless
// there is a reason to restart before.
func asked(f *facts) Step {
	at := f.Request.Ahead(f.now)
	if at.IsZero() || f.evidence.State == freshness.Stale {
		return Step{Outcome: Pass}
	}
	s := wait(request.WaitingForGate, request.NotYet, model.WakeOnRequest)
	s.Object, s.Until = f.Request.ID, at
	return s
}

// windows: stage one of the gate, the policy's own schedule.
func windows(f *facts) Step {
	if f.policy == nil {
		return Step{Outcome: Pass}
	}
	if f.policy.Invalid != "" {
		s := wait(request.WaitingForGate, request.ConfigurationError, model.WakeOnPolicy)
		s.Object, s.Detail = f.policy.ID, f.policy.Invalid
		return s
	}
	at := f.policy.Schedule.At(f.now)
	s := Step{Outcome: Pass, Object: f.policy.ID, Until: at.Until, Detail: at.String()}
	if at.Open {
		return s
	}
	s.Outcome, s.Phase, s.Reason = Wait, request.WaitingForGate, request.OutsideSchedule
	s.wakeOn = []model.WakeOn{model.WakeOnPolicy}
	return s
}

// provider: stage two of the gate, the GitOps tool. A closed gate that names no
// time is woken by the policy, so no answer leaves a request without a wake-up. An
// override opens it once it is on record.
func provider(f *facts) Step {
	g := f.Provider
	s := Step{Outcome: Pass, Until: g.WakeAt, Detail: g.Detail}
	switch {
	case g.Open && (g.WakeAt.IsZero() || f.now.Before(g.WakeAt)):
		return s
	case f.Request.Override.Holds(f.now) && f.Request.Status.Overridden != "":
		return Step{Outcome: Pass, Detail: f.Request.Status.Overridden}
	case g.Open: // a sync window has shut since the answer was given
		return wait(request.WaitingForGate, request.OutsideSchedule, model.WakeOnPolicy)
	}
	s.Outcome, s.Phase, s.Reason = Wait, gatePhase(g.Reason), g.Reason
	s.wakeOn = append([]model.WakeOn{model.WakeOnPolicy}, g.WakeOn...)
	return s
}

// override writes down what an override of the gate is about: before the restart, and
// for as long as the episode lasts. One that ended before it was used is forgotten.
func (f *facts) override(st *model.RequestStatus, decisive *Step) {
	o := f.Request.Override
	switch {
	case !st.Phase.Waiting():
	case !o.Holds(f.now):
		st.Overridden, st.OverriddenAt = "", time.Time{}
	case st.Overridden == "" && decisive.Rule == RuleProvider:
		st.Overridden = fmt.Sprintf("%s: %s; spec.gateOverride passes it until %s: %s",
			decisive.Reason, gitops.Cause(f.Provider), o.Until.UTC().Format(time.RFC3339), o.Reason)
		st.OverriddenAt = f.now.Truncate(time.Second)
	}
}

// gatePhase is the phase that goes with a gate's reason.
func gatePhase(r request.Reason) request.Phase {
	switch r {
	case request.OwnerUnknown, request.AmbiguousOwner:
		return request.WaitingForOwner
	case request.OwnerOutOfSync, request.OwnerReconciling:
		return request.WaitingForApplicationSync
	default:
		return request.WaitingForGate
	}
}
