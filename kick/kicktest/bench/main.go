// Command bench measures how long a changed Secret takes to reach the pod template
// of its Deployment, on a real control plane: from the acknowledged write to the
// template patch seen in a watch. Beside KICK stands the floor, a bare client that
// watches the Secret and patches the Deployment, without any memory, judgement or
// guard; both are measured in turns, so that they share whatever else the machine
// does. It passes no verdict: a clock is no test.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/installation"
)

func main() {
	installation.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	rounds := flag.Int("rounds", defaultRounds, "restarts to measure, of each kind")
	bundles := flag.Int("bundles", 0, "measure how long so many ConfigBundles take to heal instead")
	qps := flag.Int("qps", 0, "requests a second the operator may make; 0: its default (bundles only)")
	flag.Parse()
	var err error
	if *bundles > 0 {
		err = runBundles(ctx, *bundles, *qps)
	} else {
		_, err = run(ctx, os.Stdout, os.Stderr, *rounds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// runBundles measures on a control plane of its own and prints a table.
func runBundles(ctx context.Context, n, qps int) error {
	return onPlane(ctx, os.Stderr, func(plane *controlplane.ControlPlane) error {
		report, err := MeasureBundles(ctx, plane, n, qps)
		if err == nil {
			fmt.Print(report)
		}
		return err
	})
}

// onPlane measures on a control plane that is there for that only.
func onPlane(ctx context.Context, log io.Writer, measure func(*controlplane.ControlPlane) error) (err error) {
	plane, err := controlplane.Start(ctx, controlplane.Options{Node: controlplane.FakeNode, Progress: log})
	if err != nil {
		return err
	}
	defer func() {
		if stopped := plane.Stop(); err == nil {
			err = stopped
		}
	}()
	return measure(plane)
}

// run measures on a control plane of its own and prints a table.
func run(ctx context.Context, out, log io.Writer, rounds int) (report Report, err error) {
	if rounds < 1 {
		return report, fmt.Errorf("--rounds %d: want at least 1", rounds)
	}
	err = onPlane(ctx, log, func(plane *controlplane.ControlPlane) error {
		if report, err = Measure(ctx, plane, rounds); err == nil {
			_, err = fmt.Fprint(out, report)
		}
		return err
	})
	return report, err
}
