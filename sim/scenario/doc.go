// Package scenario reads and writes scenario files: what a cluster holds, what happens to
// it, and what must be true afterwards.
//
// It is strict. Every mistake in a file is reported with file, line and column,
// and with what was probably meant; a file with a mistake is not run. It knows
// nothing about how steps are carried out: the verbs are handed in as a list
// (package steps holds them), each with its own decoder.
//
//	scenarios, problems := scenario.NewParser(steps.All(), nil).ParseFiles([]string{"scenarios/a.yaml"})
//	err := scenario.Write(os.Stdout, scenarios[0])
//
// It must not start anything, and it must not read a clock.
package scenario
