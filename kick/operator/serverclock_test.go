package operator

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestServerClock: the clock is that of the server, however far this machine's is
// off, and goes on between answers.
func TestServerClock(t *testing.T) {
	date := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", date.Format(http.TimeFormat))
		if r.URL.Path == "/without" {
			w.Header()["Date"] = nil
		}
	}))
	defer server.Close()
	clock := &serverClock{}
	if now := clock.Now(); !now.IsZero() {
		t.Fatalf("before the first answer it shows %s", now)
	}
	transport := clock.listen(http.DefaultTransport)
	for _, path := range []string{"/", "/without"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if now := clock.Now(); now.Before(date) || now.After(date.Add(time.Hour)) {
			t.Errorf("after %s it shows %s, want %s and a little", path, now, date)
		}
	}
	first := clock.Now()
	for clock.Now().Equal(first) {
		time.Sleep(time.Millisecond)
	}
	if !clock.Now().After(first) {
		t.Error("it does not go on")
	}
}
