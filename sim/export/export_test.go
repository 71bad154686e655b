package export_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/sim/export"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

func parse(t *testing.T, paths ...string) []scenario.Scenario {
	t.Helper()
	var known []scenario.Fault
	for _, f := range faults.All {
		known = append(known, scenario.Fault{Name: f.Name, Doc: f.Doc})
	}
	found, problems := scenario.NewParser(steps.All(), known).ParseFiles(paths)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return found
}

// Every scenario that can be exported is, and Chainsaw itself says that the test is
// valid; all others are refused with a reason.
func TestAllScenarios(t *testing.T) {
	tools, err := controlplane.Build(t.Context(), os.Stderr, controlplane.Chainsaw)
	if err != nil {
		t.Fatal(err)
	}
	exported := 0
	for _, s := range parse(t, "../../scenarios") {
		test, err := export.Chainsaw(s)
		if err != nil {
			continue
		}
		exported++
		path := filepath.Join(t.TempDir(), "chainsaw-test.yaml")
		if err := os.WriteFile(path, test, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), tools[controlplane.Chainsaw], "lint", "test", "-f", path).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "The document is valid") {
			t.Errorf("%s: %v\n%s", s.Name, err, out)
		}
	}
	if exported < 60 {
		t.Errorf("only %d scenarios were exported", exported)
	}
	t.Logf("%d exported", exported)
}

const head = `apiVersion: sim.kick.corewire.io/v1alpha1
kind: Scenario
metadata: {name: x}
spec:
  given:
    - resource: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: shop}, data: {a: MQ==, b: Mg==}}
`

func TestRefusals(t *testing.T) {
	policy := "    - resource: {apiVersion: kick.corewire.io/v1alpha1, kind: KickPolicy, metadata: {name: all, namespace: shop}, spec: {schedule: {windows: [{type: Allow, cron: '0 1 * * *', duration: 1h}]}}}\n"
	request := "{apiVersion: kick.corewire.io/v1alpha1, kind: KickRequest, metadata: {name: deployment-web, namespace: shop}, status: {phase: Succeeded}}"
	tests := map[string]struct{ rest, want string }{
		"operator":   {"  steps: [{operator: crash}]\n", "x.yaml:7: step 1: operator has no meaning"},
		"fault":      {"  steps: [{fault: {name: conflict}}]\n", "step 1: fault has no meaning"},
		"clock":      {"  steps: [{clock: {domain: kick, step: 1s}}]\n", "step 1: clock has no meaning"},
		"flags":      {"  operator: {flags: {rollout-timeout: 1m}}\n", "a test finds KICK running"},
		"replicas":   {"  operator: {replicas: 2}\n", "a test finds KICK running"},
		"windows":    {policy, "it speaks of dates"},
		"namespaces": {"    - resource: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: other}}\n", "it has the namespaces other, shop"},
		"broken":     {"  steps: [{assert: {resource: " + request + "}}]\n", "it fails in the simulator"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.yaml")
			if err := os.WriteFile(path, []byte(head+tt.rest), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := export.Chainsaw(parse(t, path)[0])
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// Chainsaw's apply merges: what takes a key away must go through kubectl.
func TestApplyThatTakesAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.yaml")
	steps := `  steps:
    - apply: {resource: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: shop}, data: {a: MQ==, b: Mw==}}}
    - apply: {resource: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: shop}, data: {a: MQ==}}}
`
	if err := os.WriteFile(path, []byte(head+steps), 0o644); err != nil {
		t.Fatal(err)
	}
	test, err := export.Chainsaw(parse(t, path)[0])
	if err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(string(test), "name: 2 apply")
	if strings.Contains(first, "script:") || !strings.Contains(second, "kubectl --namespace=$NAMESPACE apply --server-side") {
		t.Errorf("got\n%s", test)
	}
}
