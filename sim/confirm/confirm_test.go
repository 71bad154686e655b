package confirm_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/sim/confirm"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

var (
	all   = flag.Bool("confirm.all", false, "play every scenario that fits the cap, not a handful")
	real  = flag.Bool("confirm.real", false, "play on a real node, too")
	limit = flag.Duration("confirm.cap", confirm.DefaultCap, "longest time a scenario may take")
	table = flag.String("confirm.table", "", "write the results as JSON below this folder")
)

// podReady is how long pods of the fake nodes take, the default of scenarios; as many
// nodes as the simulator has.
var plane = controlplane.Options{Node: controlplane.FakeNode, FakeNodes: 3, PodReadyDelay: scenario.DefaultPodStart}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(controlplane.Main(m, plane))
}

// scenarios reads those whose names match, or all.
func scenarios(t *testing.T, names ...string) []scenario.Scenario {
	t.Helper()
	var known []scenario.Fault
	for _, f := range faults.All {
		known = append(known, scenario.Fault{Name: f.Name, Doc: f.Doc})
	}
	found, problems := scenario.NewParser(steps.All(), known).ParseFiles([]string{"../../scenarios"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if len(names) == 0 {
		return found
	}
	found = slices.DeleteFunc(found, func(s scenario.Scenario) bool { return !slices.Contains(names, s.Name) })
	if len(found) != len(names) {
		t.Fatalf("found %d of the scenarios %v", len(found), names)
	}
	return found
}

// operator builds the real binary.
func operator(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "kick")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", binary, "../../cmd/kick")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the operator: %v\n%s", err, out)
	}
	return binary
}

// play confirms scenarios and fails for each difference, and for each that should
// have been played and was not. It returns how many were equal.
func play(t *testing.T, which []scenario.Scenario, o confirm.Options) int {
	t.Helper()
	o.Operator, o.Cap, o.Parallel = operator(t), *limit, 4
	results, err := confirm.Run(t.Context(), which, o, func(r confirm.Result) {
		var line strings.Builder
		_ = confirm.Line(&line, r)
		t.Log(strings.TrimSpace(line.String()))
		if r.Confirmed() && !r.Equal {
			t.Errorf("%s ends differently on the real control plane", r.Scenario)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := confirm.Sum(results)
	t.Log(sum)
	if sum.Broken > 0 {
		t.Errorf("%d scenarios could not be played", sum.Broken)
	}
	if *table != "" {
		write(t, filepath.Join(*table, t.Name()+".json"), results)
	}
	return sum.Equal
}

func write(t *testing.T, path string, results []confirm.Result) {
	t.Helper()
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := confirm.JSON(out, results); err != nil {
		t.Error(err)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
}

// A handful stands for all of them in every test run: a change, a killed operator, a
// call that lied, a watch that stood still, a rollout that fails, and nothing to do.
func TestHandful(t *testing.T) {
	names := []string{"change-secret", "crash-write-2-lost", "fault-stamp-timeoutlanded", "stale-cache-deployment", "adoption-fresh", "template-untouched"}
	which := scenarios(t, names...)
	if *all {
		t.Skip("TestAll plays them")
	}
	if equal := play(t, which, confirm.Options{Config: controlplane.Shared(t).Config}); equal != len(which) {
		t.Errorf("%d of %d are the same in both worlds", equal, len(which))
	}
}

func TestAll(t *testing.T) {
	if !*all {
		t.Skip("takes about half an hour: make test-fidelity")
	}
	if equal := play(t, scenarios(t), confirm.Options{Config: controlplane.Shared(t).Config}); equal < 200 {
		t.Errorf("only %d scenarios were confirmed", equal)
	}
}

// onContainers are played on a real node as well: all ways to read a source, missing
// ones, crashed containers, broken images, rollbacks.
var onContainers = []string{
	"change-secret", "change-config-map", "change-helm-upgrade", "change-three-kinds", "change-key-of-three", "change-recreate-strategy",
	"adoption-fresh", "adoption-stale", "adoption-one-apply-reversed",
	"binary-data-one-byte", "binary-data-moved", "binary-data-key-removed", "binary-data-key-renamed",
	"optional-appears", "optional-disappears", "required-missing", "required-deleted", "required-recreated",
	"pods-crash-before-change", "references-sub-path", "references-ephemeral-container", "references-image-pull-secret",
	"down-change", "down-there-and-back", "rollback-running", "crash-write-3-landed", "crash-write-3-lost", "fault-stamp-timeoutlanded",
	"template-untouched", "nochange-metadata", "immutable-replaced", "names-same-workload-name",
}

// TestRealNode holds the two laws against what real containers say they loaded.
func TestRealNode(t *testing.T) {
	if !*real {
		t.Skip("starts a kubelet: make test-fidelity")
	}
	if err := controlplane.RealNodeUnavailable(); err != nil {
		t.Skipf("NOT PROVEN HERE: a real node cannot run on this machine: %v", err)
	}
	node := controlplane.ForTest(t, controlplane.Options{Node: controlplane.RealNode, Progress: os.Stderr})
	if err := node.LoadImage(t.Context(), confirm.DefaultImage, "./kick/kicktest/probe"); err != nil {
		t.Fatal(err)
	}
	which := scenarios(t, onContainers...)
	if equal := play(t, which, confirm.Options{Config: node.Config, RealPods: true}); equal < 25 {
		t.Errorf("the laws were held against real containers in %d scenarios, want 25", equal)
	}
}
