package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/toolcrds/original"
)

// operatorUser is who the operator is in the suites: with the rights that
// controller-gen wrote down and no others, so that a missing one is seen here.
const operatorUser = "system:serviceaccount:kick-system:kick"

// tools are those whose kinds are installed. The tools themselves do not run, but for Argo
// Rollouts: the suites write their objects' status, as the tools do.
var tools = []string{"argo-rollouts", "argo-rollouts-analysis", "argocd", "flux", "kargo", "secrets-store-csi"}

// operatorFlags turn on what the suites show. An Application's last comparison may be
// of any time, since no controller renews it. A Secret that mirrors a class is waited for
// until its test changes it, however slow the machine is. The lease outlasts a busy machine: nobody
// starts an operator again that has lost it.
var operatorFlags = []string{
	"--enable-config-bundles", "--enable-kargo", "--enable-argo-rollouts", "--enable-csi-integration", "--csi-rotation-poll-interval=10m", "--argocd-stale-after=-1s",
	"--leader-election-lease-duration=120s", "--leader-election-renew-deadline=100s",
}

// endToEnd runs Chainsaw suites against the operator, built from this tree, on a
// control plane of its own. Pods of its fake node take about a second to start, as
// real ones do: without that, tests that judge by pod times would prove nothing.
func endToEnd(ctx context.Context, out, log io.Writer, suite string) (err error) {
	root, err := controlplane.Root()
	if err != nil {
		return err
	}
	built, err := controlplane.Build(ctx, log, controlplane.Chainsaw)
	if err != nil {
		return err
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{
		Node: controlplane.FakeNode, PodReadyDelay: time.Second, Progress: log,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	if err := furnish(ctx, log, plane, root, suite); err != nil {
		return err
	}
	told, err := listen(ctx)
	if err != nil {
		return err
	}
	defer told.stop()
	operator, err := startOperator(ctx, plane, root, told)
	if err != nil {
		return err
	}
	chainsaw := exec.CommandContext(ctx, built[controlplane.Chainsaw], "test", "--test-dir", suite, "--no-color")
	if config := filepath.Join(root, "chainsaw", "config.yaml"); exists(config) {
		chainsaw.Args = append(chainsaw.Args, "--config", config)
	}
	chainsaw.Dir = root
	chainsaw.Stdout, chainsaw.Stderr = out, log
	chainsaw.Env = append(append(os.Environ(), told.env()...), "KUBECONFIG="+plane.Kubeconfig, "PATH="+path(
		filepath.Dir(plane.Kubeconfig), filepath.Dir(plane.Binaries[controlplane.Kubectl]), os.Getenv("PATH")))
	chainsaw.Cancel = func() error { return chainsaw.Process.Signal(os.Interrupt) }
	if err := chainsaw.Run(); err != nil {
		return fmt.Errorf("chainsaw: %w\nthe operator's last lines:\n%s", err, operator.Tail())
	}
	if !operator.Alive() {
		return fmt.Errorf("the operator ended during the suite; its last lines:\n%s", operator.Tail())
	}
	return nil
}

// furnish installs the kinds, and runs the controller that the suites need, if they do.
func furnish(ctx context.Context, log io.Writer, plane *controlplane.ControlPlane, root, suite string) error {
	if err := installKinds(ctx, plane, root); err != nil || !hasRollouts(root, suite) {
		return err
	}
	return runRollouts(ctx, log, plane)
}

// installKinds installs KICK's own kinds and those of the other tools.
func installKinds(ctx context.Context, plane *controlplane.ControlPlane, root string) error {
	if err := plane.InstallCRDs(ctx, os.DirFS(filepath.Join(root, "kick", "api", "crds"))); err != nil {
		return err
	}
	for _, tool := range tools {
		files, err := original.Files(ctx, tool)
		if err != nil {
			return err
		}
		if err := plane.InstallCRDs(ctx, files); err != nil {
			return fmt.Errorf("kinds of %s: %w", tool, err)
		}
	}
	return kubectl(ctx, plane, "create", "namespace", "argocd")
}

// startOperator builds cmd/kick and runs it until it says that it is ready. The kubectl
// plugin is built beside it.
func startOperator(ctx context.Context, plane *controlplane.ControlPlane, root string, told *observers) (*controlplane.Process, error) {
	home := filepath.Dir(plane.Kubeconfig)
	kubeconfig := filepath.Join(home, "operator.kubeconfig")
	// Before the compile, which gives the API server's authorizer time to see the roles.
	if err := grant(ctx, plane, filepath.Join(root, "kick", "operator", "rbac", "role.yaml")); err != nil {
		return nil, err
	}
	compile := exec.CommandContext(ctx, "go", "build", "-o", home+string(os.PathSeparator), "./cmd/kick", "./cmd/kubectl-kick")
	compile.Dir = root
	if output, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the operator: %w\n%s", err, output)
	}
	if err := plane.WriteKubeconfig(kubeconfig, operatorUser, "system:serviceaccounts", "system:serviceaccounts:kick-system", "system:authenticated"); err != nil {
		return nil, err
	}
	port, err := controlplane.FreePort()
	if err != nil {
		return nil, err
	}
	probe := fmt.Sprintf("127.0.0.1:%d", port)
	flags := slices.Concat(operatorFlags, told.flags(), []string{"--health-probe-bind-address=" + probe})
	operator, err := plane.Run("kick", []string{"KUBECONFIG=" + kubeconfig, "POD_NAMESPACE=kick-system"}, append([]string{filepath.Join(home, "kick")}, flags...)...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("not ready after a minute"))
	defer cancel()
	return operator, controlplane.WaitHTTP(ctx, operator, "http://"+probe+"/readyz")
}

// grant gives the operator's user the generated roles: those for the cluster, and one
// for the operator's own namespace.
func grant(ctx context.Context, plane *controlplane.ControlPlane, role string) error {
	for _, args := range [][]string{
		{"create", "namespace", "kick-system"},
		{"apply", "--server-side", "-f", role},
		{"create", "clusterrolebinding", "kick", "--clusterrole=kick", "--user=" + operatorUser},
		{"create", "clusterrolebinding", "kick-notifications", "--clusterrole=kick-notifications", "--user=" + operatorUser},
		{"create", "clusterrolebinding", "kick-timeline", "--clusterrole=kick-timeline", "--user=" + operatorUser},
		{"create", "clusterrolebinding", "kick-config-bundles", "--clusterrole=kick-config-bundles", "--user=" + operatorUser},
		{"create", "rolebinding", "kick", "--namespace=kick-system", "--role=kick", "--user=" + operatorUser},
	} {
		if err := kubectl(ctx, plane, args...); err != nil {
			return err
		}
	}
	return nil
}

// kubectl runs one command as the administrator.
func kubectl(ctx context.Context, plane *controlplane.ControlPlane, args ...string) error {
	command := exec.CommandContext(ctx, plane.Binaries[controlplane.Kubectl], append(args, "--kubeconfig="+plane.Kubeconfig)...)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s", args[0], err, output)
	}
	return nil
}

// path is a list of folders to find programs in.
func path(folders ...string) string { return strings.Join(folders, string(os.PathListSeparator)) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
