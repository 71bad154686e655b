package cli

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

const lease = "/apis/coordination.k8s.io/v1/namespaces/kick-system/leases/kick.corewire.io"

// TestWithoutTheCRDs: what needs KICK's kinds says which are missing and what to do; a
// support bundle is made of what there is.
//
// Proves: KICK-FEAT-038.
func TestWithoutTheCRDs(t *testing.T) {
	names := "kickpolicies.kick.corewire.io, kickrequests.kick.corewire.io, sourceobservations.kick.corewire.io"
	remedy := "kubectl apply --server-side -f kick/api/crds"
	ofOthers := listOf("events.k8s.io/v1", "EventList", map[string]any{"metadata": map[string]any{"name": "e"}, "regarding": map[string]any{"kind": "Pod"}})
	ofKick := listOf("events.k8s.io/v1", "EventList", map[string]any{"metadata": map[string]any{"name": "e"}, "regarding": map[string]any{"kind": "KickRequest"}, "note": "Restarted."})
	tests := map[string]struct {
		args   []string
		events any
		code   int
		says   []string // on standard error
		holds  string   // on standard output
	}{
		"events":                    {[]string{"events"}, ofOthers, exitError, []string{"CRD " + names + " missing", remedy}, ""},
		"events, watched":           {[]string{"events", "-w"}, ofOthers, exitError, []string{names, remedy}, ""},
		"events of KICK's are left": {[]string{"events"}, ofKick, exitOK, nil, "Restarted."},
		"list":                      {[]string{"list"}, ofOthers, exitError, []string{"does not serve " + names, remedy}, ""},
		"windows":                   {[]string{"windows", "policy/all"}, ofOthers, exitError, []string{names, remedy}, ""},
		"suspend":                   {[]string{"suspend", "policy/all"}, ofOthers, exitError, []string{names, remedy}, ""},
		"plan":                      {[]string{"plan", "-f", "testdata/policy.yaml"}, ofOthers, exitError, []string{names, remedy}, ""},
		"report":                    {[]string{"report"}, ofOthers, exitOK, []string{"left out of the report: KickRequests: the cluster does not serve them"}, "- 'KickPolicies: the cluster does not serve them'"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStub(true)
			s.answers[events] = tt.events
			got := s.kick(t, "", tt.args...)
			if got.code != tt.code || !strings.Contains(got.stdout, tt.holds) || len(tt.says) == 0 && got.stderr != "" {
				t.Errorf("exit code %d, want %d; stdout %q, stderr %q", got.code, tt.code, got.stdout, got.stderr)
			}
			for _, part := range tt.says {
				if !strings.Contains(got.stderr, part) {
					t.Errorf("it does not say %q:\n%s", part, got.stderr)
				}
			}
		})
	}
}

// TestCheckTellsWhatCannotBeAsked: that the user may not look, or that nobody answers, is not
// taken for a thing that is missing.
//
// Proves: KICK-FEAT-038.
func TestCheckTellsWhatCannotBeAsked(t *testing.T) {
	forbidden := refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "you may not")
	broken := refusal(http.StatusInternalServerError, metav1.StatusReasonInternalError, "out of order")
	tests := map[string]struct {
		path   string
		answer any
		says   string
		not    string
	}{
		"no right to the lease": {lease, forbidden, "note     leader of kick-system: not known, for you lack the right to get leases of coordination.k8s.io in namespace kick-system", "--kick-namespace"},
		"no lease":              {lease, refusal(http.StatusNotFound, metav1.StatusReasonNotFound, "no"), "MISSING  leader of kick-system: there is no lease kick-system/kick.corewire.io, so no replica has led yet; if KICK runs elsewhere, use --kick-namespace", ""},
		"a broken API server":   {lease, broken, "MISSING  leader of kick-system: not known: lease kick-system/kick.corewire.io: ", "--kick-namespace"},
		"kinds are not told":    {"/apis/" + v1alpha1.GroupVersion.String(), broken, "MISSING  CRD kickpolicies.kick.corewire.io: not known: ask the API server for ", "not installed: kubectl"},
		"tools are not told":    {"/apis/kargo.akuity.io/v1alpha1", broken, "note     Kargo: not known: ", "Kargo: not installed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStub(false)
			s.answers["/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"] = map[string]any{
				"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "status": map[string]any{"allowed": false},
			}
			s.answers[tt.path] = tt.answer
			got := s.kick(t, "", "check")
			if got.code != exitUnmet || !strings.Contains(got.stdout, tt.says) || tt.not != "" && strings.Contains(got.stdout, tt.not) {
				t.Errorf("exit code %d; want %q and not %q\n%s%s", got.code, tt.says, tt.not, got.stdout, got.stderr)
			}
			if want := "MISSING  your right to get leases: not granted in namespace kick-system"; !strings.Contains(got.stdout, want) {
				t.Errorf("it does not say %q:\n%s", want, got.stdout)
			}
		})
	}
}
