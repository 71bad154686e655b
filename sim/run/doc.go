// Package run carries out one scenario: it builds a simulated cluster, rolls out
// what is given, starts KICK, does the steps, ends all faults, lets everything
// settle and has the laws judge.
//
// It drives KICK only through the interface Operator, so that the same scenario
// judges any operator, and a fake one in tests. It prints nothing (package report
// does) and it starts goroutines only in All, one scenario each.
//
//	result := run.One(scenario, run.Options{NewOperator: engine.New})
package run
