package timeline_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/timeline"
)

// stream is an open stream.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
	close func()
}

func follow(t *testing.T, url string) *stream {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/timeline/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("got %d %s", answer.StatusCode, answer.Header.Get("Content-Type"))
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	s := &stream{t, lines, func() { _ = answer.Body.Close() }}
	t.Cleanup(s.close)
	return s
}

// next is the next event with its data; beats are passed over.
func (s *stream) next() (event, data string) {
	s.t.Helper()
	for s.lines.Scan() {
		line := s.lines.Text()
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			event = name
		}
		if body, ok := strings.CutPrefix(line, "data: "); ok && event != "beat" {
			return event, body
		}
	}
	return "", "" // it has ended
}

var webKey = model.Key{Kind: "Deployment", Namespace: "shop", Name: "web"}

// TestStream: a change is told as the whole lane, together with those that come with it;
// what is not shown any more is gone; too much at a time is not told one by one.
func TestStream(t *testing.T) {
	facts := &shelf{all: shop()}
	s, h := served(t, facts, only{"shop"})
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	t.Cleanup(s.Hub.Close)
	got := follow(t, server.URL)
	if event, _ := got.next(); event != "hello" {
		t.Fatalf("got %s, want hello", event)
	}
	s.Hub.Changed(model.Key{Kind: "Deployment", Namespace: "infra", Name: "dns"}, webKey)
	if event, data := got.next(); event != "lanes" || !strings.Contains(data, `"name":"web"`) || strings.Contains(data, "dns") || strings.Contains(data, secretSeal) {
		t.Errorf("got %s %s, want the lane of web alone", event, data)
	}
	facts.change(webKey, func(one *gather.Standing) { one.Workload.ID.Name = "other" })
	s.Hub.Changed(webKey)
	if event, data := got.next(); event != "gone" || data != `[{"namespace":"shop","kind":"Deployment","name":"web"}]` {
		t.Errorf("got %s %s, want web gone", event, data)
	}
	s.Hub.ChangedAll()
	if event, _ := got.next(); event != "reload" {
		t.Errorf("got %s, want reload", event)
	}
	many := make([]model.Key, 600)
	for i := range many {
		many[i] = model.Key{Kind: "Deployment", Namespace: "shop", Name: strings.Repeat("x", i+1)}
	}
	s.Hub.Changed(many...)
	if event, _ := got.next(); event != "reload" {
		t.Errorf("got %s, want reload for 600 changes", event)
	}
	s.Hub.Close()
	if event, data := got.next(); event != "" {
		t.Errorf("got %s %s from a server that has ended", event, data)
	}
}

// TestStreamsAreBounded: one too many is told so, and a place is free again when a page
// is closed.
func TestStreamsAreBounded(t *testing.T) {
	s, h := served(t, &shelf{all: shop()}, timeline.Local{}) // room for three
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	t.Cleanup(s.Hub.Close)
	first := follow(t, server.URL)
	follow(t, server.URL)
	follow(t, server.URL)
	try := func() int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/timeline/stream", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		if answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		return answer.StatusCode
	}
	if code := try(); code != http.StatusServiceUnavailable {
		t.Fatalf("got %d, want %d", code, http.StatusServiceUnavailable)
	}
	first.close()
	deadline := time.Now().Add(time.Minute)
	for try() != http.StatusOK {
		if time.Now().After(deadline) {
			t.Fatal("the place of a closed page is never free again")
		}
		time.Sleep(10 * time.Millisecond)
	}
}
