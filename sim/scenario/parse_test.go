package scenario_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// parse writes files into a folder and reads the first of them.
func parse(t *testing.T, files ...string) ([]scenario.Scenario, scenario.Problems) {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i+1 < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	parser := scenario.NewParser(steps.All(), []scenario.Fault{{Name: "conflict"}, {Name: "staleCache"}})
	return parser.ParseFiles([]string{files[0]})
}

// with puts lines into the spec of a scenario that is right otherwise; the first
// of them is line 5.
func with(spec string) string {
	return "apiVersion: sim.kick.corewire.io/v1alpha1\nkind: Scenario\nmetadata: {name: x}\nspec:\n" + spec + "\n"
}

func TestMistakes(t *testing.T) {
	tests := map[string]struct {
		spec string
		want []string
	}{
		"unknown field of the spec": {"  summry: x", []string{`x.yaml:5:3: unknown field "summry" - did you mean "summary"?`}},
		"unknown field, no guess":   {"  colour: x", []string{`x.yaml:5:3: unknown field "colour"`}},
		"unknown verb": {"  steps:\n  - aply: {}", []string{
			`x.yaml:6:5: unknown step verb "aply" - did you mean "apply"? (kick-sim list steps)`}},
		"two verbs": {"  steps:\n  - advance: 1s\n    settle: 1s", []string{
			`x.yaml:6:5: a step has one verb, this one has "advance" and "settle": write two steps`}},
		"no verb":           {"  steps:\n  - at: 1s", []string{`x.yaml:6:5: the step has no verb (kick-sim list steps)`}},
		"at and after":      {"  steps:\n  - {at: 1s, after: 1s, heal: {}}", []string{`x.yaml:6:5: give either at or after, not both`}},
		"missing unit":      {"  steps:\n  - advance: 30", []string{`x.yaml:6:14: bad duration "30": write it like 500ms, 90s or 1h30m (the unit is missing: 30s?)`}},
		"days":              {"  expect: {settle: 2d}", []string{`x.yaml:5:20: bad duration "2d": write it like 500ms, 90s or 1h30m (days are not a unit: 48h?)`}},
		"negative duration": {"  world: {podStart: -1s}", []string{`x.yaml:5:21: duration -1s is negative`}},
		"bad time":          {"  start: 2026-03-01", []string{`x.yaml:5:10: bad time "2026-03-01": write it like 2026-03-01T12:00:00Z (RFC 3339, fractions allowed)`}},
		"at in the past": {"  steps:\n  - {at: 10s, heal: {}}\n  - advance: 1m\n  - {at: 30s, heal: {}}", []string{
			`x.yaml:8:6: at 30s lies in the past: the steps before reach 1m10s`}},
		"missing file":      {"  given: [{file: no.yaml}]", []string{`x.yaml:5:18: cannot read file "no.yaml": no such file or directory`}},
		"file and resource": {"  given: [{resource: {apiVersion: v1, kind: Namespace, metadata: {name: x}}, file: no.yaml}]", []string{`x.yaml:5:84: cannot read file "no.yaml": no such file or directory`}},
		"neither":           {"  given: [{}]", []string{`x.yaml:5:11: needs file: or resource:`}},
		"unknown object field": {"  given:\n  - resource:\n      apiVersion: apps/v1\n      kind: Deployment\n      metadata: {name: web}\n      spec:\n        replicsa: 3", []string{
			`x.yaml:11:9: unknown field "spec.replicsa" in Deployment - did you mean "replicas"?`}},
		"field of a section beside it": {"  given:\n  - resource:\n      apiVersion: kick.corewire.io/v1alpha1\n      kind: KickPolicy\n      metadata: {name: all}\n      spec:\n        settleDelay: 3s", []string{
			`x.yaml:11:9: unknown field "spec.settleDelay" in KickPolicy - did you mean "spec.restart.settleDelay"?`}},
		"unknown field in a list": {"  given:\n  - resource:\n      apiVersion: v1\n      kind: Pod\n      metadata: {name: web}\n      spec:\n        containers:\n        - name: a\n          evnFrom: []", []string{
			`x.yaml:13:11: unknown field "spec.containers[0].evnFrom" in Pod - did you mean "envFrom"?`}},
		"wrong type": {"  given:\n  - resource:\n      apiVersion: apps/v1\n      kind: Deployment\n      metadata: {name: web}\n      spec:\n        replicas: three", []string{
			`x.yaml:11:9: Deployment: field "replicas" cannot hold a string, it wants a whole number`}},
		"a number as data": {"  given:\n  - resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {PORT: 80}}", []string{
			`x.yaml:6:83: ConfigMap: field "data" cannot hold a number, it wants text (put it in quotes)`}},
		"unknown kind": {"  given:\n  - resource: {apiVersion: apps/v1, kind: Deploymnet, metadata: {name: a}}", []string{
			`x.yaml:6:37: unknown kind "Deploymnet" in apps/v1 - did you mean "Deployment"?`}},
		"foreign kind": {"  given:\n  - resource: {apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a}}", []string{
			`x.yaml:6:16: the simulator has no Go type for Certificate in cert-manager.io/v1: only built-in kinds, KICK's own and those of GitOps tools can be used`}},
		"a list":              {"  given: [{resource: {apiVersion: v1, kind: List, items: []}}]", []string{`x.yaml:5:39: List is a list: give each of its items by itself`}},
		"a list of a kind":    {"  given: [{resource: {apiVersion: v1, kind: SecretList, items: []}}]", []string{`x.yaml:5:39: SecretList is a list: give each of its items by itself`}},
		"plain text in data":  {"  given: [{resource: {apiVersion: v1, kind: Secret, metadata: {name: a}, data: {x: YQ==, y: plain}}}]", []string{`x.yaml:5:90: Secret: data.y is not base64; plain text goes into stringData`}},
		"a folder":            {"  given: [{file: .}]", []string{`x.yaml:5:18: cannot read file ".": .: is a folder: name one of its files`}},
		"no kind":             {"  given: [{resource: {metadata: {name: a}}}]", []string{`x.yaml:5:22: a Kubernetes object needs apiVersion and kind`}},
		"no name":             {"  given: [{resource: {apiVersion: v1, kind: Secret}}]", []string{`x.yaml:5:22: Secret without metadata.name`}},
		"a field twice":       {"  summary: a\n  summary: b", []string{`x.yaml:6:3: field "summary" stands here and in line 5`}},
		"unknown fault":       {"  steps:\n  - fault: {name: conflct}", []string{`x.yaml:6:19: unknown fault "conflct" - did you mean "conflict"? (kick-sim list faults)`}},
		"call of a fault":     {"  steps:\n  - fault: {name: conflict, on: {verb: ptch}}", []string{`x.yaml:6:40: unknown verb of a call "ptch" - did you mean "patch"? (one of create, delete, get, list, patch, update)`}},
		"operator action":     {"  steps:\n  - operator: stat", []string{`x.yaml:6:15: unknown operator action "stat" - did you mean "start"? (one of crash, restart, start, stop)`}},
		"rollout operation":   {"  steps:\n  - rollout: {und: {}}", []string{`x.yaml:6:15: unknown field "und" - did you mean "undo"?`, `x.yaml:6:14: rollout takes exactly one operation, this one has 0 (kick-sim list steps)`}},
		"rollout of a pod":    {"  steps:\n  - rollout: {undo: {kind: Pod, name: a}}", []string{`x.yaml:6:28: unknown workload kind "Pod" (one of DaemonSet, Deployment, Rollout, StatefulSet)`}},
		"clock domain":        {"  steps:\n  - clock: {domain: kik, step: 1s}", []string{`x.yaml:6:21: unknown clock domain "kik" - did you mean "kick"? (one of apiserver, kcm, kubelet, kick)`}},
		"clock skew":          {"  world: {clockSkew: {api: 1s}}", []string{`x.yaml:5:23: unknown field "api"`}},
		"JMESPath":            {"  steps:\n  - assert: {resource: {apiVersion: v1, kind: Secret, metadata: {(length(name)): 3}}}", []string{`x.yaml:6:66: key "(length(name))" is a JMESPath expression: the simulator matches plain fields only`}},
		"assert checks types": {"  steps:\n  - assert: {resource: {apiVersion: kick.corewire.io/v1alpha1, kind: KickRequest, status: {pase: Failed}}}", []string{`x.yaml:6:92: unknown field "status.pase" in KickRequest - did you mean "phase"?`}},
		"restarts key":        {"  expect: {restarts: {shop/web: 1}}", []string{`x.yaml:5:23: "shop/web" is not namespace/Kind/name with a Kind KICK restarts, such as shop/Deployment/web`}},
		"restarts range":      {"  expect: {restarts: {shop/Deployment/web: {min: 2, max: 1}}}", []string{`x.yaml:5:44: max 1 is below min 2`}},
		"phase":               {"  expect: {requests: {shop/deployment-web: Sukceeded}}", []string{`x.yaml:5:44: unknown phase "Sukceeded" - did you mean "Succeeded"? (one of Pending, WaitingForGate, WaitingForOwner, WaitingForApplicationSync, WaitingForRollout, Executing, Succeeded, NoLongerRequired, Failed, DryRun)`}},
		"replicas":            {"  operator: {replicas: 0}", []string{`x.yaml:5:24: 0 is too small, the least is 1`}},
		"crd set":             {"  world: {crds: [argo-cd]}", []string{`x.yaml:5:18: unknown CRD set "argo-cd" - did you mean "argocd"? (one of argo-rollouts, argocd, flux, kargo, secrets-store-csi)`}},
		"all at once":         {"  summery: x\n  steps:\n  - advance: x\n  - aply: {}", []string{`x.yaml:5:3: unknown`, `x.yaml:7:14: bad duration`, `x.yaml:8:5: unknown step verb`}},
		"many operators":      {"  operator: {replicas: 1000000}", []string{`x.yaml:5:24: 1000000 replicas of the operator are too many: give at most 10`}},
		"many pods": {"  given:\n  - resource:\n      apiVersion: apps/v1\n      kind: Deployment\n      metadata: {name: web}\n      spec:\n        replicas: 1000000", []string{
			`x.yaml:11:9: replicas: 1000000 is more than a simulated cluster holds: give at most 1000 for a workload`}},
		"many pods, written short": {"  steps:\n  - apply: {resource: {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {replicas: 1e6}}}", []string{
			`x.yaml:6:94: replicas: 1000000 is more`}},
		"negative pods": {"  steps:\n  - patch: {resource: {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {replicas: -1}}}", []string{
			`x.yaml:6:94: replicas: -1 is negative, the least is 0`}},
		"scaled out":          {"  steps:\n  - rollout: {scale: {kind: Deployment, name: a, replicas: 1001}}", []string{`x.yaml:6:60: replicas: 1001 is more than a simulated cluster holds: give at most 1000 for a workload`}},
		"not YAML":            {"  steps: [", []string{`x.yaml:5:3: not YAML:`}},
		"key too far left":    {"  summary: x\n  steps:\n    - {advance: 90s}\n   - {advance: 5s}", []string{`x.yaml:8:4: not YAML: did not find expected key`}},
		"never closed":        {"  summary: x\n  steps: [{advance: 90s\n  expect: {}", []string{`x.yaml:6:3: not YAML: did not find expected ',' or '}'`}},
		"quote never closed":  {"  summary: x\n  seed: \"1\n  expect: {}", []string{`x.yaml:6:3: not YAML: found unexpected end of stream`}},
		"no such anchor":      {"  summary: x\n  seed: *one", []string{`x.yaml:6:3: not YAML: unknown anchor 'one' referenced`}},
		"two colons":          {"  summary: x\n  seed: 1\n  expect: a: b\n", []string{`x.yaml:7:3: not YAML: mapping values are not allowed in this context`}},
		"not UTF-8":           {"  seed: 1\n  summary: \x80\n", []string{`x.yaml:6:3: not YAML: invalid leading UTF-8 octet`}},
		"delete without ref":  {"  steps:\n  - delete: {}", []string{`x.yaml:6:13: delete needs ref:`}},
		"scale needs a count": {"  steps:\n  - rollout: {scale: {kind: Deployment, name: a}}", []string{`x.yaml:6:22: scale needs replicas: N`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, problems := parse(t, "x.yaml", with(tt.spec))
			if len(problems) != len(tt.want) {
				t.Fatalf("got %d problems, want %d:\n%v", len(problems), len(tt.want), problems)
			}
			var got []string
			for _, p := range problems {
				got = append(got, p.String())
			}
			for _, want := range tt.want {
				if !containsPrefix(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
}

func containsPrefix(list []string, prefix string) bool {
	for _, s := range list {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

func TestHeaderMistakes(t *testing.T) {
	_, problems := parse(t, "x.yaml", "apiVersion: sim.kick.corewire.io/v1\nmetadata: {name: Not_A_Label}\n")
	want := []string{
		`x.yaml:1:1: kind: Scenario is missing`,
		`x.yaml:1:1: spec is missing`,
		`x.yaml:1:13: unknown apiVersion "sim.kick.corewire.io/v1" - did you mean "sim.kick.corewire.io/v1alpha1"? (one of sim.kick.corewire.io/v1alpha1)`,
		`x.yaml:2:18: name "Not_A_Label" is not a DNS label: lower-case letters, digits and -, at most 63 characters`,
	}
	if got := problems.Error(); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestDuplicateNames(t *testing.T) {
	_, problems := parse(t, "x.yaml", with("  seed: 1")+"---\n"+with("  seed: 2"))
	if want := `x.yaml:9:18: scenario "x" exists already: x.yaml:3`; problems.Error() != want {
		t.Errorf("got %q, want %q", problems.Error(), want)
	}
}

func TestManifestMistakeNamesTheManifest(t *testing.T) {
	_, problems := parse(t, "x.yaml", with("  given: [{file: manifests/a.yaml}]"),
		"manifests/a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Secret\nmetadata: {nam: a}\n")
	want := `manifests/a.yaml:7:12: unknown field "metadata.nam" in Secret - did you mean "name"?`
	if len(problems) == 0 || problems[0].String() != want {
		t.Errorf("got %q, want %q", problems.Error(), want)
	}
}

func TestFoldersLeaveManifestsOut(t *testing.T) {
	_, _ = parse(t, "s/b.yaml", with("  seed: 3"), "s/manifests/a.yaml", "nonsense: true\n", "s/notes.txt", "x", "empty/x", "")
	scenarios, problems := scenario.NewParser(steps.All(), nil).ParseFiles([]string{"s", "s/b.yaml", "empty", "gone.yaml"})
	if len(scenarios) != 1 || scenarios[0].Seed != 3 {
		t.Errorf("got %v", scenarios)
	}
	want := "empty: no *.yaml file in this folder\ngone.yaml: no such file or directory"
	if problems.Error() != want {
		t.Errorf("got %q, want %q", problems.Error(), want)
	}
}

func TestAllFields(t *testing.T) {
	scenarios, problems := parse(t, "x.yaml", with(`  summary: s
  proves: [I2, B12]
  start: "2026-03-01T12:00:00.25+01:00"
  seed: 7
  operator: {replicas: 2, startAt: 5s, flags: {rollout-timeout: 15m, enable-argocd: "true", n: 3}}
  world: {podStart: 3s, kubeletCacheLag: 1s, clockSkew: {kick: -2s}}
  given:
  - file: manifests/a.yaml
  - resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, binaryData: {k: AAE=}}
  steps:
  - {at: 1s, name: n, apply: {file: manifests/a.yaml, as: helm}}
  - patch: {resource: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, status: {replicas: 1}}, subresource: status}
  - rollout: {evict: {kind: StatefulSet, namespace: shop, name: db, pods: 2}}
  - crashAtWrite: {n: 3, landed: false}
  - fault: {name: conflict, on: {verb: patch, kind: Deployment, namespace: shop, name: web}, times: 2}
  expect:
    settle: 3h
    restarts: {shop/Deployment/web: {min: 1, max: 2}, shop/DaemonSet/d: {min: 1}}
    requests: {shop/deployment-web: Failed}
    allow: {spurious: 1, lost: 2}`),
		"manifests/a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: shop}\nstringData: {p: x}\n---\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	s := scenarios[0]
	if want := time.Date(2026, 3, 1, 11, 0, 0, 250e6, time.UTC); !s.Start.Equal(want) {
		t.Errorf("start %s, want %s", s.Start, want)
	}
	if s.Seed != 7 || s.Operator.Replicas != 2 || s.Operator.Flags["n"] != "3" || s.World.ClockSkew[clock.Kick] != -2*time.Second {
		t.Errorf("got %+v", s)
	}
	if len(s.Given) != 3 || s.Given[1].Key.Name != "shop" || s.Given[2].Key.Namespace != "default" {
		t.Errorf("given %v", s.Given)
	}
	if len(s.Steps) != 5 || s.Steps[0].Name != "n" || !s.Steps[0].AtSet || s.Steps[1].Verb != "patch" {
		t.Errorf("steps %+v", s.Steps)
	}
	if r := s.Expect.Restarts["shop/DaemonSet/d"]; r.Contains(0) || !r.Contains(9) {
		t.Errorf("range %+v", r)
	}
	if s.Expect.Allow != (scenario.Allow{Spurious: 1, Lost: 2}) || s.Expect.Settle != 3*time.Hour {
		t.Errorf("expect %+v", s.Expect)
	}
}

func TestAnchorsAndMerges(t *testing.T) {
	scenarios, problems := parse(t, "x.yaml", with(`  given:
  - resource: &base {apiVersion: v1, kind: Secret, metadata: {name: a}, type: Opaque}
  - resource: {<<: *base, metadata: {name: b}}
  - resource: *base`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got := scenarios[0].Given[1]; got.Key.Name != "b" || got.Data["type"] != "Opaque" {
		t.Errorf("got %v", got.Data)
	}
}
