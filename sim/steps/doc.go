// Package steps holds the verbs of scenario files, one file each: how a verb
// reads its argument, and what it does to the simulated cluster.
//
// A verb acts as the user, the machine or the operator would; it never looks
// into KICK and never judges (package check does). Adding a verb is one file and
// one line in All.
//
//	err := steps.Run(env, step)
package steps
