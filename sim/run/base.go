package run

import "github.com/corewire/kick/sim/scenario"

// Base is a cluster in which everything given has rolled out and KICK has not
// started: many runs can start from it.
type Base struct{ options Options }

// Prepare rolls out what a scenario gives.
func Prepare(_ scenario.Scenario, o Options) (*Base, error) { return &Base{o}, nil }

// Run runs a scenario that gives the same objects, at the same start, in the same
// world, as the one the base was prepared from.
func (b *Base) Run(s scenario.Scenario, o Options) Result { return One(s, o) }
