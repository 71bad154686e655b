package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/corewire/kick/sim/explore"
	"github.com/corewire/kick/sim/report"
	"github.com/corewire/kick/sim/run"
)

func newReplay(p Program) *cobra.Command {
	var f targetFlags
	var trace string
	var explain bool
	cmd := &cobra.Command{
		Use:     "replay " + targetUse,
		Short:   "Run one schedule again",
		Long:    "Run one schedule again.\n\n" + targetLong + "Exit code 0: every law held, 1: one broke, 2: unusable input.",
		Example: "  kick-sim replay 0x5f3a91@4c1d2e7 --explain\n  kick-sim replay 0x5f3a91@4c1d2e7 scenarios/change-secret.yaml --trace log.jsonl\n  kick-sim replay scenarios/change-secret.yaml --crash 3:landed",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := f.parse(p, args)
			if err != nil {
				return err
			}
			return replay(p, t, trace, explain)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&trace, "trace", "", "write every event to this file, one JSON object a line (kick-sim view shows it)")
	cmd.Flags().BoolVar(&explain, "explain", false, "tell what led to the outcome, cause before effect, also where every law held")
	return cmd
}

func newExplain(p Program) *cobra.Command {
	var f targetFlags
	cmd := &cobra.Command{
		Use:   "explain " + targetUse,
		Short: "Tell what led to the outcome of one schedule, in at most 15 lines",
		Long:  "Tell what led to the outcome of one schedule, cause before effect, in at most 15 lines.\n\n" + targetLong,
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := f.parse(p, args)
			if err != nil {
				return err
			}
			return replay(p, t, "", true)
		},
	}
	f.add(cmd)
	return cmd
}

// runner runs single schedules of this program.
func (p Program) runner() *explore.Runner {
	return &explore.Runner{Options: run.Options{NewOperator: p.NewOperator, Now: p.Now, KeepTrail: true, EndBroken: true}}
}

// play runs a target and tells on the error output where it is another run than the
// one that was recorded. What the target asks for must come about, unless a law broke.
func (t target) play(p Program) (result run.Result, err error) {
	t.warn(p)
	runner := p.runner()
	if t.choices == nil {
		result = runner.Run(t.schedule, nil)
	} else {
		var diverged string
		if result, diverged = runner.Replay(t.schedule, t.choices); diverged != "" {
			_, _ = fmt.Fprintf(p.Stderr, "kick-sim: %s\n", diverged)
		}
	}
	switch {
	case result.Problem != nil:
		return result, exitError{exitUnusable, result.Problem.String()}
	case result.OK() && runner.Unmet() != "":
		return result, exitError{exitUnusable, "kick-sim: " + runner.Unmet()}
	}
	return result, nil
}

func replay(p Program, t target, trace string, explain bool) error {
	file, err := reserve(trace)
	if err != nil {
		return err
	}
	defer file.release()
	result, err := t.play(p)
	if err != nil {
		return err
	}
	if err := file.write(func(w io.Writer) error { return report.Trace(w, p.build(), []run.Result{result}) }); err != nil {
		return exitError{exitUnusable, "kick-sim: " + err.Error()}
	}
	if result.OK() && !explain {
		_, err := fmt.Fprintf(p.Stdout, "ok: every law held in %d events\n", result.Events)
		return err
	}
	for _, line := range report.Explanation(result) {
		_, _ = fmt.Fprintln(p.Stdout, line)
	}
	if result.OK() {
		return nil
	}
	return exitError{code: exitFailed}
}
