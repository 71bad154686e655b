package decide

import (
	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// settleCap is how many settle delays a source that keeps changing can hold its
// consumers back.
const settleCap = 10

// settling: edits that belong together should give one rollout. The quiet time
// runs from the last change, but not for ever.
func settling(f *facts) Step {
	switch {
	case f.policy == nil:
		return Step{Outcome: Pass}
	case f.policy.SettleDelay <= 0 || f.latest.IsZero():
		return f.secondOver()
	}
	quiet, over := f.until(f.latest, f.policy.SettleDelay)
	if over {
		return f.secondOver()
	}
	opened := f.Request.Status.OpenedAt
	if opened.IsZero() {
		opened = f.Request.Created
	}
	last, capped := f.until(opened, settleCap*f.policy.SettleDelay)
	if capped {
		mark.Hit(mark.SettleCapped)
		if s := f.secondOver(); s.Outcome == Wait {
			return s
		}
		return Step{Outcome: Pass, At: f.latest, Detail: "the changes have not been quiet, but waited for long enough"}
	}
	s := wait(request.WaitingForGate, request.Settling, model.WakeOnLedger)
	s.At, s.Until = f.latest, quiet
	if last.Before(quiet) {
		s.Until = last
	}
	return s
}

// sources: a pod that cannot start is worse than one that runs old content, and
// nothing happens because of a change that is not on record yet: what stands is about
// to be recorded, and a restart for what stood before would be followed by another.
func sources(f *facts) Step {
	for i := range f.Dependencies {
		d := &f.Dependencies[i]
		if d.Unrecorded && (d.InScope || d.Source.Present && d.Record.Current().Absent()) {
			s := wait(request.WaitingForGate, request.Settling, model.WakeOnLedger, model.WakeOnSource)
			s.Object = d.Source.ID
			return s
		}
		detail := ""
		if missing, ok := d.Source.HasKeys(d.RequiredKeys()); !ok {
			detail = "key " + missing
		}
		if !d.Required() || d.Source.Present && detail == "" {
			continue
		}
		if !d.Source.Present {
			detail = ""
		}
		s := wait(request.WaitingForGate, request.SourceMissing, model.WakeOnSource, model.WakeOnWorkload)
		s.Object, s.Detail = d.Source.ID, detail
		return s
	}
	return Step{Outcome: Pass}
}

// dryRun: the policy wants to know, not to act.
func dryRun(f *facts) Step {
	if f.policy == nil || !f.policy.DryRun {
		return Step{Outcome: Pass}
	}
	s := end(request.DryRun, request.DryRunOnly)
	s.Object, s.At, s.Pod, s.Since = f.policy.ID, f.latest, f.evidence.Pod, f.evidence.Since
	return s
}

// interval: a source that never rests must not keep its consumers rolling.
func interval(f *facts) Step {
	if f.policy == nil || f.Workload == nil || f.policy.MinInterval <= 0 {
		return Step{Outcome: Pass}
	}
	last := f.lastRestart()
	if last.IsZero() {
		return Step{Outcome: Pass}
	}
	end, over := f.apart(last, f.policy.MinInterval)
	if over {
		return Step{Outcome: Pass, At: last}
	}
	s := wait(request.WaitingForGate, request.RateLimited, model.WakeOnPolicy)
	s.Object, s.At, s.Until = f.policy.ID, last, end
	return s
}

// act: nothing stands against it.
func act(f *facts) Step {
	return Step{
		Outcome: Act, Phase: request.Executing, Reason: request.Restarting,
		Object: f.evidence.Source, At: f.evidence.Changed, Pod: f.evidence.Pod, Since: f.evidence.Since,
		wakeOn: []model.WakeOn{model.WakeOnWorkload},
	}
}
