package operator_test

import (
	"os"
	"testing"
	"time"

	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/installation"
)

// The tests of this package run the operator as a process of its own against a
// real control plane, which all of them share; each has its own namespace and its
// own installation of KICK. Pods take about a second to start: faster than that,
// whole seconds would hide the difference between before and after a change.
func TestMain(m *testing.M) {
	installation.Main()
	os.Exit(controlplane.Main(m, controlplane.Options{Node: controlplane.FakeNode, PodReadyDelay: time.Second}))
}
