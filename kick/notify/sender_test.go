package notify_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"

	sender "github.com/corewire/kick/kick/notify"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/notify"
	"github.com/corewire/kick/kick/model/request"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// endpoint is a real HTTPS server with certificates of its own.
type endpoint struct {
	*httptest.Server
	ca   authority
	seen []seen
}

// seen is a request as it arrived.
type seen struct {
	*http.Request
	body string
}

// serve starts an endpoint that answers with a function, after it took note of the
// request. change may be nil.
func serve(t *testing.T, answer http.HandlerFunc, change func(*httptest.Server)) *endpoint {
	t.Helper()
	e := &endpoint{ca: newAuthority(t)}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read the request: %v", err)
		}
		e.seen = append(e.seen, seen{r, string(body)})
		answer(w, r)
	}))
	certificate, key := e.ca.issue(t, "localhost")
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	e.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if change != nil {
		change(e.Server)
	}
	e.StartTLS()
	t.Cleanup(e.Close)
	return e
}

// to is a delivery to an endpoint.
func (e *endpoint) to(change ...func(*notify.Target)) *notify.Delivery {
	t := &notify.Transition{
		Transition: model.Transition{Phase: request.Succeeded, At: noon, Reason: request.RestartCompleted, Message: "rollout completed"},
		UID:        "uid-1", Request: model.Key{Kind: "KickRequest", Namespace: "team-a", Name: "api-0f3c"},
		Target: model.Key{Kind: "Deployment", Namespace: "team-a", Name: "api"},
	}
	d := &notify.Delivery{Key: t.Mark().Key(), Message: notify.MessageOf(t, "ArgoCD")}
	d.Target = notify.Target{URL: e.URL + "/kick", Method: http.MethodPost, Timeout: 10 * time.Second, CA: e.ca.pem}
	for _, c := range change {
		c(&d.Target)
	}
	return d
}

func deliver(t *testing.T, d *notify.Delivery) notify.Outcome {
	t.Helper()
	mock := clock.NewMock()
	mock.Set(noon)
	return (&sender.Sender{Clock: mock, Local: true, Agent: "kick/test"}).Deliver(t.Context(), d)
}

func answers(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

func TestAnswers(t *testing.T) {
	reset := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	tests := map[string]struct {
		answer http.HandlerFunc
		want   notify.Outcome
	}{
		"200":                             {answers(200), notify.Outcome{Delivered: true}},
		"204":                             {answers(204), notify.Outcome{Delivered: true}},
		"a body without end":              {endless, notify.Outcome{Delivered: true}},
		"400":                             {answers(400), notify.Outcome{Final: true, Why: "the endpoint answered 400 Bad Request"}},
		"404":                             {answers(404), notify.Outcome{Final: true, Why: "the endpoint answered 404 Not Found"}},
		"500":                             {answers(500), notify.Outcome{Why: "the endpoint answered 500 Internal Server Error"}},
		"429":                             {answers(429), notify.Outcome{Why: "the endpoint answered 429 Too Many Requests"}},
		"429 with seconds":                {answers(429, "Retry-After", "7"), notify.Outcome{After: 7 * time.Second, Why: "the endpoint answered 429 Too Many Requests"}},
		"429 with a date":                 {answers(429, "Retry-After", "Sun, 01 Mar 2026 12:00:30 GMT"), notify.Outcome{After: 30 * time.Second, Why: "the endpoint answered 429 Too Many Requests"}},
		"429 with a date of RFC 850":      {answers(429, "Retry-After", "Sunday, 01-Mar-26 12:00:31 GMT"), notify.Outcome{After: 31 * time.Second, Why: "the endpoint answered 429 Too Many Requests"}},
		"429 with a date of asctime":      {answers(429, "Retry-After", "Sun Mar  1 12:00:32 2026"), notify.Outcome{After: 32 * time.Second, Why: "the endpoint answered 429 Too Many Requests"}},
		"429 with a date that is over":    {answers(429, "Retry-After", "Sun, 01 Mar 2026 11:00:30 GMT"), notify.Outcome{Why: "the endpoint answered 429 Too Many Requests"}},
		"429 for a year":                  {answers(429, "Retry-After", "31536000"), notify.Outcome{After: notify.MaxPause, Why: "the endpoint answered 429 Too Many Requests"}},
		"429 for more than can be":        {answers(429, "Retry-After", "9223372036854775807"), notify.Outcome{After: notify.MaxPause, Why: "the endpoint answered 429 Too Many Requests"}},
		"429 with nonsense":               {answers(429, "Retry-After", "soon"), notify.Outcome{Why: "the endpoint answered 429 Too Many Requests"}},
		"503 with seconds":                {answers(503, "Retry-After", "3"), notify.Outcome{After: 3 * time.Second, Why: "the endpoint answered 503 Service Unavailable"}},
		"a connection that is reset":      {reset, notify.Outcome{Why: "the endpoint closed the connection before it had answered"}},
		"a redirect that changes the way": {answers(302, "Location", "/other"), notify.Outcome{Final: true, Why: "the endpoint answered 302 Found"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := serve(t, tt.answer, nil)
			e.Config.ErrorLog = nil
			got := deliver(t, e.to())
			if got.Delivered != tt.want.Delivered || got.Final != tt.want.Final || got.After != tt.want.After || !strings.HasPrefix(got.Why, tt.want.Why) || tt.want.Delivered && got.Why != "" {
				t.Errorf("Deliver() = %+v, want %+v", got, tt.want)
			}
			if len(e.seen) != 1 {
				t.Errorf("%d requests arrived, want 1", len(e.seen))
			}
		})
	}
}

// endless answers and then never comes to an end of its body.
func endless(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := io.WriteString(w, strings.Repeat("a", 1<<16)); err != nil {
			return
		}
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
}

// The request is what the reference says, and carries all that it is told to.
func TestRequest(t *testing.T) {
	e := serve(t, answers(200), nil)
	got := deliver(t, e.to(func(target *notify.Target) {
		target.Method, target.Bearer = http.MethodPut, "s3cret"
		target.Headers = []notify.Header{{Name: "X-Team", Value: "shop"}, {Name: "Idempotency-Key", Value: "mine"}}
	}))
	if !got.Delivered {
		t.Fatalf("Deliver() = %+v", got)
	}
	r := e.seen[0]
	for name, want := range map[string]string{
		"Authorization": "Bearer s3cret", "X-Team": "shop", "Content-Type": "application/json", "User-Agent": "kick/test",
		"Idempotency-Key": "uid-1/Succeeded/2026-03-01T12:00:00.000000Z",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("header %s is %q, want %q", name, got, want)
		}
	}
	const want = `{"namespace":"team-a","requestName":"api-0f3c","phase":"Succeeded","reason":"RestartCompleted","message":"rollout completed",` +
		`"targetKind":"Deployment","targetName":"api","gitOpsProvider":"argocd","occurredAt":"2026-03-01T12:00:00Z"}`
	if r.Method != http.MethodPut || r.URL.Path != "/kick" || r.body != want {
		t.Errorf("got %s %s %s,\nwant PUT /kick %s", r.Method, r.URL.Path, r.body, want)
	}
}

