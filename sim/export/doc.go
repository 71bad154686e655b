// Package export turns scenarios into tests of other tools, for real clusters.
//
//	test, err := export.Chainsaw(scenario)
//
// A scenario is exported if all its steps mean something to a user of a real cluster
// who has one running KICK: writes, rollouts, waiting, asserting. What it does to KICK
// itself, to clocks or to calls is refused, with the step and the reason.
package export
