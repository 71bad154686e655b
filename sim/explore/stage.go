package explore

import (
	"context"
	"fmt"
	"iter"
)

// Stage is a part of a campaign's plan, and how far it came.
type Stage struct {
	What string // the things it takes one after another: "scenarios of the crash pass"
	Done uint64
	Of   uint64 // 0: it has no end
}

// String is the stage in words: 12 of 157 scenarios of the crash pass.
func (s Stage) String() string {
	if s.Of == 0 {
		return fmt.Sprintf("%d %s", s.Done, s.What)
	}
	return fmt.Sprintf("%d of %d %s", s.Done, s.Of, s.What)
}

// Unfinished is the first stage of the plan that was not done to its end; false where
// all were. A stage without an end never is.
func (s Summary) Unfinished() (Stage, bool) {
	for _, stage := range s.Stages {
		if stage.Of == 0 || stage.Done < stage.Of {
			return stage, true
		}
	}
	return Stage{}, false
}

// stages are the parts of the plan, in the order in which units come.
func (c *Campaign) stages() []Stage {
	var out []Stage
	given := uint64(len(c.Scenarios))
	if given > 0 && (c.Profile == ProfileCrash || c.Profile == ProfileMix) {
		out = append(out, Stage{What: "scenarios of the crash pass", Of: given})
	}
	switch {
	case c.Profile == ProfileExhaustive:
		what := "scenarios"
		if given == 0 {
			what = "worlds"
		}
		for depth := range c.depth() {
			out = append(out, Stage{What: fmt.Sprintf("%s at depth %d", what, depth+1), Of: max(given, c.worlds())})
		}
	case c.Profile == ProfileCrash && c.Pairs > 0:
		out = append(out, Stage{What: "scenarios with pairs of crashes", Of: min(given, uint64(c.Pairs))})
	case c.Profile != ProfileCrash:
		out = append(out, Stage{What: "seeds", Of: c.Seeds})
	}
	return out
}

// units are the parts of the campaign in the order in which they count. They end with
// the context.
func (c *Campaign) units(ctx context.Context) iter.Seq[unit] {
	return func(yield func(unit) bool) {
		at := -1
		next := func() func(unit) bool {
			at++
			stage := at
			return func(u unit) bool {
				u.stage = stage
				return ctx.Err() == nil && yield(u)
			}
		}
		if len(c.Scenarios) > 0 && (c.Profile == ProfileCrash || c.Profile == ProfileMix) {
			yield := next()
			for i := range c.Scenarios {
				if !c.crashUnits(&c.Scenarios[i], false, yield) {
					return
				}
			}
		}
		switch {
		case c.Profile == ProfileExhaustive:
			c.exhaustiveUnits(ctx, next)
		case c.Profile == ProfileCrash && c.Pairs > 0:
			c.pairUnits(ctx, next())
		case c.Profile != ProfileCrash:
			c.seedUnits(next())
		}
	}
}

// depth is how many deviations are combined at most.
func (c *Campaign) depth() int {
	if c.Depth == 0 {
		return defaultDepth
	}
	return c.Depth
}

// worlds is how many worlds ProfileExhaustive takes where no scenario is given.
func (c *Campaign) worlds() uint64 {
	if len(c.Scenarios) > 0 {
		return 0
	}
	return max(c.Seeds, 1)
}
