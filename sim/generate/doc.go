// Package generate makes scenarios: small clusters, and what users, machines and
// faults do in them. Every decision is a question to a sched.Chooser of class
// Make, so a seed, a recorded list or fuzz bytes each name one scenario, and a
// shrinker that moves answers towards 0 moves towards the plainest one.
//
//	world := generate.World(chooser)
//	world.Steps = generate.Story(chooser, world)
//	result := run.One(world, run.Options{NewOperator: engine.New})
//
// First it is drawn which features exist at all, then the details (swarm testing:
// a world with few features goes deeper into each). It makes typed objects and
// steps and reads no YAML. What it makes is accepted by the API server as far as
// can be known beforehand; steps that may be refused are marked MayFail. No
// restart is predicted: only the laws judge.
package generate
