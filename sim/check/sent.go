package check

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// sent remembers what a law thought of calls when they were sent: what happens on
// the wire, up to a write that lands late, is not in KICK's hand.
type sent map[sentKey][]verdict

type sentKey struct {
	kind schema.GroupKind
	key  types.NamespacedName
}

// verdict is what a law says of one call; no words: it is in order.
type verdict struct {
	at    time.Time
	words string
}

// inFlight is how long a call can be on its way at most: a process may be frozen
// between its decision and the wire, and the server may run on after a timeout.
const inFlight = 2 * time.Hour

// call takes a call on its way out, and takes it off when it has certainly failed.
// words are the verdict on it, found out only when it is sent.
func (s *sent) call(c *Context, w Write, words func() string) {
	if *s == nil {
		*s = sent{}
	}
	k := sentKey{w.Kind, w.Key}
	if !w.Done {
		(*s)[k] = append((*s)[k], verdict{c.Loop.Now(), words()})
		return
	}
	all := (*s)[k]
	if n := len(all); n > 0 && certainlyLost(w.Err) {
		(*s)[k] = all[:n-1]
	}
}

// certainlyLost reports an answer after which a write cannot land any more.
func certainlyLost(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsInvalid(err) ||
		apierrors.IsForbidden(err) || apierrors.IsTooManyRequests(err) || apierrors.IsAlreadyExists(err)
}

// landed is the verdict on the call that caused a write: in order if any that may
// have caused it was. A write without a call is judged by what holds now.
func (s sent) landed(c *Context, kind schema.GroupKind, key types.NamespacedName, now func() string) string {
	k := sentKey{kind, key}
	all := s[k]
	delete(s, k)
	last, found := "", false
	for _, v := range all {
		if c.Loop.Now().Sub(v.at) > inFlight {
			continue
		}
		if v.words == "" {
			return ""
		}
		last, found = v.words, true
	}
	if !found {
		return now()
	}
	return last
}
