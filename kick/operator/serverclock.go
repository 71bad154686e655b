package operator

import (
	"net/http"
	"sync"
	"time"
)

// serverClock is the API server's clock, read off the Date of its answers. What the
// API server dates (creations, writes) must not be compared with this machine's
// wall clock: the two may differ, and this one may be set while KICK runs
// (docs/decisions/0010). Between answers it goes on by the monotonic clock. It is
// safe for concurrent use.
type serverClock struct {
	mu   sync.Mutex
	date time.Time // of the newest answer; whole seconds
	seen time.Time // when that came, with this machine's monotonic clock
}

// Now is the API server's clock, at most a second and the way of an answer late;
// zero before the first answer.
func (c *serverClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen.IsZero() {
		return time.Time{}
	}
	return c.date.Add(time.Since(c.seen)).Truncate(time.Microsecond)
}

// listen reads the date of every answer that passes through a transport.
func (c *serverClock) listen(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		if err != nil {
			return answer, err
		}
		if date, bad := http.ParseTime(answer.Header.Get("Date")); bad == nil {
			c.mu.Lock()
			c.date, c.seen = date.UTC(), time.Now()
			c.mu.Unlock()
		}
		return answer, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
