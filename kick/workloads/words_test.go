package workloads_test

import (
	"testing"

	"github.com/corewire/kick/kick/workloads"
)

func TestPodsAre(t *testing.T) {
	for want, got := range map[string]string{
		"0 of 1 pod is available":   workloads.PodsAre(0, 1, "available"),
		"1 of 2 pods are available": workloads.PodsAre(1, 2, "available"),
	} {
		if got != want {
			t.Errorf("said is %q, want %q", got, want)
		}
	}
}
