package cli

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/corewire/kick/sim/report"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// runFlags are the flags of kick-sim run.
type runFlags struct {
	output, junit, html, trace string
	filter                     string
	explain                    bool
	seed                       uint64
	workers                    int
}

func newRun(p Program) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run FILE|FOLDER...",
		Short: "Run scenario files",
		Long: "Run every scenario of the files given. A folder stands for all *.yaml below it,\n" +
			"folders named manifests left out.\n\nExit code 0: all passed, 1: some failed, 2: unusable input.",
		Example: "  kick-sim run scenarios/*.yaml\n  kick-sim run scenarios/window-edges.yaml --explain\n  kick-sim run scenarios --filter '^crash-' --junit report.xml",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := refuse(cmd, refusal{"workers", f.workers < 1, noWorkers}); err != nil {
				return err
			}
			return runScenarios(p, f, cmd.Flags().Changed("seed"), args)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "text", "text or json")
	flags.StringVar(&f.junit, "junit", "", "write a JUnit report to this file")
	flags.StringVar(&f.html, "html", "", "write an HTML page to this file")
	flags.StringVar(&f.trace, "trace", "", "write every event to this file, one JSON object a line")
	flags.StringVar(&f.filter, "filter", "", "run only scenarios whose name matches this regular expression")
	flags.BoolVar(&f.explain, "explain", false, "tell what led to each outcome, cause before effect")
	flags.Uint64Var(&f.seed, "seed", 0, "order of simultaneous events, instead of the seed in the file")
	flags.IntVar(&f.workers, "workers", 0, "scenarios at a time (default: one per core)")
	return cmd
}

func runScenarios(p Program, f runFlags, seeded bool, paths []string) error {
	if f.output != "text" && f.output != "json" {
		return exitError{exitUnusable, fmt.Sprintf("kick-sim: unknown output %q: text or json", f.output)}
	}
	if p.NewOperator == nil {
		return exitError{exitUnusable, "kick-sim: no operator is linked into this program"}
	}
	scenarios, err := load(p, f, paths)
	if err != nil {
		return err
	}
	if seeded {
		for i := range scenarios {
			scenarios[i].Seed = f.seed
		}
	}
	var files reports
	defer files.release()
	if err := files.reserve(f); err != nil {
		return err
	}
	results, elapsed := execute(p, f, scenarios)
	if err := files.write(p, f, results, elapsed); err != nil {
		return exitError{exitUnusable, "kick-sim: " + err.Error()}
	}
	return verdict(results)
}

// load reads and filters; any mistake in any file ends the command.
func load(p Program, f runFlags, paths []string) ([]scenario.Scenario, error) {
	wanted, err := regexp.Compile(f.filter)
	if err != nil {
		return nil, exitError{exitUnusable, fmt.Sprintf("kick-sim: --filter: %v", err)}
	}
	all, problems := scenario.NewParser(steps.All(), p.Faults).ParseFiles(paths)
	if len(problems) > 0 {
		return nil, exitError{exitUnusable, problems.Error()}
	}
	var scenarios []scenario.Scenario
	for _, s := range all {
		if wanted.MatchString(s.Name) {
			scenarios = append(scenarios, s)
		}
	}
	if len(scenarios) == 0 {
		return nil, exitError{exitUnusable, fmt.Sprintf("kick-sim: no scenario matches --filter %q", f.filter)}
	}
	return scenarios, nil
}

// execute runs all scenarios and prints the text as they end.
func execute(p Program, f runFlags, scenarios []scenario.Scenario) ([]run.Result, time.Duration) {
	out := p.Stdout
	if f.output != "text" {
		out = io.Discard
	}
	text := report.NewText(out, scenarios, report.TextOptions{Explain: f.explain})
	keep := f.explain || f.trace != "" || f.html != ""
	began := p.Now()
	var results []run.Result
	run.All(scenarios, run.Options{NewOperator: p.NewOperator, Now: p.Now, KeepTrail: keep, Workers: f.workers}, func(r run.Result) {
		results = append(results, r)
		if r.Problem == nil {
			text.Result(r)
		}
	})
	elapsed := p.Now().Sub(began)
	text.Summary(elapsed)
	return results, elapsed
}

// reports are the files that were asked for.
type reports struct{ junit, html, trace *output }

// reserve opens the files before anything runs.
func (r *reports) reserve(f runFlags) (err error) {
	if r.junit, err = reserve(f.junit); err != nil {
		return err
	}
	if r.html, err = reserve(f.html); err != nil {
		return err
	}
	r.trace, err = reserve(f.trace)
	return err
}

func (r *reports) release() {
	r.junit.release()
	r.html.release()
	r.trace.release()
}

// write writes the reports that were asked for.
func (r *reports) write(p Program, f runFlags, all []run.Result, elapsed time.Duration) error {
	results := make([]run.Result, 0, len(all))
	for _, r := range all {
		if r.Problem == nil {
			results = append(results, r)
		}
	}
	if f.output == "json" {
		if err := report.JSON(p.Stdout, results, elapsed); err != nil {
			return err
		}
	}
	return errors.Join(
		r.junit.write(func(w io.Writer) error { return report.JUnit(w, results, elapsed) }),
		r.html.write(func(w io.Writer) error { return report.HTML(w, results, elapsed) }),
		r.trace.write(func(w io.Writer) error { return report.Trace(w, p.build(), results) }),
	)
}

// verdict turns results into an exit code; mistakes that showed while running
// outweigh failures.
func verdict(results []run.Result) error {
	var problems scenario.Problems
	failed := false
	for _, r := range results {
		if r.Problem != nil {
			problems = append(problems, *r.Problem)
		}
		failed = failed || !r.OK()
	}
	switch {
	case len(problems) > 0:
		return exitError{exitUnusable, problems.Error()}
	case failed:
		return exitError{code: exitFailed}
	default:
		return nil
	}
}
