package explore

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
)

// unit is a part of a campaign that one worker does: schedules that share a world.
type unit struct {
	play  func(r *Runner, play player)
	stage int    // of the plan it belongs to
	items uint64 // how many things of the stage are done with it
	each  bool   // or every schedule is one
}

// finishing is a unit behind the last one of some things of a stage.
func finishing(items int) unit { return unit{play: func(*Runner, player) {}, items: uint64(items)} }

// player runs a schedule; answers is as for Runner.Run. It returns false when the
// unit is to stop.
type player func(s Schedule, answers sched.Chooser) bool

// seedUnits are rows of seeds that share a world, or a scenario.
func (c *Campaign) seedUnits(yield func(unit) bool) {
	count := c.Seeds
	if count == 0 {
		count = math.MaxUint64
	}
	for i := uint64(0); i < count; {
		if nth(c.First, i, c.Profile) < c.First {
			return // there are no more
		}
		from := i
		group := c.group(nth(c.First, i, c.Profile))
		for i < count && c.group(nth(c.First, i, c.Profile)) == group {
			i++
		}
		to := i
		row := func(_ *Runner, play player) {
			for i := from; i < to; i++ {
				seed := nth(c.First, i, c.Profile)
				if more := play(Schedule{Seed: seed, Seeded: true, Scenario: c.scenarioOf(seed)}, nil); !more {
					return
				}
			}
		}
		if !yield(unit{play: row, each: true}) {
			return
		}
	}
}

// group is equal for seeds that share a world, or a scenario.
func (c *Campaign) group(seed uint64) uint64 {
	if len(c.Scenarios) == 0 {
		return worldOf(seed)
	}
	return seed >> scenarioBits
}

// scenarioOf is the scenario that a seed plays; nil: it makes one.
func (c *Campaign) scenarioOf(seed uint64) *scenario.Scenario {
	if len(c.Scenarios) == 0 {
		return nil
	}
	return &c.Scenarios[seed>>scenarioBits%uint64(len(c.Scenarios))]
}

// crashShare is how many writes one worker takes at a time.
const crashShare = 16

// crashUnits kill the operator at every write of a scenario: one crash a run, or two.
// It returns false when the campaign is to stop.
func (c *Campaign) crashUnits(s *scenario.Scenario, pairs bool, yield func(unit) bool) bool {
	once := func(_ *Runner, play player) { play(Schedule{Scenario: s}, nil) }
	if !pairs && !yield(unit{play: once}) {
		return false
	}
	_, writes := c.plain(s)
	for from := 1; from <= writes; from += crashShare {
		if !yield(crashUnit(s, from, min(from+crashShare-1, writes), pairs)) {
			return false
		}
	}
	return yield(finishing(1))
}

// plain runs a scenario as it is and counts the operator's writes.
func (c *Campaign) plain(s *scenario.Scenario) (result run.Result, writes int) {
	runner := Runner{Options: c.Options}
	runner.Options.Fast = true
	result = runner.Run(Schedule{Scenario: s}, nil)
	return result, runner.writes
}

// crashUnit kills the operator at some writes of a scenario.
func crashUnit(s *scenario.Scenario, from, to int, pairs bool) unit {
	return unit{play: func(r *Runner, play player) {
		for write := from; write <= to; write++ {
			for _, landed := range []bool{false, true} {
				first := Crash{Write: write, Landed: landed}
				if more := play(Schedule{Scenario: s, Crashes: []Crash{first}}, nil); !more {
					return
				}
				if pairs && !crashAgain(r, s, first, play) {
					return
				}
			}
		}
	}}
}

// crashAgain kills the operator a second time, at every write after the first crash.
func crashAgain(r *Runner, s *scenario.Scenario, first Crash, play player) bool {
	writes := r.writes
	for write := first.Write + 1; write <= writes; write++ {
		for _, landed := range []bool{false, true} {
			if more := play(Schedule{Scenario: s, Crashes: []Crash{first, {Write: write, Landed: landed}}}, nil); !more {
				return false
			}
		}
	}
	return true
}

// pairUnits kill the operator twice in the shortest scenarios.
func (c *Campaign) pairUnits(ctx context.Context, yield func(unit) bool) {
	shortest := c.shortest(ctx, c.Pairs)
	for _, s := range shortest {
		if !c.crashUnits(s, true, yield) {
			return
		}
	}
	yield(finishing(min(c.Pairs, len(c.Scenarios)) - len(shortest))) // in which it cannot die twice
}

// shortest are the scenarios with the fewest events in which the operator writes
// twice or more, so that it can die twice.
func (c *Campaign) shortest(ctx context.Context, count int) []*scenario.Scenario {
	type candidate struct {
		scenario *scenario.Scenario
		events   uint64
	}
	var all []candidate
	for i := range c.Scenarios {
		if ctx.Err() != nil {
			return nil
		}
		if r, writes := c.plain(&c.Scenarios[i]); writes > 1 && r.OK() {
			all = append(all, candidate{&c.Scenarios[i], r.Events})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.events, b.events) })
	var out []*scenario.Scenario
	for _, candidate := range all[:min(count, len(all))] {
		out = append(out, candidate.scenario)
	}
	return out
}
