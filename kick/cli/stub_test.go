package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// stub is an API server that says what a test wants it to: the kinds it serves, and an
// answer for each path. All else is not found, and a watch tells nothing until its client
// has had enough.
type stub struct {
	serves  map[schema.GroupVersion][]metav1.APIResource
	answers map[string]any // by path; a *metav1.Status is a refusal
	lock    sync.Mutex
	watched int // how many watches were begun
}

const events = "/apis/events.k8s.io/v1/namespaces/shop/events"

// ours is the path of a kind of KICK's in namespace shop.
func ours(resource string) string {
	return "/apis/" + v1alpha1.GroupVersion.String() + "/namespaces/shop/" + resource
}

// newStub serves events, of which there are none, and KICK's kinds unless bare.
func newStub(bare bool) *stub {
	namespaced := func(kind, resource string) metav1.APIResource {
		return metav1.APIResource{Kind: kind, Name: resource, Namespaced: true, Verbs: metav1.Verbs{"get", "list", "watch"}}
	}
	s := &stub{
		serves: map[schema.GroupVersion][]metav1.APIResource{
			{Version: "v1"}:                         {namespaced("Secret", "secrets")},
			{Group: "events.k8s.io", Version: "v1"}: {namespaced("Event", "events")},
		},
		answers: map[string]any{events: listOf("events.k8s.io/v1", "EventList")},
	}
	if bare {
		return s
	}
	s.serves[v1alpha1.GroupVersion] = []metav1.APIResource{
		namespaced("KickPolicy", "kickpolicies"), namespaced("KickRequest", "kickrequests"),
		namespaced("SourceObservation", "sourceobservations"), namespaced("NotificationPolicy", "notificationpolicies"),
	}
	for kind, resource := range map[string]string{
		"KickPolicy": "kickpolicies", "KickRequest": "kickrequests", "SourceObservation": "sourceobservations", "NotificationPolicy": "notificationpolicies",
	} {
		s.answers[ours(resource)] = listOf(v1alpha1.GroupVersion.String(), kind+"List")
	}
	return s
}

func listOf(apiVersion, kind string, items ...any) map[string]any {
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"resourceVersion": "1"}, "items": append([]any{}, items...)}
}

func refusal(code int, reason metav1.StatusReason, message string) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message, //nolint:gosec // an HTTP code
	}
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	answer, known := s.answers[r.URL.Path]
	switch {
	case known && r.URL.Query().Get("watch") != "":
		s.lock.Lock()
		s.watched++
		s.lock.Unlock()
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	case !known:
		answer = s.discovery(r.URL.Path)
	}
	if answer == nil { // in the words of a real one, which has no Status for a path it does not know
		http.NotFound(w, r)
		return
	}
	if st, ok := answer.(*metav1.Status); ok {
		w.WriteHeader(int(st.Code))
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// discovery tells which kinds are served.
func (s *stub) discovery(path string) any {
	groups := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"}}
	for gv, resources := range s.serves {
		root, version := "/apis/"+gv.String(), metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
		group := metav1.APIGroup{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroup"}, Name: gv.Group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
		}
		if gv.Group == "" {
			root = "/api/" + gv.Version
		} else {
			groups.Groups = append(groups.Groups, group)
		}
		switch path {
		case root:
			return &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: gv.String(), APIResources: resources}
		case "/apis/" + gv.Group:
			return group
		}
	}
	switch path {
	case "/api":
		return &metav1.APIVersions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIVersions"}, Versions: []string{"v1"}}
	case "/apis":
		return groups
	}
	return nil
}

// kick runs the plugin against the stub, in namespace shop.
func (s *stub) kick(t *testing.T, in string, args ...string) outcome {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	config := filepath.Join(t.TempDir(), "kubeconfig")
	text := strings.ReplaceAll(stubConfig, "SERVER", server.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return call(t.Context(), time.Now, in, append(args, "--kubeconfig", config)...)
}

const stubConfig = "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: SERVER}}]\ncontexts: [{name: c, context: {cluster: c, namespace: shop}}]\ncurrent-context: c\n"
