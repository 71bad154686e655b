package cli

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// policyOf is a document with a KickPolicy.
func policyOf(name, spec string) string {
	return "apiVersion: kick.corewire.io/v1alpha1\nkind: KickPolicy\nmetadata: {name: " + name + "}\nspec: " + spec + "\n"
}

// indented is a document as an item of a list.
func indented(document string) string {
	return "  - " + strings.ReplaceAll(strings.TrimSpace(document), "\n", "\n    ") + "\n"
}

// TestPlanReadsAsTheAPIServer: what strict field validation refuses is refused, and an error
// says which object, which field and what to do, also to those whom the API server does not
// check it for.
//
// Proves: KICK-FEAT-038.
func TestPlanReadsAsTheAPIServer(t *testing.T) {
	const list = "# all of them\n---\napiVersion: v1\nkind: List\nitems:\n"
	tests := map[string]struct {
		file string
		says []string // "" of a file that is taken
	}{
		"a field in the wrong case":    {policyOf("all", "{Suspend: true}"), []string{"document 1: KickPolicy all: ", `unknown field "spec.Suspend"`}},
		"a field of a list's item":     {policyOf("all", "{schedule: {windows: [{type: Deny, cron: '0 2 * * *', duration: 1h, timezone: UTC}]}}"), []string{`unknown field "spec.schedule.windows[0].timezone"`}},
		"a field twice":                {policyOf("all", "{suspend: true, suspend: false}"), []string{"document 1: ", `key "suspend" already set`}},
		"a day":                        {policyOf("all", "{restart: {minInterval: 1d}}"), []string{"KickPolicy all: spec.restart.minInterval: 1d: ", `unknown unit "d"`, "24h for a day"}},
		"a duration without a unit":    {policyOf("all", "{restart: {minInterval: '5'}}"), []string{"spec.restart.minInterval: 5: ", "write it in h, m and s"}},
		"two faults, one in a list":    {policyOf("all", "{suspend: 'yes', schedule: {windows: [{type: Deny, duration: 1w}]}}"), []string{"spec.schedule.windows[0].duration: 1w: ", "spec.suspend: yes: "}},
		"the same policy twice":        {policyOf("all", "{}") + "---\n" + policyOf("other", "{}") + "---\n" + policyOf("all", "{suspend: true}"), []string{"document 1 and document 3 are both KickPolicy shop/all"}},
		"the same one in a list":       {policyOf("all", "{}") + list + indented(policyOf("all", "{}")), []string{"document 1 and document 2, items[0] are both KickPolicy shop/all"}},
		"a list":                       {list + indented(policyOf("all", "{}")) + indented(policyOf("other", "{}")), nil},
		"a fault in a list":            {"---\n" + policyOf("first", "{}") + list + indented(policyOf("all", "{}")) + indented(policyOf("other", "{Suspend: true}")), []string{"document 2, items[1]: KickPolicy other: ", `"spec.Suspend"`}},
		"a list of something else too": {list + indented(policyOf("all", "{}")) + "  - {apiVersion: v1, kind: Secret, metadata: {name: db}}\n", []string{`items[1]: apiVersion "v1", kind "Secret": plan reads KickPolicies of kick.corewire.io/v1alpha1 only`}},
		"a list of nothing":            {"apiVersion: v1\nkind: List\nitems: []\n", []string{"holds no KickPolicy"}},
		"a list of words":              {"apiVersion: v1\nkind: List\nitems: [all]\n", []string{"items[0]: not an object"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStub(false)
			for _, p := range []string{"first", "all", "other"} {
				s.answers[ours("kickpolicies")+"/"+p] = refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "you may not")
			}
			got := s.kick(t, tt.file, "plan", "-f", "-")
			taken := strings.Contains(got.stderr, "whether the API server would have it was not checked")
			for _, part := range tt.says {
				if !strings.Contains(got.stderr, part) {
					t.Errorf("it does not say %q:\n%s", part, got.stderr)
				}
			}
			if len(tt.says) > 0 && got.code != exitError || len(tt.says) == 0 && !taken {
				t.Errorf("exit code %d, stderr %s", got.code, got.stderr)
			}
		})
	}
}
