package notify_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/corewire/kick/kick/model/notify"
)

// speaks is an endpoint that answers each request with these bytes, in which TOKEN
// stands for the token it was shown.
func speaks(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(5 * time.Second))
			r, err := http.ReadRequest(bufio.NewReader(c))
			if err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(c, strings.ReplaceAll(answer, "TOKEN", strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
			}
			_ = c.Close()
		}
	}()
	return "http://" + l.Addr().String() + "/hooks/canary"
}

// An endpoint says nothing through KICK: neither what it was shown, nor what a service
// answers that speaks something else than HTTP.
//
// Proves: KICK-FEAT-036.
func TestAnAnswerIsNotQuoted(t *testing.T) {
	for name, answer := range map[string]string{
		"no HTTP":             "TOKEN\r\n\r\n",
		"no version":          "HTTP/TOKEN 200 OK\r\n\r\n",
		"no code":             "HTTP/1.1 TOKEN OK\r\n\r\n",
		"own text":            "HTTP/1.1 500 TOKEN\r\n\r\n",
		"own code":            "HTTP/1.1 999 TOKEN\r\n\r\n",
		"a header":            "HTTP/1.1 200 OK\r\nTOKEN\r\n\r\n",
		"a header's name":     "HTTP/1.1 200 OK\r\nX TOKEN: a\r\n\r\n",
		"a length":            "HTTP/1.1 200 OK\r\nContent-Length: TOKEN\r\n\r\n",
		"two lengths":         "HTTP/1.1 200 OK\r\nContent-Length: 1TOKEN\r\nContent-Length: 2\r\n\r\n",
		"an encoding":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: TOKEN\r\n\r\n",
		"a place":             "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://[TOKEN\r\n\r\n",
		"a place of no one":   "HTTP/1.1 307 Temporary Redirect\r\nLocation: TOKEN://there\r\n\r\n",
		"a pause":             "HTTP/1.1 429 Too Many Requests\r\nRetry-After: TOKEN\r\n\r\n",
		"no place":            "HTTP/1.1 307 Temporary Redirect\r\n\r\n",
		"early hints forever": strings.Repeat("HTTP/1.1 103 TOKEN\r\nLink: TOKEN\r\n\r\n", 20_000),
	} {
		t.Run(name, func(t *testing.T) {
			e := serve(t, answers(200), nil)
			got := deliver(t, e.to(func(target *notify.Target) {
				target.URL, target.Bearer, target.Timeout = speaks(t, answer), "canary", 5*time.Second
			}))
			if strings.Contains(got.Why, "canary") || !got.Delivered && got.Why == "" {
				t.Errorf("Deliver() = %+v", got)
			}
		})
	}
}

// What cannot stand in a header is not sent, and is not tried again: it names the field,
// and not the value.
//
// Proves: KICK-FEAT-036.
func TestHeaderInjection(t *testing.T) {
	for value, sent := range map[string]bool{"canary\nX-Other: a": false, "canary\rX-Other: a": false, "canary\x00": false, "canary\x7f": false, "canary\tgr\u00fcn": true} {
		for field, change := range map[string]func(*notify.Target){
			"spec.webhook.headers[1]": func(target *notify.Target) {
				target.Headers = []notify.Header{{Name: "A", Value: "a"}, {Name: "X", Value: value}}
			},
			"spec.webhook.auth.bearerToken": func(target *notify.Target) { target.Bearer = value },
		} {
			e := serve(t, answers(200), nil)
			got := deliver(t, e.to(change))
			if got.Delivered != sent || len(e.seen) > 0 != sent {
				t.Errorf("%s %q: Deliver() = %+v after %d requests", field, value, got, len(e.seen))
			}
			if !sent && (!got.Final || !strings.HasPrefix(got.Why, field+": ") || strings.Contains(got.Why, "canary")) {
				t.Errorf("%s %q: Deliver() = %+v", field, value, got)
			}
		}
	}
}
