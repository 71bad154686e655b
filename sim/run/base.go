package run

import "github.com/corewire/kick/sim/scenario"

// Base is a cluster in which everything given has rolled out and KICK has not
// started: many runs can start from it, also at once from several goroutines.
type Base struct {
	rig *rig // never run on; nil where no cluster at rest exists to start from
}

// Prepare rolls out what a scenario gives. A rollout that never comes to rest makes
// a base as well, but its runs begin by rolling out. The error is a mistake in what is
// given.
func Prepare(s scenario.Scenario, o Options) (*Base, error) {
	r, err := prepare(s, o)
	if err != nil {
		return nil, err
	}
	if !r.world.Settled() {
		return &Base{}, nil
	}
	r.world.Freeze()
	return &Base{rig: r}, nil
}

// Run runs a scenario that gives the same objects, at the same start, in the same
// world, as the one the base was prepared from; steps, operator and expectations are
// its own. The outcome is that of One, to the byte.
func (b *Base) Run(s scenario.Scenario, o Options) Result {
	if b.rig == nil {
		return One(s, o)
	}
	return run(s, o, func() (*rig, error) { return b.rig.fork(s), nil })
}
