// Package confirm runs scenarios against a real control plane and the real operator
// binary, and compares what comes of it with what the simulator says: restarts,
// final phases, and the two laws on what containers have loaded.
//
//	results, err := confirm.Run(ctx, scenarios, confirm.Options{Config: config, Operator: "bin/kick"})
//	confirm.Table(os.Stdout, results)
//
// Every scenario has namespaces and an operator of its own, so several run side by
// side. Between the operator and the API server stands a proxy, which counts writes,
// kills the process around them and lets calls fail as the steps of a scenario say.
//
// Time is real. Before it is played, a scenario is shortened where that keeps its
// meaning: idle time is cut, and if that is not enough all its lengths are divided.
// The simulator runs the shortened scenario too: only if it ends like the original
// is it played, so that "real = sim" speaks of the file as it was written.
//
// What cannot be confirmed is listed with the reason, never left out.
package confirm
