package timeline

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/go-logr/logr"

	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/timeline/ui"
)

// Facts is what is on record; a gatherer of caches is one.
type Facts interface {
	// Standings are those of the managed workloads of a namespace that keep accepts; the
	// empty namespace means all.
	Standings(ctx context.Context, namespace string, now time.Time, keep func(model.Key) bool) ([]gather.Standing, error)
	// Workload is what a workload is judged by. Its pods are asked for where that depends on them.
	Workload(ctx context.Context, target model.Key, now time.Time, f gather.Freshness) (*model.Snapshot, error)
	// Managed are the namespaces that have a policy.
	Managed(context.Context) ([]string, error)
	// PolicyKeys are the policies of a namespace.
	PolicyKeys(ctx context.Context, namespace string) ([]model.Key, error)
}

// MaxStreams is how many pages may be open at a time, and mostBusy how many answers are
// put together at a time: the operator has other things to do.
const (
	MaxStreams = 64
	mostBusy   = 2
)

// Server answers under /timeline.
type Server struct {
	Facts Facts
	Guard Guard
	Hub   *Hub
	Clock clock.Clock
	Log   logr.Logger

	busy chan struct{}
}

// Handler is the server's routes.
func (s *Server) Handler() http.Handler {
	s.busy = make(chan struct{}, mostBusy)
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", http.RedirectHandler("/timeline/ui", http.StatusFound))
	mux.Handle("GET /timeline/ui", ui.Handler())
	mux.Handle("GET /timeline/ui/{file}", ui.Handler())
	for path, answer := range map[string]answer{
		"/timeline":           s.workload,
		"/timeline/overview":  s.overview,
		"/timeline/discovery": s.discovery,
		"/timeline/dag":       s.dag,
	} {
		mux.Handle("GET "+path, s.answering(answer))
	}
	mux.HandleFunc("GET /timeline/stream", s.stream)
	return secured(mux)
}

// secured sets what holds for every answer: nothing is run or shown that this server did
// not send, by no other page, and no copy is kept.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", ui.Policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// answer puts together what a viewer asked for.
type answer func(ctx context.Context, v Viewer, r *http.Request) (any, error)

// answering writes an answer, or why there is none, as JSON.
func (s *Server) answering(make answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := s.Guard.Viewer(r)
		if err == nil {
			var body any
			if body, err = s.turn(r, v, make); err == nil {
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(body) // nobody listens any more
				return
			}
		}
		s.refuse(w, r, err)
	})
}

// turn waits until few enough others are being answered.
func (s *Server) turn(r *http.Request, v Viewer, make answer) (any, error) {
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
		return make(r.Context(), v, r)
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// refuse says why there is no answer. What went wrong inside is for the log.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var no refusal
	switch {
	case errors.As(err, &no):
	case r.Context().Err() != nil:
		return
	default:
		s.Log.Error(err, "timeline", "path", r.URL.Path)
		no = refusal{http.StatusInternalServerError, "the timeline could not be put together; KICK's log says why"}
	}
	if no.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="kick"`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(no.status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": no.say})
}

// now is the clock, read once for an answer.
func (s *Server) now() time.Time { return gather.Now(s.Clock) }

// scope is which namespaces a viewer sees: all of them, or these.
type scope struct {
	namespace string // the only one that was asked for; empty: all he may see
	all       bool
	some      map[string]bool
}

func (s scope) has(k model.Key) bool {
	return (s.namespace == "" || s.namespace == k.Namespace) && (s.all || s.some[k.Namespace])
}

// scopeOf is what a viewer sees of the namespace that was asked for; empty: of all.
func (s *Server) scopeOf(ctx context.Context, v Viewer, namespace string) (scope, error) {
	out := scope{namespace: namespace, some: map[string]bool{}}
	var err error
	if out.all, err = v.May(ctx, ""); err != nil || out.all {
		return out, err
	}
	asked := []string{namespace}
	if namespace == "" {
		if asked, err = s.Facts.Managed(ctx); err != nil {
			return out, err
		}
	}
	for _, n := range asked {
		allowed, err := v.May(ctx, n)
		if err != nil {
			return out, err
		}
		if allowed {
			out.some[n] = true
		}
	}
	if len(out.some) == 0 {
		where := "in any namespace with a KickPolicy"
		if namespace != "" {
			where = "in namespace " + namespace
		}
		return out, refusal{http.StatusForbidden, v.Name() + " may not list kickrequests.kick.corewire.io " + where + "; a Role that allows it opens the timeline of its namespace"}
	}
	return out, nil
}

// compare orders workloads as lanes are ordered.
func compare(a, b model.Key) int {
	return slices.Compare([]string{a.Namespace, a.Name, a.Kind}, []string{b.Namespace, b.Name, b.Kind})
}

// required are query parameters that must be there.
func required(r *http.Request, names ...string) error {
	var missing []string
	for _, n := range names {
		if r.URL.Query().Get(n) == "" {
			missing = append(missing, n+"=")
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return refusal{http.StatusBadRequest, r.URL.Path + " needs " + strings.Join(missing, " and ")}
}
