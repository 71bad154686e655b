package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
)

// Exit codes.
const (
	exitPassed      = 0
	exitFailed      = 1
	exitUnusable    = 2
	exitInterrupted = 130 // as shells have it for a program that Ctrl-C ended
)

// Program is what kick-sim is made of and what it may touch.
type Program struct {
	Stdout, Stderr io.Writer
	Now            func() time.Time
	Version        string
	NewOperator    run.OperatorFactory // nil: the one linked in, see engine.go
	Faults         []scenario.Fault
	Context        context.Context // its end is Ctrl-C; nil: there is none
}

// exitError carries an exit code; its text, if any, goes to the error output.
type exitError struct {
	code int
	text string
}

func (e exitError) Error() string { return e.text }

// Main runs kick-sim and returns its exit code.
func Main(args []string, p Program) int {
	if p.NewOperator == nil {
		p.NewOperator, p.Faults = newOperator, faults()
	}
	root := newRoot(p)
	root.SetArgs(args)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	if p.Context == nil {
		p.Context = context.Background()
	}
	err := root.ExecuteContext(p.Context)
	exit, known := errors.AsType[exitError](err)
	switch {
	case err == nil:
		return exitPassed
	case known:
		if exit.text != "" {
			_, _ = fmt.Fprintln(p.Stderr, exit.text)
		}
		return exit.code
	default:
		_, _ = fmt.Fprintf(p.Stderr, "kick-sim: %v\n", err)
		return exitUnusable
	}
}

func newRoot(p Program) *cobra.Command {
	root := &cobra.Command{
		Use:           "kick-sim",
		Short:         "Run KICK in a simulated cluster",
		Long:          "kick-sim runs scenarios of KICK in a simulated Kubernetes cluster, in virtual time,\nand judges them by what each container really loaded.",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newRun(p), newConfirm(p), newExport(p), newExplore(p), newReplay(p), newExplain(p), newShrink(p), newView(p), newList(p), newGraph(p), newVersion(p))
	return root
}

func newVersion(p Program) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			build := ""
			if id := p.build(); id != p.Version {
				build = ", build " + id + " in seeds and reports"
			}
			_, err := fmt.Fprintf(p.Stdout, "kick-sim %s%s\n", p.Version, build)
			return err
		},
	}
}
