package explore

import (
	"context"

	"github.com/corewire/kick/sim/sched"
)

// defaultDepth is how many deviations are combined when nothing else is said.
const defaultDepth = 2

// share is how many places of a first deviation one worker takes at a time.
const share = 16

// exhaustiveUnits are, for each depth up to the wanted one, the scenarios given, or the world and story of
// the first seeds, split by where the first deviation stands.
func (c *Campaign) exhaustiveUnits(ctx context.Context, next func() func(unit) bool) {
	worlds := c.exhaustiveWorlds()
	asked := make([]int, len(worlds))
	runner := Runner{Options: c.Options}
	for i, s := range worlds {
		if ctx.Err() != nil {
			return
		}
		counter := sched.NewOdometer(0, 0, 0)
		runner.Run(s, counter)
		asked[i] = counter.Asked()
	}
	for depth := 1; depth <= c.depth(); depth++ {
		yield := next()
		for i, s := range worlds {
			for from := 0; from < max(asked[i], 1); from += share {
				if !yield(exhaustiveUnit(s, depth, from)) {
					return
				}
			}
			if !yield(finishing(1)) {
				return
			}
		}
	}
}

// exhaustiveWorlds are the schedules whose deviations are tried.
func (c *Campaign) exhaustiveWorlds() []Schedule {
	var out []Schedule
	for i := range c.Scenarios {
		out = append(out, Schedule{Scenario: &c.Scenarios[i]})
	}
	if len(out) > 0 {
		return out
	}
	for i := range c.worlds() {
		out = append(out, Schedule{Seed: c.First + i})
	}
	return out
}

// exhaustiveUnit tries every schedule with at most depth deviations the first of
// which stands at one of the next questions.
func exhaustiveUnit(s Schedule, depth, from int) unit {
	return unit{play: func(_ *Runner, play player) {
		odometer := sched.NewOdometer(depth, from, from+share)
		for more := true; more; more = odometer.Next() {
			s.Picks = odometer.Picks()
			if more := play(s, odometer); !more {
				return
			}
		}
	}}
}
