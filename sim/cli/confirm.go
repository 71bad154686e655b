package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/corewire/kick/sim/confirm"
)

// confirmFlags are the flags of kick-sim confirm.
type confirmFlags struct {
	confirm.Options
	kubeconfig, output, filter string
}

func newConfirm(p Program) *cobra.Command {
	var f confirmFlags
	cmd := &cobra.Command{
		Use:   "confirm FILE|FOLDER...",
		Short: "Run scenario files against a real control plane and compare",
		Long: "Run every scenario against a real control plane and the real operator, in real time,\n" +
			"and compare restarts, final phases and the two laws with what the simulator says.\n" +
			"Idle time is cut, and lengths are divided where the simulator shows that a scenario\n" +
			"keeps its meaning. What cannot be confirmed is listed with the reason.\n\n" +
			"Each scenario gets namespaces and an operator of its own; all are removed at the end.\n" +
			"Nodes are expected to be fake (kwok) unless --real-pods says otherwise.\n\n" +
			"Exit code 0: nothing differs, 1: something does, 2: unusable input.",
		Example: "  make cluster-up bin/kick\n  kick-sim confirm scenarios/*.yaml --kubeconfig ~/.cache/kick/cluster/kubeconfig --parallel 4\n" +
			"  kick-sim confirm scenarios --filter '^crash-' --kubeconfig K -o json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := refuse(cmd,
				refusal{"parallel", f.Parallel < 1, " plays nothing: leave it out, or give 1 or more"},
				refusal{"cap", f.Cap <= 0, " leaves no time: leave it out, or give more"})
			if err != nil {
				return err
			}
			return confirmScenarios(cmd.Context(), p, f, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "administrator of the control plane (default: $KUBECONFIG)")
	flags.StringVar(&f.Operator, "operator", "bin/kick", "the operator's binary")
	flags.BoolVar(&f.RealPods, "real-pods", false, "the nodes are real: containers report what they loaded")
	flags.StringVar(&f.Image, "image", confirm.DefaultImage, "with --real-pods: the image built from kick/kicktest/probe, as the nodes know it")
	flags.IntVar(&f.Parallel, "parallel", confirm.DefaultParallel, "scenarios at a time")
	flags.DurationVar(&f.Cap, "cap", confirm.DefaultCap, "longest time a scenario may take")
	flags.StringVar(&f.Logs, "logs", "", "keep the logs of the operators in this folder")
	flags.StringVarP(&f.output, "output", "o", "text", "text or json")
	flags.StringVar(&f.filter, "filter", "", "run only scenarios whose name matches this regular expression")
	return cmd
}

func confirmScenarios(ctx context.Context, p Program, f confirmFlags, paths []string) error {
	if f.output != "text" && f.output != "json" {
		return exitError{exitUnusable, fmt.Sprintf("kick-sim: unknown output %q: text or json", f.output)}
	}
	scenarios, err := load(p, runFlags{filter: f.filter}, paths)
	if err != nil {
		return err
	}
	if _, err := os.Stat(f.Operator); err != nil {
		return exitError{exitUnusable, fmt.Sprintf("kick-sim: --operator: %v; make bin/kick builds it", err)}
	}
	if f.Config, err = controlPlane(f.kubeconfig); err != nil {
		return exitError{exitUnusable, "kick-sim: " + err.Error()}
	}
	if err := folder(f.Logs); err != nil {
		return err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	klog.SetLogger(logr.Discard()) // what a watch does to recover is no news
	out := p.Stdout
	if f.output == "json" {
		out = io.Discard
	}
	results, err := confirm.Run(ctx, scenarios, f.Options, func(r confirm.Result) { _ = confirm.Line(out, r) })
	if err != nil && results == nil {
		return exitError{exitUnusable, "kick-sim: " + err.Error()}
	}
	return confirmVerdict(p.Stdout, f.output, results, err)
}

// confirmVerdict ends the report: a difference, or a scenario that could not be
// played although it can be, is a failure.
func confirmVerdict(out io.Writer, format string, results []confirm.Result, stopped error) error {
	sum := confirm.Sum(results)
	var err error
	if format == "json" {
		err = confirm.JSON(out, results)
	} else {
		_, err = fmt.Fprintln(out, sum)
	}
	switch {
	case err != nil:
		return exitError{exitUnusable, "kick-sim: " + err.Error()}
	case stopped != nil:
		return exitError{exitFailed, "kick-sim: stopped: " + stopped.Error()}
	case sum.Different > 0 || sum.Broken > 0:
		return exitError{code: exitFailed}
	}
	return nil
}
