package run

import (
	"strings"
	"testing"
)

// TestChoicesMustComeUp: an answer to a question that nobody asks is a mistake.
func TestChoicesMustComeUp(t *testing.T) {
	s := shop(t, `  choices:
  - {class: fault, site: update X, nth: 3, pick: 1}
  - {class: order, site: y, pick: 1}
`)
	var got []string
	for _, f := range One(s, Options{NewOperator: newToy(nil)}).Failures {
		if f.Law == lawSteps {
			got = append(got, f.Message)
		}
	}
	want := `choice fault "update X" nth 3 was never asked, choice order "y" nth 1 was never asked`
	if strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

// TestMayFail: what may fail does not end the scenario, what may not does.
func TestMayFail(t *testing.T) {
	const refused = "create: {resource: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: shop}}}}"
	for spec, failing := range map[string]bool{
		"  steps:\n  - {mayFail: true, " + refused + "\n": false,
		"  steps:\n  - {" + refused + "\n":                true,
	} {
		failed := false
		for _, f := range One(shop(t, spec), Options{NewOperator: newToy(nil)}).Failures {
			failed = failed || f.Law == lawSteps
		}
		if failed != failing {
			t.Errorf("%s: failed %v, want %v", spec, failed, failing)
		}
	}
}

// TestGivenManager: a given object is applied by whom the scenario names.
func TestGivenManager(t *testing.T) {
	s := shop(t, "  expect: {restarts: any}\n")
	s.Given[0].Manager = "helm"
	r := One(s, Options{NewOperator: newToy(nil), KeepTrail: true})
	for _, line := range r.Trail.Lines() {
		if line.Manager == "helm" {
			return
		}
	}
	t.Errorf("nothing was written by helm")
}
