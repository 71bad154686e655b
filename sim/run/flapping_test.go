package run_test

import (
	"strings"
	"testing"

	"github.com/corewire/kick/sim/run"
)

// Who watches a cluster hears once which source keeps changing, and how to find who
// writes it (field case B09).
func TestAFlappingSourceIsNamedOnce(t *testing.T) {
	const file = "../../scenarios/rate-flapping-producer.yaml"
	all, problems := newParser().ParseFile(file)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	log := trace(t, run.One(all[0], keepAll))
	if got := strings.Count(log, "SourceFlapping"); got != 1 {
		t.Errorf("the log tells %d times of the flapping Secret, want once", got)
	}
	if want := "kubectl -n shop get secret db -o yaml --show-managed-fields"; !strings.Contains(log, want) {
		t.Errorf("the log does not say %q", want)
	}
}
