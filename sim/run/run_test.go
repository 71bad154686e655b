package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

func load(t testing.TB, paths ...string) []scenario.Scenario {
	t.Helper()
	scenarios, problems := scenario.NewParser(steps.All(), nil).ParseFiles(paths)
	if len(problems) > 0 {
		t.Fatalf("problems:\n%v", problems)
	}
	return scenarios
}

// shop reads a scenario that has the objects of manifests/shop.yaml and these
// further lines of its spec.
func shop(t testing.TB, spec string) scenario.Scenario {
	t.Helper()
	manifest, err := filepath.Abs("testdata/manifests/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.yaml")
	text := "apiVersion: sim.kick.corewire.io/v1alpha1\nkind: Scenario\nmetadata: {name: x}\nspec:\n  given: [{file: " + manifest + "}]\n" + spec
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return load(t, path)[0]
}

const rotate = "{resource: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: shop}, stringData: {password: second-password}}}"

// TestLawsFire plays operators with one fault each.
func TestLawsFire(t *testing.T) {
	changed := "  steps: [{at: 10s, apply: " + rotate + "}]\n"
	tests := map[string]struct {
		operator func(*toy)
		spec     string
		want     []string
	}{
		"a good one": {nil, changed + "  expect: {restarts: {shop/Deployment/web: 1}}", nil},
		"a deaf one": {func(o *toy) { o.deaf = true }, changed + "  expect: {restarts: {shop/Deployment/web: 1}}", []string{
			"nothing lost: shop/Deployment/web: pod web-", "restarts as expected: shop/Deployment/web: 0 restarts by KICK, want 1"}},
		"one that restarts for labels": {func(o *toy) { o.again = true },
			"  steps: [{at: 10s, patch: {resource: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: shop, labels: {a: b}}}}}]", []string{
				"nothing spurious: restart of shop/Deployment/web at 00:00:11.000Z", "restarts as expected: shop/Deployment/web: 1 restart by KICK, want 0"}},
		"one that talks": {func(o *toy) { o.says = "password is second-password" }, changed + "  expect: {restarts: {shop/Deployment/web: 1}}", []string{
			"no content leaks: a value of Secret shop/db stands in a log line"}},
		"one that ignores suspend": {nil, "  steps:\n  - patch: {resource: {apiVersion: kick.corewire.io/v1alpha1, kind: KickPolicy, metadata: {name: web, namespace: shop}, spec: {suspend: true}}}\n  - {at: 10s, apply: " + rotate + "}\n  expect: {restarts: {shop/Deployment/web: 1}}", []string{
			"gate open at the restart: restart of shop/Deployment/web at 00:00:11.000000Z, but its policy web is suspended"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := judged(shop(t, tt.spec), Options{NewOperator: newToy(tt.operator)})
			if r.Problem != nil {
				t.Fatal(r.Problem)
			}
			if len(r.Failures) != len(tt.want) {
				t.Errorf("got %v, want %q", r.Failures, tt.want)
				return
			}
			for i, f := range r.Failures {
				if !strings.HasPrefix(f.Law+": "+f.Message, tt.want[i]) {
					t.Errorf("got %s: %s, want %s", f.Law, f.Message, tt.want[i])
				}
			}
		})
	}
}

func TestFailingStep(t *testing.T) {
	s := shop(t, "  steps:\n  - advance: 10s\n  - name: look\n    assert: {resource: {apiVersion: v1, kind: Secret, metadata: {name: gone, namespace: shop}}, within: 5s}\n  - advance: 1h\n")
	r := judged(s, Options{NewOperator: newToy(nil)})
	if len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Message, "step 2 (look) at ") ||
		!strings.HasSuffix(r.Failures[0].Message, "x.yaml:8: assert: no Secret shop/gone matches within 5s: no such object exists") {
		t.Errorf("got %v", r.Failures)
	}
	if r.Virtual != 15*time.Second || r.Trail == nil {
		t.Errorf("stopped at %s", r.Virtual)
	}
}

