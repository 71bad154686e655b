package operator_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// freePort is a port of this machine that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// fetch is the status and body of an answer. The certificate is one the operator made itself.
func fetch(t *testing.T, url, token string) (int, string) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: 30 * time.Second} //nolint:gosec // nobody signs it in a test
	defer c.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := c.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	body, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body)
}

// tokenOf makes a service account in the world's namespace and gives a token of it.
func (w *world) tokenOf(name string) string {
	w.t.Helper()
	w.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}})
	c, err := kubernetes.NewForConfig(w.plane.Config)
	if err != nil {
		w.t.Fatal(err)
	}
	request, err := c.CoreV1().ServiceAccounts(w.ns).CreateToken(w.t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return request.Status.Token
}

// maySee lets a service account list the requests of the world's namespace.
func (w *world) maySee(name string) {
	w.t.Helper()
	meta := metav1.ObjectMeta{Namespace: w.ns, Name: "see-" + name}
	w.create(
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"kickrequests"}, Verbs: []string{"list"}}}},
		&rbacv1.RoleBinding{ObjectMeta: meta, Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: w.ns, Name: name}},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name}},
	)
}

// TestTimeline: an operator that is reached from elsewhere asks for tokens, and each sees
// what he may; one on loopback tells all, and neither tells a Secret. Standbys answer, too.
//
// Proves: KICK-FEAT-043.
func TestTimeline(t *testing.T) {
	w := newWorld(t, "timeline")
	w.policy("")
	w.secret("web", "alpha")
	w.deployment("web", 1, byEnvFrom("web"))
	open, exposed := freePort(t), freePort(t)
	w.start("--timeline-bind-address=:" + open)
	w.start("--timeline-bind-address=0.0.0.0:" + exposed) // it stands by
	w.reaches("Deployment", "web", v1alpha1.PhaseNoLongerRequired, "Fresh")
	w.secret("web", "bravo")
	w.reaches("Deployment", "web", v1alpha1.PhaseSucceeded, "RestartCompleted")

	local, other := "http://127.0.0.1:"+open, "https://127.0.0.1:"+exposed
	var body string
	for _, want := range []string{`"type":"change"`, `"type":"restart"`, `"type":"done"`, `"reason":"KickSucceeded"`, "Secret " + w.ns + "/web changed "} {
		w.eventually("the lane of web", w.shows(&body, local+"/timeline/overview", "", want))
	}
	if strings.Contains(body, "canary-") || strings.Contains(body, "fingerprint") {
		t.Errorf("the timeline tells too much: %s", body)
	}

	seeing, blind := w.tokenOf("seeing"), w.tokenOf("blind")
	w.maySee("seeing")
	for name, tt := range map[string]struct {
		token, path string
		status      int
		say         string
	}{
		"no token":           {"", "/timeline/overview", 401, "send a token of the cluster"},
		"bad token":          {"abc", "/timeline/overview", 401, "does not know this token"},
		"no rights":          {blind, "/timeline/overview", 403, "may not list kickrequests.kick.corewire.io in any namespace with a KickPolicy"},
		"no rights, one":     {blind, "/timeline/dag?namespace=" + w.ns, 403, "in namespace " + w.ns},
		"other namespace":    {seeing, "/timeline/overview?namespace=default", 403, "in namespace default"},
		"no token, a stream": {"", "/timeline/stream", 401, "send a token of the cluster"},
		"the page itself":    {"", "/timeline/ui", 200, "<title>KICK timeline</title>"},
	} {
		if status, body := fetch(t, other+tt.path, tt.token); status != tt.status || !strings.Contains(body, tt.say) {
			t.Errorf("%s: got %d %s, want %d %s", name, status, body, tt.status, tt.say)
		}
	}
	w.eventually("who may see the namespace sees it", w.shows(&body, other+"/timeline/overview", seeing, `"name":"web"`))
	w.eventually("the administrator sees it", w.shows(&body, other+"/timeline/overview", w.plane.Config.BearerToken, `"viewer":"admin"`))
}

// shows says what is wrong until a page can be read and holds a text.
func (w *world) shows(body *string, url, token, want string) func(context.Context) string {
	return func(context.Context) string {
		status, got := fetch(w.t, url, token)
		*body = got
		if status != http.StatusOK || !strings.Contains(got, want) {
			return fmt.Sprintf("%d %s lacks %s", status, got, want)
		}
		return ""
	}
}
