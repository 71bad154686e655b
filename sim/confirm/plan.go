package confirm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// plan is how a scenario will be played.
type plan struct {
	scenario scenario.Scenario // shortened
	quiet    []bool            // by step: the simulated cluster was at rest before it
	sim      Outcome
	length   time.Duration // in the simulator
	note     string        // what was shortened: "" or "x60, idle time cut"
	fixed    bool          // its dates are bound to t=0
	waiting  bool          // some pods wait for a source
}

// week is longer than scenarios that can be played.
const week = 7 * 24 * time.Hour

// reasonError is why a scenario cannot be confirmed: Class groups reasons.
type reasonError struct{ Class, Reason string }

func (e reasonError) Error() string { return e.Reason }

func because(class, format string, args ...any) error {
	return reasonError{class, fmt.Sprintf(format, args...)}
}

// Classes of reasons.
const (
	classClock   = "clocks"
	classWindow  = "too many windows"
	classCache   = "kubelet cache"
	classChoices = "choices of the simulator"
	classLong    = "longer than the cap"
	classMeaning = "meaning depends on its length"
	classStart   = "pods that start at once"
	classCRDs    = "foreign CRDs"
	classSim     = "fails in the simulator"
)

// prepare plans a scenario, or says why it cannot be played.
func prepare(s scenario.Scenario, o Options) (*plan, error) {
	if err := meaningless(s); err != nil {
		return nil, err
	}
	podStart := s.World.PodStart
	original, err := predict(s)
	if err != nil {
		return nil, because(classSim, "%s", err)
	}
	if len(original.Broken) > 0 {
		return nil, because(classSim, "it fails in the simulator: %s", strings.Join(original.Broken, "; "))
	}
	s.World.PodStart = max(s.World.PodStart, scenario.DefaultPodStart) // as the nodes do
	p, err := shortest(s, original, o.Cap)
	if err != nil && s.World.PodStart != podStart {
		return nil, because(classStart, "its pods start within %s, which no node here does", podStart)
	}
	return p, err
}

// shortest is the scenario with the least taken away that fits the cap and still
// ends the same.
func shortest(s scenario.Scenario, original prediction, limit time.Duration) (*plan, error) {
	found := time.Duration(0) // the least length that kept its meaning
	for _, to := range scales {
		if to.by > 1 && len(edges(s, week)) > 0 {
			break // cron knows whole minutes only
		}
		p := attempt(s, original, to)
		switch {
		case p == nil:
		case p.length <= limit:
			return p, nil
		case found == 0 || p.length < found:
			found = p.length
		}
	}
	if found == 0 {
		return nil, because(classMeaning, "it ends differently in the simulator once shortened, and takes %s as it is", original.length.Truncate(time.Second))
	}
	return nil, because(classLong, "it takes %s at least, the cap is %s (--cap)", found.Truncate(time.Second), limit)
}

// attempt shortens a scenario to a scale; nil where that changes how it ends.
func attempt(s scenario.Scenario, original prediction, to scale) *plan {
	candidate := divided(s, to)
	whole := original
	if to.by > 1 {
		var err error
		if whole, err = predict(candidate); err != nil {
			return nil
		}
	}
	short, quiet := cut(candidate, whole)
	said, err := predict(short)
	if err != nil || !said.equals(original.Outcome, s.Expect) {
		return nil
	}
	return &plan{
		scenario: short, quiet: quiet, sim: said.Outcome, length: said.length,
		note: noteOf(to.by, whole.length, said.length), fixed: bound(short), waiting: said.waiting,
	}
}

// bound reports that what is given speaks of dates: they must be known before t=0.
func bound(s scenario.Scenario) bool {
	return slices.ContainsFunc(s.Given, dated) || len(edges(s, week)) > 0
}

func noteOf(by int, before, after time.Duration) string {
	var notes []string
	if by > 1 {
		notes = append(notes, fmt.Sprintf("x%d", by))
	}
	if before-after >= time.Second {
		notes = append(notes, "idle time cut")
	}
	return strings.Join(notes, ", ")
}

// meaningless names the first thing in a scenario that no real cluster has.
func meaningless(s scenario.Scenario) error {
	if err := otherworldly(s.World); err != nil {
		return err
	}
	if len(s.Choices) > 0 {
		return because(classChoices, "it names choices of the simulator's scheduler")
	}
	for i, step := range s.Steps {
		act := steps.ActOf(step)
		switch {
		case act.Verb == "clock":
			return because(classClock, "step %d steps the clock of %s", i+1, act.Domain)
		case act.Verb == "fault" && !causable(act.Fault.Name):
			return because(classChoices, "step %d: no proxy can cause the fault %s", i+1, act.Fault.Name)
		}
	}
	for _, r := range objectsOf(s) {
		if _, windows, ok := windowsOf(r); ok && len(stretches(windows, s.Start, s.Start.Add(week))) > mostStretches {
			return because(classWindow, "the windows of %s open more than %d times a week", r, mostStretches)
		}
	}
	return nil
}

// otherworldly names the first setting of a world that cannot be had.
func otherworldly(w scenario.World) error {
	if len(w.CRDs) > 0 {
		return foreignKinds(w.CRDs)
	}
	if w.KubeletCacheLag > 0 {
		return because(classCache, "world.kubeletCacheLag: the lag of a kubelet's cache cannot be set")
	}
	for _, skew := range w.ClockSkew {
		if skew != 0 {
			return because(classClock, "world.clockSkew: the clocks of this machine cannot be set apart")
		}
	}
	return nil
}

// foreignKinds is why a scenario with the kinds of other tools is not played: they would
// be there for every scenario of the cluster, also for those that are about their absence;
// the tools' objects name namespaces within texts, such as tracking-ids and inventories,
// which cannot be moved apart for scenarios that run side by side; and what the simulator
// plays of the tools' controllers is not there. The suites have all of that.
func foreignKinds(tools []string) error {
	var suites []string
	for _, t := range tools {
		if suite, named := suiteOf[t]; named {
			t = suite
		}
		suites = append(suites, "chainsaw/suites/"+t)
	}
	return because(classCRDs, "world.crds: the kinds of %s are the whole cluster's, and nobody plays their controllers here; %s shows KICK with the tool's own kinds",
		strings.Join(tools, ", "), strings.Join(suites, ", "))
}

// suiteOf are the suites of tools that are not called like them.
var suiteOf = map[string]string{"argo-rollouts": "rollouts", "secrets-store-csi": "csi"}

// causable reports whether a proxy can cause a fault: all of single calls, and the
// watch that stands still.
func causable(name string) bool {
	f := faults.ByName(name)
	return f != nil && (f.Place == faults.Call || f == faults.StaleCache)
}
