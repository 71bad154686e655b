// Package report puts the results of scenarios into words: text for people, JSON
// for programs, JUnit for CI, one HTML page for a browser, and the full event log
// as JSON lines.
//
// It decides nothing. Equal results give equal bytes, timings aside.
//
//	text := report.NewText(os.Stdout, scenarios, report.TextOptions{Explain: true})
//	run.All(scenarios, options, text.Result)
//	text.Summary(elapsed)
package report
