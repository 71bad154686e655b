package crds_test

import (
	"encoding/json"
	"strings"
	"testing"
	_ "time/tzdata" // kube-apiserver carries the zones too; the rule for timeZone reads them

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	sigsjson "sigs.k8s.io/json"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// Every row, against the validators that kube-apiserver runs. What is admitted must decode into the Go types.
func TestRules(t *testing.T) {
	admissions := newAdmissions(t)
	for _, r := range rows() {
		t.Run(kindOf(t, r.object)+"/"+r.name, func(t *testing.T) {
			stored, err := admissions[kindOf(t, r.object)].write(r)
			checkVerdict(t, r, err)
			if err == nil {
				decodeStrictly(t, stored)
			}
		})
	}
}

// Every rule of every schema must have refused something, or nobody knows that it works.
func TestEveryRuleRefusesSomething(t *testing.T) {
	var refusals strings.Builder
	admissions := newAdmissions(t)
	for _, r := range rows() {
		if _, err := admissions[kindOf(t, r.object)].write(r); err != nil {
			refusals.WriteString(err.Error())
		}
	}
	for _, definition := range definitions(t) {
		walk(definition, func(n node) {
			for _, rule := range n.XValidations {
				if !strings.Contains(refusals.String(), rule.Message) {
					t.Errorf("%s: no row is refused with %q", n.path, rule.Message)
				}
			}
		})
	}
}

// checkVerdict compares what an API server said to a row with what it must say.
func checkVerdict(t *testing.T, r row, err error) {
	t.Helper()
	switch {
	case r.refused == "" && err != nil:
		t.Errorf("try %s: refused with %q, want it admitted", r.name, err)
	case r.refused != "" && err == nil:
		t.Errorf("try %s: admitted, want it refused with %q", r.name, r.refused)
	case r.refused != "" && !strings.Contains(err.Error(), r.refused):
		t.Errorf("try %s: refused with %q, want the message to hold %q", r.name, err, r.refused)
	}
}

func kindOf(tb testing.TB, document string) string {
	tb.Helper()
	object, err := parse(document)
	if err != nil {
		tb.Fatalf("parse %s: %v", document, err)
	}
	return object.GetKind()
}

// decodeStrictly decodes an object into its Go type and fails on a value that does not fit and on a field that the type
// does not have.
func decodeStrictly(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	typed, err := scheme.New(object.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	unknown, err := sigsjson.UnmarshalStrict(raw, typed)
	if err != nil || len(unknown) > 0 {
		t.Errorf("decode the admitted %s: %v, unknown fields %v", raw, err, unknown)
	}
}
