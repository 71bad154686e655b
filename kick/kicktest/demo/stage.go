package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/installation"
)

const (
	// podReadyDelay is how long the fake node's pods take to start: long enough to
	// see the rollout go from pod to pod.
	podReadyDelay = 300 * time.Millisecond
	// patience bounds the whole story, on a machine that has much else to do.
	patience = 3 * time.Minute
)

// show sets the stage, tells the story and clears up.
func show(ctx context.Context, out io.Writer, once bool) (err error) {
	begin := time.Now()
	plane, err := controlplane.Start(ctx, controlplane.Options{
		Node: controlplane.FakeNode, PodReadyDelay: podReadyDelay, Progress: out,
	})
	if err != nil {
		return interrupted(ctx, err)
	}
	defer func() { err = errors.Join(err, clear(out, plane)) }()
	operator, err := install(ctx, out, plane)
	if err != nil {
		return interrupted(ctx, err)
	}
	story, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the story was not over after %s", patience))
	defer cancel()
	if err := tell(story, out, plane); err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("%w\nthe operator's last lines:\n%s", err, operator.Tail())
		}
		return interrupted(ctx, err)
	}
	say(out, "\nThat took %.1fs, from nothing to the finished rollout.\n", time.Since(begin).Seconds())
	if once {
		return nil
	}
	invite(out, plane, operator)
	<-ctx.Done()
	return nil
}

// interrupted: Ctrl-C is not a failure, whatever it broke off.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func clear(out io.Writer, plane *controlplane.ControlPlane) error {
	begin := time.Now()
	if err := plane.Stop(); err != nil {
		return fmt.Errorf("clean up: %w", err)
	}
	say(out, "\nCleaned up in %.1fs; nothing is left.\n", time.Since(begin).Seconds())
	return nil
}

// install brings up KICK and says how long each part took.
func install(ctx context.Context, out io.Writer, plane *controlplane.ControlPlane) (*installation.Operator, error) {
	var kick *installation.Installation
	var operator *installation.Operator
	err := timed(out, "CRDs and roles", func() (err error) {
		kick, err = installation.New(ctx, plane, "kick-system")
		return err
	})
	if err != nil {
		return nil, err
	}
	return operator, timed(out, "kick, the operator", func() (err error) {
		if operator, err = kick.Start(); err != nil {
			return err
		}
		return operator.WaitReady(ctx)
	})
}

func timed(out io.Writer, what string, work func() error) error {
	begin := time.Now()
	if err := work(); err != nil {
		return err
	}
	say(out, "%-24s up in %.1fs\n", what, time.Since(begin).Seconds())
	return nil
}

// invite says what to try on the running control plane.
func invite(out io.Writer, plane *controlplane.ControlPlane, operator *installation.Operator) {
	say(out, `
What to try next, in another terminal:

  alias k='%s --kubeconfig %s -n shop'

  k get kick -o wide                                           # all that KICK keeps
  k describe kickrequest deployment-web                        # why, and its events
  k patch secret web-secret -p '{"stringData":{"API_TOKEN":"charlie"}}'
  k get kickrequests -w                                        # see it happen again
  k label secret web-secret team=web                           # no change of content: no restart
  k patch kickpolicy web --type merge -p '{"spec":{"suspend":true}}'
  less %s   # the operator's log

Ctrl-C to clean up
`, plane.Binaries[controlplane.Kubectl], plane.Kubeconfig, operator.Log)
}

// say ignores a failing writer: there is nobody left to tell.
func say(out io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
