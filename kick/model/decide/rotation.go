package decide

import (
	"slices"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/model/request"
)

// flapping: a SecretProviderClass whose versions change each time the driver looks would
// have its readers restarted for ever, and no pod would be fresher for it. It is let be
// until it has been quiet; anything else that is missed restarts as ever.
func flapping(f *facts) Step {
	e := f.evidence
	if e.Flaps.IsZero() {
		return Step{Outcome: Pass}
	}
	s := wait(request.WaitingForGate, request.ClassFlapping, model.WakeOnLedger)
	s.Object, s.At, s.Until = e.Source, e.Changed, e.Flaps
	return s
}

// mirrors: a workload that mounts a class and reads the Secret which the driver makes of
// it sees one rotation twice, the second time a moment later and at the latest when the
// driver looks next. Both are to be one restart.
func mirrors(f *facts) Step {
	for i := range f.Dependencies {
		class := &f.Dependencies[i]
		if class.Kind != discover.KindSecretProviderClass || class.Record == nil || !class.InScope {
			continue
		}
		round := class.Record.Current()
		until, over := f.until(round.Observed, f.Settings.RotationInterval)
		if round.Baseline || over {
			continue
		}
		if behind := f.behind(class, round); behind != nil {
			s := wait(request.WaitingForGate, request.MirrorPending, model.WakeOnLedger)
			s.Object, s.At, s.Until, s.Detail = class.Source.ID, round.Observed, until, behind.Source.ID.String()
			return s
		}
	}
	return Step{Outcome: Pass}
}

// behind is a Secret that the workload reads, that mirrors a class, and that has not
// changed since a rotation of it began; nil: there is none.
func (f *facts) behind(class *model.Dependency, round model.Content) *model.Dependency {
	since := round.Observed.Add(-f.Settings.ClockAllowance)
	for i := range f.Dependencies {
		d := &f.Dependencies[i]
		mirror := d.Kind == discover.KindSecret && d.InScope && slices.Contains(class.Source.Mirrors, d.Name)
		if mirror && d.Record != nil && d.Source.Present && d.Record.Current().Observed.Before(since) {
			return d
		}
	}
	return nil
}
