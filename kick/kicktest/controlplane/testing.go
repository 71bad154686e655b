package controlplane

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
)

// ForTest starts a control plane for one test and stops it when the test ends. A
// control plane that cannot start fails the test: it is never skipped.
func ForTest(t testing.TB, opts Options) *ControlPlane {
	t.Helper()
	plane, err := startForTest(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	return plane
}

// startForTest shows the progress of a build, which takes minutes, but not that of
// a start, which takes seconds.
func startForTest(ctx context.Context, opts Options) (*ControlPlane, error) {
	if _, err := Build(ctx, os.Stderr, programsFor(opts.Node)...); err != nil {
		return nil, err
	}
	return Start(ctx, opts)
}

// shared is the control plane of a test binary, started by the first that asks.
var shared struct {
	start func() (*ControlPlane, error)
	plane *ControlPlane
}

// Main runs the tests of a binary that share one control plane, stops that and
// returns the exit code. Tests get it from Shared; if none asks, none starts.
func Main(m *testing.M, opts Options) int {
	shared.start = sync.OnceValues(func() (*ControlPlane, error) {
		plane, err := startForTest(context.Background(), opts)
		shared.plane = plane
		return plane, err
	})
	code := m.Run()
	if shared.plane == nil {
		return code
	}
	if err := shared.plane.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// Shared returns the control plane of the test binary. Tests that share it must
// not share namespaces.
func Shared(t testing.TB) *ControlPlane {
	t.Helper()
	if shared.start == nil {
		t.Fatal("no shared control plane: TestMain must call controlplane.Main")
	}
	plane, err := shared.start()
	if err != nil {
		t.Fatal(err)
	}
	return plane
}
