package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/corewire/kick/kick/kicktest/controlplane"
)

// rolloutsSuite needs Argo Rollouts itself: its controller runs where tests of it do. It
// takes long to build, so that nobody else waits for it.
const rolloutsSuite = "chainsaw/suites/rollouts"

// hasRollouts reports whether tests of rolloutsSuite are among those of a suite: one is a
// folder of the other.
func hasRollouts(root, suite string) bool {
	if !filepath.IsAbs(suite) {
		suite = filepath.Join(root, suite)
	}
	ours := filepath.Join(root, filepath.FromSlash(rolloutsSuite))
	return within(ours, suite) || within(suite, ours)
}

func within(path, folder string) bool {
	relative, err := filepath.Rel(folder, path)
	return err == nil && relative != ".." && !strings.HasPrefix(relative, ".."+string(filepath.Separator))
}

// runRollouts builds the controller of Argo Rollouts and runs it.
func runRollouts(ctx context.Context, log io.Writer, plane *controlplane.ControlPlane) error {
	built, err := controlplane.Build(ctx, log, controlplane.ArgoRollouts)
	if err != nil {
		return err
	}
	if err := kubectl(ctx, plane, "create", "namespace", "argo-rollouts"); err != nil {
		return err
	}
	var ports [2]int
	for i := range ports {
		if ports[i], err = controlplane.FreePort(); err != nil {
			return err
		}
	}
	controller, err := plane.Run("argo-rollouts", nil, built[controlplane.ArgoRollouts],
		"--kubeconfig="+plane.Kubeconfig, "--namespace=argo-rollouts", "--leader-elect=false",
		fmt.Sprintf("--healthzPort=%d", ports[0]), fmt.Sprintf("--metricsPort=%d", ports[1]))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("not ready after a minute"))
	defer cancel()
	return controlplane.WaitHTTP(ctx, controller, fmt.Sprintf("http://127.0.0.1:%d/healthz", ports[0]))
}
