// Command demo shows KICK at work: a real control plane comes up on this machine,
// the operator runs on it, a Secret changes, and the Deployment that reads it is
// restarted. Ctrl-C removes everything.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/corewire/kick/kick/kicktest/installation"
)

const usage = `usage: demo [--once]

  --once   end after the story instead of waiting for Ctrl-C
`

func main() {
	installation.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second Ctrl-C ends this process at once; the programs it started die with it.
	context.AfterFunc(ctx, stop)
	err := run(ctx, os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, _ = fmt.Fprint(os.Stdout, usage)
	case err != nil:
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run is the command without the process around it.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	once := flags.Bool("once", false, "")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, usage)
	}
	return show(ctx, out, *once)
}
