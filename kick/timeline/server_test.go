package timeline_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corewire/kick/kick/events"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
	"github.com/corewire/kick/kick/timeline"
)

// only is a guard of somebody who may see some namespaces.
type only []string

func (o only) Viewer(*http.Request) (timeline.Viewer, error) { return o, nil }
func (o only) Name() string                                  { return "jane" }
func (o only) May(_ context.Context, namespace string) (bool, error) {
	return slices.Contains(o, namespace), nil
}

// ask is the answer to a request, and its body.
func ask(t *testing.T, h http.Handler, path string, into any) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, nil)
	h.ServeHTTP(w, r)
	if into != nil {
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
			t.Fatalf("%s: %d %s: %v", path, w.Code, w.Body, err)
		}
	}
	return w
}

// names are what lanes are about.
func names(lanes []timeline.Lane) (out []string) {
	for _, l := range lanes {
		out = append(out, l.Namespace+"/"+l.Kind+"/"+l.Name+" "+l.State)
	}
	return out
}

func TestOverview(t *testing.T) {
	_, h := served(t, &shelf{all: shop()}, timeline.Local{})
	var got timeline.Overview
	w := ask(t, h, "/timeline/overview", &got)
	want := []string{
		"infra/Deployment/dns fresh", "infra/Deployment/exporter dry-run", "infra/DaemonSet/log-shipper rolling",
		"shop/Deployment/api fresh", "shop/StatefulSet/cart failed", "shop/Deployment/web waiting",
	}
	if diff := cmp.Diff(names(got.Lanes), want); diff != "" {
		t.Errorf("lanes (-got +want):\n%s", diff)
	}
	if strings.Contains(w.Body.String(), secretSeal) {
		t.Error("the answer holds a digest")
	}
	for name, value := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Content-Type": "application/json"} {
		if got := w.Header().Get(name); got != value {
			t.Errorf("%s: got %q, want %q", name, got, value)
		}
	}
}

// TestWorkload: what is on record is told once, in order, in the sentences of the operator.
func TestWorkload(t *testing.T) {
	facts := &shelf{all: shop()}
	facts.change(model.Key{Kind: "Deployment", Namespace: "shop", Name: "web"}, func(s *gather.Standing) {
		r := s.Sources[0].Record
		r.History = append(r.History, r.Current()) // it was another for a moment
	})
	_, h := served(t, facts, timeline.Local{})
	var got timeline.Workload
	ask(t, h, "/timeline?namespace=shop&kind=Deployment&name=web", &got)
	var types []string
	for _, e := range got.Lane.Events {
		types = append(types, e.Type+" "+e.Reason)
	}
	want := []string{
		"event Baseline", "event Baseline", "change Changed", "change Changed", "restart Restarted", "change Changed", "request Opened", "waiting WaitingForSchedule",
	}
	if diff := cmp.Diff(types, want); diff != "" {
		t.Errorf("events (-got +want):\n%s", diff)
	}
	if say := "The policy's schedule is shut: next Allow window opens at 02:00 Europe/Berlin."; !strings.HasPrefix(got.Lane.Message, say) {
		t.Errorf("got %s, want %s", got.Lane.Message, say)
	}
	if len(got.Sources) != 2 || got.Sources[0].Name != "db" || got.Sources[0].Changed == nil {
		t.Errorf("got sources %+v", got.Sources)
	}
}

// TestBands: a band ends where the next begins, the last one is where the workload stands,
// a rollout of which no end is on record does not last until the next change, and a dry run
// makes nothing fresh.
func TestBands(t *testing.T) {
	facts := &shelf{all: shop()}
	for i := range facts.all {
		switch s := &facts.all[i]; s.Workload.ID.Name {
		case "exporter": // a dry run that another change has ended
			s.Told = []gather.Told{{At: before(80 * time.Hour), Reason: events.KickDryRun}}
		case "dns":
			s.Rollouts = []gather.Rolled{{Revision: "dns-1", Created: before(20 * time.Hour), Stamp: before(20 * time.Hour)}}
		}
	}
	_, h := served(t, facts, timeline.Local{})
	var got timeline.Overview
	ask(t, h, "/timeline/overview", &got)
	want := map[string]string{
		"dns": "fresh", "exporter": "fresh dry-run pending dry-run", "log-shipper": "fresh pending rolling", "api": "fresh pending rolling fresh",
		"cart": "fresh pending rolling failed", "web": "fresh pending fresh pending waiting",
	}
	for _, l := range got.Lanes {
		var states []string
		for i, b := range l.Bands {
			states = append(states, b.State)
			if last := i == len(l.Bands)-1; last != (b.To == nil) || !last && !b.To.Equal(l.Bands[i+1].From) {
				t.Errorf("%s: band %d %+v does not meet the next", l.Name, i, b)
			}
		}
		if got := strings.Join(states, " "); got != want[l.Name] {
			t.Errorf("%s: got %s, want %s", l.Name, got, want[l.Name])
		}
	}
}

func TestDiscovery(t *testing.T) {
	_, h := served(t, &shelf{all: shop()}, timeline.Local{})
	for query, want := range map[string]string{
		"namespace=shop": "api cart web", "namespace=shop&policy=always": "api cart", "namespace=shop&kind=StatefulSet": "cart",
		"namespace=shop&name=A": "api cart", "namespace=shop&policy=none": "", "namespace=other": "",
	} {
		var got timeline.Discovery
		ask(t, h, "/timeline/discovery?"+query, &got)
		var found []string
		for _, w := range got.Workloads {
			found = append(found, w.Name)
		}
		if strings.Join(found, " ") != want {
			t.Errorf("%s: got %v, want %s", query, found, want)
		}
		if query == "namespace=shop" && strings.Join(got.Policies, " ") != "always nightly" {
			t.Errorf("got policies %v", got.Policies)
		}
	}
}