// TestUnusableInput are mistakes that show only when a scenario runs.
func TestUnusableInput(t *testing.T) {
	tests := map[string]struct{ spec, want string }{
		"past after an assert": {"  steps:\n  - settle: 1h\n  - {at: 1s, heal: {}}\n", "x.yaml:8:5: at 1s lies in the past: the steps before reached 9m"},
		"unknown flag":         {"  operator: {flags: {no-such-flag: x}}\n", `x.yaml:6:21: operator: unknown flag "no-such-flag"`},
		"given refused":        {"  seed: 1\n", "x.yaml"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := shop(t, tt.spec)
			if name == "given refused" {
				s.Given[2].JSON = []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"shop","name":"web"},"spec":{"replicas":-1}}`)
				tt.want = "shop.yaml:10:1: given Deployment shop/web: "
			}
			r := judged(s, Options{NewOperator: newToy(nil)})
			if r.Problem == nil || !strings.Contains(r.Problem.String(), tt.want) {
				t.Errorf("got %v, want %s", r.Problem, tt.want)
			}
		})
	}
}

// TestGivenIsRolledOut: at t=0 all pods run, and no age lies at a second's edge.
func TestGivenIsRolledOut(t *testing.T) {
	s := shop(t, "  world: {podStart: 45s}\n  steps: [{assert: {resource: {apiVersion: apps/v1, kind: Deployment, metadata: {namespace: shop, name: web}, status: {readyReplicas: 3, updatedReplicas: 3}}}}]")
	r := judged(s, Options{NewOperator: newToy(nil), KeepTrail: true})
	if !r.OK() {
		t.Fatal(r.Problem, r.Failures)
	}
	var secret, pod time.Time
	for _, l := range r.Trail.Lines() {
		if l.Object == "Secret shop/db" && secret.IsZero() {
			secret = l.At
		}
		if strings.HasPrefix(l.Object, "Pod ") && pod.IsZero() {
			pod = l.At
		}
	}
	if pod.Sub(secret) < 2*time.Second || pod.After(s.Start.Add(-45*time.Second)) {
		t.Errorf("Secret %s, first pod %s, t=0 %s", secret, pod, s.Start)
	}
}

func TestStatefulSetTakesItsTime(t *testing.T) {
	s := shop(t, `  world: {podStart: 20s}
  steps: [{assert: {resource: {apiVersion: apps/v1, kind: StatefulSet, metadata: {namespace: shop, name: set}, status: {readyReplicas: 5}}}}]
`)
	path := filepath.Join(t.TempDir(), "set.yaml")
	text := "apiVersion: sim.kick.corewire.io/v1alpha1\nkind: Scenario\nmetadata: {name: set}\nspec:\n  given:\n  - resource: {apiVersion: apps/v1, kind: StatefulSet, metadata: {namespace: shop, name: set}, spec: {replicas: 5, serviceName: set, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}]}}}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Given = append(s.Given, load(t, path)[0].Given...)
	if r := judged(s, Options{NewOperator: newToy(nil)}); !r.OK() {
		t.Error(r.Problem, r.Failures)
	}
}

// TestDeterminism: equal input gives an equal trail, whatever runs beside it.
func TestDeterminism(t *testing.T) {
	scenarios := load(t, "testdata")
	var first []string
	for _, workers := range []int{1, 4} {
		var got []string
		All(scenarios, Options{NewOperator: newToy(nil), KeepTrail: true, Workers: workers}, func(r Result) {
			got = append(got, r.Scenario.Name)
			for _, l := range r.Trail.Lines() {
				got = append(got, l.At.String()+l.Actor+l.Text)
			}
		})
		if first == nil {
			first = got
		} else if strings.Join(first, "\n") != strings.Join(got, "\n") {
			t.Error("the trails differ")
		}
	}
}

// TestSeedsOnlyReorder: another seed changes the order of simultaneous events and
// not the outcome.
func TestSeedsOnlyReorder(t *testing.T) {
	s := load(t, "testdata/secret-change.yaml")[0]
	for seed := range uint64(20) {
		s.Seed = seed
		if r := judged(s, Options{NewOperator: newToy(nil)}); !r.OK() {
			t.Errorf("seed %d: %v %v", seed, r.Problem, r.Failures)
		}
	}
}

func TestExplainHasAnEnd(t *testing.T) {
	var steps strings.Builder
	for i := range 40 {
		value := "first-password"
		if i%2 == 0 {
			value = "other-password"
		}
		steps.WriteString("  - {after: 1m, apply: {resource: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: shop}, stringData: {password: " + value + "}}}}\n")
	}
	r := judged(shop(t, "  steps:\n"+steps.String()+"  expect: {restarts: {shop/Deployment/web: {min: 1}}}"), Options{NewOperator: newToy(nil), KeepTrail: true})
	lines := r.Trail.Explain(15)
	if len(lines) != 15 || lines[5].Actor != "..." {
		t.Errorf("got %d lines", len(lines))
	}
	for _, l := range lines {
		if strings.Contains(l.Text, "password") {
			t.Errorf("a value shows: %s", l.Text)
		}
	}
}
