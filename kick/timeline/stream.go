package timeline

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/corewire/kick/kick/model"
)

// Pace of a stream.
const (
	heartbeat = 10 * time.Second       // so that both sides notice when the other is gone
	gathering = 500 * time.Millisecond // after a change, others that belong to it are waited for
	patience  = 10 * time.Second       // a client that takes longer to read is dropped
)

// stream tells of changes as they come (text/event-stream): "hello" first, "lanes" with
// the workloads that are another now, "gone" with those that are no more, "reload" where
// too much has changed, and "beat" so that silence means something.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	v, err := s.Guard.Viewer(r)
	if err == nil {
		_, err = s.scopeOf(r.Context(), v, "")
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	l, ok := s.Hub.join()
	if !ok {
		w.Header().Set("Retry-After", "30")
		s.refuse(w, r, refusal{http.StatusServiceUnavailable, fmt.Sprintf("%d pages are open already; close one, or ask another replica", MaxStreams)})
		return
	}
	defer l.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies hand on what they get at once
	out := &sender{s: s, w: w, control: http.NewResponseController(w)}
	if out.send("hello", map[string]time.Time{"now": s.now()}) == nil {
		s.follow(r, l, out)
	}
}

// follow sends until the client, the server or the right to look is gone.
func (s *Server) follow(r *http.Request, l *listener, out *sender) {
	beat := s.Clock.Ticker(heartbeat)
	defer beat.Stop()
	for {
		var err error
		select {
		case <-r.Context().Done():
			return
		case <-l.over:
			return
		case <-beat.C:
			err = out.send("beat", map[string]time.Time{"now": s.now()})
		case <-l.wake:
			if !s.pause(r, l) {
				return
			}
			err = s.news(r, l, out)
		}
		if err == nil {
			_, err = s.Guard.Viewer(r) // a token may have expired since
		}
		if err != nil {
			return
		}
	}
}

// pause waits for what belongs to a change; false: there is nobody left to wait for.
func (s *Server) pause(r *http.Request, l *listener) bool {
	timer := s.Clock.Timer(gathering)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-l.over:
	}
	return false
}

// Gone is a workload that is not shown any more.
type Gone struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
}

// news sends what has changed.
func (s *Server) news(r *http.Request, l *listener, out *sender) error {
	v, err := s.Guard.Viewer(r)
	if err != nil {
		return err
	}
	keys, all := l.take()
	if all {
		return out.send("reload", map[string]time.Time{"now": s.now()})
	}
	sees, err := s.scopeOf(r.Context(), v, "")
	if err != nil {
		return err
	}
	byNamespace := map[string]map[model.Key]bool{}
	for _, k := range keys {
		if sees.has(k) {
			if byNamespace[k.Namespace] == nil {
				byNamespace[k.Namespace] = map[model.Key]bool{}
			}
			byNamespace[k.Namespace][k] = true
		}
	}
	lanes, gone := []Lane{}, []Gone{}
	for namespace, only := range byNamespace {
		found, err := s.turn(r, v, func(ctx context.Context, v Viewer, _ *http.Request) (any, error) {
			return s.lanes(ctx, v, namespace, s.now(), only)
		})
		if err != nil {
			return err
		}
		for _, lane := range found.([]Lane) {
			lanes = append(lanes, lane)
			delete(only, model.Key{Kind: lane.Kind, Namespace: lane.Namespace, Name: lane.Name})
		}
		for k := range only {
			gone = append(gone, Gone{k.Namespace, k.Kind, k.Name})
		}
	}
	return out.changes(lanes, gone)
}

// sender writes events, each within patience.
type sender struct {
	s       *Server
	w       http.ResponseWriter
	control *http.ResponseController
}

func (o *sender) changes(lanes []Lane, gone []Gone) error {
	if len(lanes) > 0 {
		if err := o.send("lanes", lanes); err != nil {
			return err
		}
	}
	if len(gone) > 0 {
		return o.send("gone", gone)
	}
	return nil
}

func (o *sender) send(event string, data any) error {
	body, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if err := o.control.SetWriteDeadline(o.s.Clock.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(o.w, "event: %s\ndata: %s\n\n", event, body); err != nil {
		return err
	}
	return o.control.Flush()
}