func TestGraph(t *testing.T) {
	facts := &shelf{all: shop()}
	facts.change(model.Key{Kind: "Deployment", Namespace: "shop", Name: "web"}, func(s *gather.Standing) { s.Sources[1].Source.Present = false })
	_, h := served(t, facts, timeline.Local{})
	var got timeline.Graph
	ask(t, h, "/timeline/dag?namespace=shop", &got)
	var lines []string
	for _, n := range got.Nodes {
		lines = append(lines, strings.TrimSpace(n.ID+" "+n.State))
	}
	for _, e := range got.Edges {
		lines = append(lines, e.From+" -> "+e.To)
	}
	want := []string{
		"KickPolicy/always", "KickPolicy/nightly", "Deployment/api fresh", "StatefulSet/cart failed", "Deployment/web waiting",
		"Secret/db", "ConfigMap/flags", "ConfigMap/web-config missing",
		"KickPolicy/always -> Deployment/api", "Deployment/api -> Secret/db", "KickPolicy/always -> StatefulSet/cart", "StatefulSet/cart -> ConfigMap/flags",
		"KickPolicy/nightly -> Deployment/web", "Deployment/web -> Secret/db", "Deployment/web -> ConfigMap/web-config",
	}
	if diff := cmp.Diff(lines, want); diff != "" {
		t.Errorf("graph (-got +want):\n%s", diff)
	}
}

// TestNamespaces: somebody sees what he may see, by each way of asking.
func TestNamespaces(t *testing.T) {
	_, h := served(t, &shelf{all: shop()}, only{"shop"})
	var got timeline.Overview
	ask(t, h, "/timeline/overview", &got)
	if diff := cmp.Diff(names(got.Lanes), []string{"shop/Deployment/api fresh", "shop/StatefulSet/cart failed", "shop/Deployment/web waiting"}); diff != "" {
		t.Errorf("lanes (-got +want):\n%s", diff)
	}
	for path, status := range map[string]int{
		"/timeline/overview?namespace=infra":                 http.StatusForbidden,
		"/timeline?namespace=infra&kind=Deployment&name=dns": http.StatusForbidden,
		"/timeline/discovery?namespace=infra":                http.StatusForbidden,
		"/timeline/dag?namespace=infra":                      http.StatusForbidden,
		"/timeline/dag?namespace=shop":                       http.StatusOK,
		"/timeline?namespace=shop&kind=Deployment&name=none": http.StatusNotFound,
		"/timeline/dag":            http.StatusBadRequest,
		"/timeline?namespace=shop": http.StatusBadRequest,
		"/timeline/none":           http.StatusNotFound,
		"/timeline/ui/none.js":     http.StatusNotFound,
		"/timeline/ui/embed.go":    http.StatusNotFound,
		"/":                        http.StatusFound,
		"/timeline/ui":             http.StatusOK,
		"/timeline/ui/main.js":     http.StatusOK,
	} {
		if w := ask(t, h, path, nil); w.Code != status || w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s: got %d %s, want %d", path, w.Code, w.Body, status)
		}
	}
	_, nobody := served(t, &shelf{all: shop()}, only{})
	if w := ask(t, nobody, "/timeline/overview", nil); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "jane may not list kickrequests.kick.corewire.io") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if w := ask(t, nobody, "/timeline/stream", nil); w.Code != http.StatusForbidden {
		t.Errorf("stream: got %d %s", w.Code, w.Body)
	}
}

// TestLocal: a web page that points a name of its own at this machine gets nothing.
func TestLocal(t *testing.T) {
	_, h := served(t, &shelf{all: shop()}, timeline.Local{})
	for host, status := range map[string]int{
		"localhost:8090": 200, "127.0.0.1:1": 200, "[::1]:8090": 200, "localhost": 200,
		"evil.example:8090": 421, "10.0.0.1:8090": 421, "localhost.evil.example": 421, "": 421,
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/timeline/overview", nil)
		r.Host = host
		h.ServeHTTP(w, r)
		if w.Code != status {
			t.Errorf("%q: got %d %s, want %d", host, w.Code, w.Body, status)
		}
	}
}

// TestOpensThatNobodyJudged: a request without a status is told as what it is.
func TestOpensThatNobodyJudged(t *testing.T) {
	s := managed(workload("Deployment", "shop", "web"), "all")
	s.Request = &model.Request{ID: model.Key{Kind: "KickRequest", Namespace: "shop", Name: "mine"}, Created: before(time.Minute), Manual: true}
	s.Request.Status.Causes = []model.Cause{{Source: model.Key{Kind: "Secret", Namespace: "shop", Name: "db"}, ChangedAt: before(time.Hour)}}
	_, h := served(t, &shelf{all: []gather.Standing{s}}, timeline.Local{})
	var got timeline.Workload
	ask(t, h, "/timeline?namespace=shop&kind=Deployment&name=web", &got)
	if l := got.Lane; l.State != "pending" || l.Phase != string(request.Pending) || l.Reason != string(request.Opened) || len(l.Events) != 1 || l.Message != "KickRequest shop/mine asks for a restart; waiting for the first judgement." {
		t.Errorf("got %+v", got.Lane)
	}
}
