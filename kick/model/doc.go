// Package model holds the value types of KICK's decisions and, in its
// subpackages, the decisions themselves.
//
// Everything below kick/model is pure: no client, no I/O, no clock, nothing kept
// between calls. A pass reads the cluster into a Snapshot (package gather), the
// functions here judge it, and one write follows from the judgement (package
// apply). The same Snapshot and the same now always give the same Verdict, which
// is what lets the simulator and a real cluster run the same code.
//
// Two clocks meet here and are never mixed without an allowance: times named
// Observed, stamps and "now" are KICK's clock (microseconds); creation times,
// Written and LastWrite are the API server's clock (DESIGN section 4).
package model
