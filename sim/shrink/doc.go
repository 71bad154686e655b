// Package shrink makes a failing schedule small: a scenario, with a few answers to
// what the cluster leaves open, that a person can read and that breaks the same law.
//
//	small, ok := shrink.Shrink(scenario, shrink.Options{Run: options, Law: law})
//
// It removes what is not needed by delta debugging (ddmin, Zeller and Hildebrandt
// 2002): first answers, then steps, given objects and settings, and all over again
// until nothing more can go.
package shrink
