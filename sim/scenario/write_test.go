package scenario_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

func newParser() *scenario.Parser {
	var known []scenario.Fault
	for _, f := range faults.All {
		known = append(known, scenario.Fault{Name: f.Name})
	}
	return scenario.NewParser(steps.All(), known)
}

func written(t *testing.T, s scenario.Scenario) string {
	t.Helper()
	var out bytes.Buffer
	if err := scenario.Write(&out, s); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// readBack parses what Write wrote.
func readBack(t *testing.T, text string) scenario.Scenario {
	t.Helper()
	path := filepath.Join(t.TempDir(), "written.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	scenarios, problems := newParser().ParseFile(path)
	if len(problems) > 0 || len(scenarios) != 1 {
		t.Fatalf("%v\n%s", problems, text)
	}
	return scenarios[0]
}

// TestWriteReadsBack writes every scenario of the project and every example of a
// verb, and reads it back.
func TestWriteReadsBack(t *testing.T) {
	scenarios, problems := newParser().ParseFiles([]string{"../../scenarios"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, s := range scenarios {
		text := written(t, s)
		again := readBack(t, text)
		if second := written(t, again); second != text {
			t.Errorf("%s: written again it differs:\n%s\n---\n%s", s.Name, text, second)
		}
		if len(again.Given) != len(s.Given) || !reflect.DeepEqual(again.Expect, s.Expect) || !again.Start.Equal(s.Start) {
			t.Errorf("%s: read back it differs:\n%s", s.Name, text)
		}
		for i, r := range again.Given {
			if !reflect.DeepEqual(r.Object, s.Given[i].Object) || r.Manager != s.Given[i].Manager {
				t.Errorf("%s: %s differs:\n%s", s.Name, r, text)
			}
		}
	}
}

func TestWriteEveryVerb(t *testing.T) {
	examples := []string{"operator: {pause: 20s}"}
	for _, verb := range steps.All() {
		example, _, _ := strings.Cut(verb.Example, "  ")
		examples = append(examples, example)
	}
	for _, example := range examples {
		argument := strings.ReplaceAll(example, "{...}", "{apiVersion: v1, kind: Secret, metadata: {namespace: shop, name: db}}")
		text := header + "  steps:\n  - {at: 1m, name: look, mayFail: true, " + argument + "}\n"
		s := readBack(t, strings.Replace(text, "file: manifests/web.yaml", "resource: {apiVersion: v1, kind: Secret, metadata: {name: db}}", 1))
		again := readBack(t, written(t, s))
		a, b := s.Steps[0], again.Steps[0]
		if a.Verb != b.Verb || a.At != b.At || !b.AtSet || b.Name != "look" || !b.MayFail {
			t.Errorf("%s: got %+v, want %+v", example, b, a)
		}
		// Places in the file differ; all else shows when it is written.
		if one, two := written(t, s), written(t, again); one != two {
			t.Errorf("%s: got\n%s\nwant\n%s", example, two, one)
		}
	}
}

const header = "apiVersion: sim.kick.corewire.io/v1alpha1\nkind: Scenario\nmetadata: {name: x}\nspec:\n"

// TestWriteLooks is how a file looks to a person.
func TestWriteLooks(t *testing.T) {
	want := `apiVersion: sim.kick.corewire.io/v1alpha1
kind: Scenario
metadata:
  name: x
spec:
  summary: 'A: sentence'
  start: "2026-03-01T12:00:00.5Z"
  operator: {replicas: 2, startAt: 1h, flags: {rollout-timeout: 2m}}
  world: {clockSkew: {kick: -2s}}
  given:
    - {resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: db, namespace: shop}, data: {a: "1"}}, as: helm}
  steps:
    - {at: 1m30s, patch: {resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: db, namespace: shop}, data: {a: null}}, as: helm}}
    - {mayFail: true, rollout: {scale: {kind: Deployment, namespace: shop, name: web, replicas: 0}}}
  choices:
    - {class: fault, site: update KickRequest/status, nth: 2, pick: 3}
  expect: {settle: 24h, restarts: any}
`
	if got := written(t, readBack(t, want)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestChoicesAreChecked(t *testing.T) {
	_, problems := parse(t, "a.yaml", header+"  choices:\n  - {class: fualt, site: x, pick: 1}\n  - {class: order, site: x, nth: 0, pick: 1}\n  - {class: lag, site: x}\n")
	for _, want := range []string{
		`a.yaml:6:13: unknown class of questions "fualt" - did you mean "fault"?`,
		"a.yaml:7:34: 0 is too small, the least is 1",
		"a.yaml:8:5: a choice needs pick:",
	} {
		if !strings.Contains(problems.Error(), want) {
			t.Errorf("got %v, want %s", problems, want)
		}
	}
}
