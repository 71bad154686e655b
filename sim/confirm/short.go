package confirm

import (
	"time"

	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// Short is a scenario short enough for real time, and what the simulator says of it.
type Short struct {
	Scenario scenario.Scenario
	Sim      Outcome
	// Generations are those of the workloads in the end, by namespace/Kind/name.
	Generations map[string]int64
	// Waiting says that some pods wait for a source that is missing.
	Waiting bool
	// Quiet tells, by step, before which ones the simulated cluster was at rest.
	Quiet []bool

	said prediction
}

// Held is for how long what a step asserts holds in the simulator, from when the step
// is due: who polls may miss what holds for a moment only.
func (s Short) Held(step int) time.Duration {
	var due time.Duration
	for i := range step + 1 {
		if at := s.Scenario.Steps[i]; at.AtSet {
			due = at.At
		} else {
			due += at.After
		}
	}
	return s.said.held(steps.ActOf(s.Scenario.Steps[step]).Pattern, due)
}

// Shorten makes a scenario as short as its meaning allows, or says why it cannot be
// played in real time.
func Shorten(s scenario.Scenario, limit time.Duration) (Short, error) {
	p, err := prepare(s, Options{Cap: limit})
	if err != nil {
		return Short{}, err
	}
	said, err := predict(p.scenario)
	return Short{Scenario: p.scenario, Sim: p.sim, Generations: said.generations, Waiting: p.waiting, Quiet: p.quiet, said: said}, err
}

// Namespaces lists the namespaces a scenario speaks of, KICK's own left out.
func Namespaces(s scenario.Scenario) []string { return namespacesOf(s) }

// Dated reports that a scenario speaks of dates: in windows, objects or patterns.
func Dated(s scenario.Scenario) bool {
	return anyPattern(s, func(r scenario.Resource) bool {
		_, _, windows := windowsOf(r)
		return windows || dated(r)
	})
}

// Copy is an independent copy of plain data.
func Copy(data map[string]any) map[string]any { return deepCopy(data) }
