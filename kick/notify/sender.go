// Package notify delivers notifications over HTTP, one try at a time. It keeps nothing
// between two tries: no connection, no credential, no queue.
//
// What it refuses to do is as much its duty: it follows no redirect to another host, it
// speaks no TLS older than 1.2, it uses no proxy, it waits for nothing longer than the
// timeout, and it opens no connection to this machine or its link, whatever a name
// resolves to at that moment.
package notify

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/benbjohnson/clock"

	"github.com/corewire/kick/kick/model/notify"
)

const (
	maxRedirects = 3
	maxHeaders   = 64 << 10 // bytes of an answer's head; its body is not read
)

// HeaderKey is the header with the key of the transition: the same for each try.
const HeaderKey = "Idempotency-Key"

// Sender sends.
type Sender struct {
	Clock clock.Clock
	// Local lets notifications go to loopback and link-local addresses.
	Local bool
	// Agent is the User-Agent.
	Agent string
}

// Deliver makes one try.
func (s *Sender) Deliver(ctx context.Context, d *notify.Delivery) notify.Outcome {
	ctx, cancel := context.WithTimeout(ctx, d.Target.Timeout)
	defer cancel()
	request, err := s.request(ctx, d)
	if err != nil {
		return notify.Outcome{Final: true, Why: err.Error()}
	}
	transport, err := s.transport(&d.Target)
	if err != nil {
		return notify.Outcome{Final: true, Why: err.Error()}
	}
	defer transport.CloseIdleConnections()
	var answered atomic.Bool
	request = request.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() { answered.Store(true) }}))
	c := http.Client{Transport: transport, CheckRedirect: sameHost}
	answer, err := c.Do(request)
	if err != nil {
		return failed(err, &d.Target, answered.Load())
	}
	defer answer.Body.Close() //nolint:errcheck // whether it was delivered is known by then
	return notify.Judge(answer.StatusCode, http.StatusText(answer.StatusCode), answer.Header.Get("Retry-After"), s.Clock.Now())
}

func (s *Sender) request(ctx context.Context, d *notify.Delivery) (*http.Request, error) {
	body, kind, err := encode(d)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, d.Target.Method, d.Target.URL, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("spec.webhook.url cannot be used as an address")
	}
	if field := unsendable(&d.Target); field != "" {
		return nil, errors.New(field + ": the value cannot stand in a header; it is one line without control characters")
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("User-Agent", s.Agent)
	for _, h := range d.Target.Headers {
		r.Header.Set(h.Name, h.Value)
	}
	if d.Target.Bearer != "" {
		r.Header.Set("Authorization", "Bearer "+d.Target.Bearer)
	}
	if b := d.Target.Basic; b != nil {
		r.SetBasicAuth(b.Username, b.Password)
	}
	r.Header.Set(HeaderKey, d.Key)
	return r, nil
}

// sameHost follows only what leaves everything but the path as it was: the same scheme,
// host, port, method and body. Anything else ends with the answer that is there.
func sameHost(next *http.Request, before []*http.Request) error {
	first, code := before[0].URL, next.Response.StatusCode
	keeps := code == http.StatusTemporaryRedirect || code == http.StatusPermanentRedirect
	if !keeps || next.URL.Scheme != first.Scheme || next.URL.Host != first.Host || len(before) > maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}
