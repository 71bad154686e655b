// Package check holds the laws of KICK, one file each, judged from the truth of
// the simulated cluster: what was written, and which bytes each container loaded.
//
// A law sees every committed write, every call KICK is about to make and every
// line KICK logs, and reports what must not be. It never asks KICK, never calls
// kick/model and never believes a status field without verifying it: an
// excuse that KICK names counts only while the block it names truly holds. The
// extraction of references, the match of policies and the windows are therefore
// written a second time here, plainly. KICK's API types are all it shares.
//
//	laws := check.New(check.Context{API: server, Truth: world, ...})
//	server.Subscribe(laws.OnWrite)
//	... run ...
//	laws.AtEnd()
//	for _, v := range laws.Violations() { ... }
//
// Adding a law is one file and one line in All.
package check