func TestBasic(t *testing.T) {
	e := serve(t, answers(200), nil)
	deliver(t, e.to(func(target *notify.Target) { target.Basic = &notify.Basic{Username: "me", Password: "pass"} }))
	if user, password, ok := e.seen[0].BasicAuth(); !ok || user != "me" || password != "pass" {
		t.Errorf("got %q, %q, %t", user, password, ok)
	}
}

func TestCloudEvent(t *testing.T) {
	e := serve(t, answers(200), nil)
	deliver(t, e.to(func(target *notify.Target) { target.CloudEvents = true }))
	if got := e.seen[0].Header.Get("Content-Type"); got != "application/cloudevents+json" {
		t.Errorf("Content-Type is %q", got)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(e.seen[0].body), &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"specversion": "1.0", "id": "uid-1/Succeeded/2026-03-01T12:00:00.000000Z", "type": "io.corewire.kick.request.succeeded",
		"source": "/apis/kick.corewire.io/v1alpha1/namespaces/team-a/kickrequests/api-0f3c", "subject": "Deployment/api",
		"time": "2026-03-01T12:00:00Z", "datacontenttype": "application/json",
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if data, _ := got["data"].(map[string]any); data["requestName"] != "api-0f3c" {
		t.Errorf("data is %v", got["data"])
	}
}

func TestRedirects(t *testing.T) {
	other := serve(t, answers(200), nil)
	to := func(location func(*endpoint) string, code int) *endpoint {
		var e *endpoint
		e = serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/kick" {
				w.Header().Set("Location", location(e))
				w.WriteHeader(code)
			}
		}, nil)
		return e
	}
	t.Run("same host", func(t *testing.T) {
		e := to(func(*endpoint) string { return "/there" }, http.StatusPermanentRedirect)
		if got := deliver(t, e.to()); !got.Delivered || len(e.seen) != 2 || e.seen[1].body != e.seen[0].body || e.seen[1].Method != http.MethodPost {
			t.Errorf("Deliver() = %+v after %d requests", got, len(e.seen))
		}
	})
	t.Run("again and again", func(t *testing.T) {
		e := to(func(*endpoint) string { return "/kick" }, http.StatusTemporaryRedirect)
		if got := deliver(t, e.to()); got.Delivered || !got.Final || len(e.seen) != 4 {
			t.Errorf("Deliver() = %+v after %d requests, want it to end after the fourth", got, len(e.seen))
		}
	})
	for name, location := range map[string]func(*endpoint) string{
		"other host":   func(*endpoint) string { return other.URL },
		"other scheme": func(e *endpoint) string { return strings.Replace(e.URL, "https", "http", 1) },
		"other name":   func(e *endpoint) string { return strings.Replace(e.URL, "127.0.0.1", "localhost", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			e := to(location, http.StatusTemporaryRedirect)
			got := deliver(t, e.to(func(target *notify.Target) { target.Bearer = "s3cret" }))
			if got.Delivered || !got.Final || !strings.Contains(got.Why, "write the final address") || len(other.seen) > 0 || len(e.seen) != 1 {
				t.Errorf("Deliver() = %+v; %d requests went to the other host", got, len(other.seen))
			}
		})
	}
}

