package notify

import (
	"fmt"
	"strconv"
	"time"
)

// Status codes that mean more than their class.
const (
	tooManyRequests    = 429
	serviceUnavailable = 503
)

// httpDates are how HTTP writes a time, RFC 9110 section 5.6.7: two of them are old, and
// must be understood.
var httpDates = []string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC}

// Judge says what an answer means: its status code, the text of that, and its header
// Retry-After.
func Judge(code int, text, retryAfter string, now time.Time) Outcome {
	o := Outcome{Why: fmt.Sprintf("the endpoint answered %d %s", code, text)}
	switch {
	case code >= 200 && code < 300:
		return Outcome{Delivered: true}
	case code >= 300 && code < 400:
		o.Final = true
		o.Why += ": only redirects by 307 or 308 to the same scheme, host and port are followed; write the final address into spec.webhook.url"
	case code == tooManyRequests || code == serviceUnavailable:
		o.After = pauseAsked(retryAfter, now)
	case code < 500:
		o.Final = true
	}
	return o
}

// pauseAsked reads a Retry-After: seconds or a date.
func pauseAsked(value string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil {
		return min(time.Duration(max(seconds, 0)), MaxPause/time.Second) * time.Second
	}
	for _, form := range httpDates {
		if at, err := time.Parse(form, value); err == nil {
			return min(max(at.Sub(now), 0), MaxPause)
		}
	}
	return 0
}
