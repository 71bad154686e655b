package charttest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/installation"
)

const chart = "../kick"

// The tests share one control plane, whose pods are made by kwok: they are ready, and run
// nothing. Where KICK is to run, it is a process with the service account's rights.
func TestMain(m *testing.M) {
	installation.Main()
	ctrl.SetLogger(logr.Discard()) // of clients
	os.Exit(controlplane.Main(m, controlplane.Options{Node: controlplane.FakeNode, PodReadyDelay: time.Second, ServiceAccounts: true}))
}

var helmPath = sync.OnceValues(func() (string, error) {
	binaries, err := controlplane.Build(context.Background(), os.Stderr, controlplane.Helm)
	return binaries[controlplane.Helm], err
})

// helm runs helm without any cluster and returns what it prints.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return helmAt(t, os.DevNull, args...)
}

// helmAt runs helm against a cluster.
func helmAt(t *testing.T, kubeconfig string, args ...string) (string, error) {
	t.Helper()
	path, err := helmPath()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), path, args...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("helm %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String(), nil
}

// mustHelm runs helm against the shared control plane.
func mustHelm(t *testing.T, args ...string) string {
	t.Helper()
	out, err := helmAt(t, controlplane.Shared(t).Kubeconfig, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// valueSets are the files of values that the chart is rendered with, by their names.
func valueSets(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(chart + "/ci/*-values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sets := map[string]string{}
	for _, file := range files {
		sets[strings.TrimSuffix(filepath.Base(file), "-values.yaml")] = file
	}
	if len(sets) < 8 {
		t.Fatalf("only %d sets of values in %s/ci", len(sets), chart)
	}
	return sets
}

// install installs the chart, with the CRDs that an earlier release has left, and
// uninstalls it when the test ends.
func install(t *testing.T, namespace string, args ...string) {
	t.Helper()
	args = append([]string{"upgrade", "--install", "kick", chart, "--namespace", namespace, "--create-namespace", "--take-ownership", "--wait", "--timeout", "5m"}, args...)
	mustHelm(t, args...)
	t.Cleanup(func() {
		out, err := helmAt2(controlplane.Shared(t).Kubeconfig, "uninstall", "kick", "--namespace", namespace, "--ignore-not-found", "--wait")
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// helmAt2 is helmAt for after a test, when its context is over.
func helmAt2(kubeconfig string, args ...string) (string, error) {
	path, err := helmPath()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