// An endpoint that does not answer holds a try up for its timeout, and no longer.
func TestTimeout(t *testing.T) {
	let := make(chan struct{})
	e := serve(t, func(http.ResponseWriter, *http.Request) { <-let }, nil)
	defer close(let)
	got := deliver(t, e.to(func(target *notify.Target) { target.Timeout = 50 * time.Millisecond }))
	if got.Delivered || got.Final || got.Why != "no answer within spec.webhook.timeoutSeconds (50ms)" {
		t.Errorf("Deliver() = %+v", got)
	}
}

func TestEndsWithTheProcess(t *testing.T) {
	e := serve(t, answers(200), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := (&sender.Sender{Clock: clock.NewMock(), Local: true}).Deliver(ctx, e.to()); got.Delivered || got.Final || len(e.seen) > 0 {
		t.Errorf("Deliver() = %+v", got)
	}
}

// What goes wrong is told without the address, which may carry a secret, and without
// anything from a Secret.
//
// Proves: KICK-FEAT-036.
func TestNothingSecretIsTold(t *testing.T) {
	for name, change := range map[string]func(*notify.Target){
		"nobody listens": func(target *notify.Target) { target.URL = "https://127.0.0.1:1/hooks/canary" },
		"no such name":   func(target *notify.Target) { target.URL = "https://nowhere.invalid/hooks/canary" },
		"other CA":       func(target *notify.Target) { target.CA = newAuthority(t).pem },
		"no PEM":         func(target *notify.Target) { target.CA = []byte("canary") },
		"no certificate": func(target *notify.Target) {
			target.Certificate, target.CertificateKey = []byte("canary"), []byte("canary")
		},
		"another name": func(target *notify.Target) { target.URL = strings.Replace(target.URL, "127.0.0.1", "127.0.0.2", 1) },
		"no address":   func(target *notify.Target) { target.URL = "https://a b/canary" },
	} {
		t.Run(name, func(t *testing.T) {
			e := serve(t, answers(200), nil)
			got := deliver(t, e.to(change))
			if got.Delivered || got.Why == "" || strings.Contains(got.Why, "canary") {
				t.Errorf("Deliver() = %+v", got)
			}
		})
	}
}

// Neither an address of the machine nor a name that leads to one is connected to; the
// name is judged by what it resolves to when the connection is made.
//
// Proves: KICK-FEAT-036.
func TestLocalTargets(t *testing.T) {
	e := serve(t, answers(200), nil)
	port := e.URL[strings.LastIndex(e.URL, ":"):]
	for _, host := range []string{
		"127.0.0.1", "localhost", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "0.0.0.0", "[::]", "224.0.0.1", "LOCALHOST", "[::1%25lo]", "[fe80::1%25eth0]",
		"[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[::ffff:0:7f00:1]", "[::127.0.0.1]",
		"[fd20:ce::254]", "[fd00:42::42]", "100.100.100.200", "192.0.0.192", "168.63.129.16", "[64:ff9b::6464:64c8]",
	} {
		d := e.to(func(target *notify.Target) { target.URL = "https://" + host + port })
		got := (&sender.Sender{Clock: clock.NewMock()}).Deliver(t.Context(), d)
		if got.Delivered || !got.Final || !strings.Contains(got.Why, "--notification-allow-local-targets") {
			t.Errorf("Deliver() to %s = %+v", host, got)
		}
	}
	if len(e.seen) > 0 {
		t.Errorf("%d requests arrived", len(e.seen))
	}
	if got := deliver(t, e.to(func(target *notify.Target) { target.URL = fmt.Sprintf("https://localhost%s/kick", port) })); !got.Delivered {
		t.Errorf("with the flag: %+v", got)
	}
}
