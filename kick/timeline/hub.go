package timeline

import (
	"maps"
	"slices"
	"sync"

	"github.com/corewire/kick/kick/model"
)

// mostPending is how many changed workloads are noted for one listener; with more it is
// told to read everything anew.
const mostPending = 500

// Hub tells those who look which workloads have changed. What a listener has not taken
// yet is one set, so a slow one never costs more than that.
type Hub struct {
	most int

	mu        sync.Mutex
	listeners map[*listener]bool
	closed    bool
}

// NewHub returns a hub for at most that many listeners at a time.
func NewHub(most int) *Hub { return &Hub{most: most, listeners: map[*listener]bool{}} }

// Changed notes that what is shown of these workloads may be another now.
func (h *Hub) Changed(keys ...model.Key) {
	h.each(func(l *listener) {
		for _, k := range keys {
			l.pending[k] = true
		}
		if len(l.pending) > mostPending {
			l.all, l.pending = true, map[model.Key]bool{}
		}
	})
}

// ChangedAll notes that anything may be another now.
func (h *Hub) ChangedAll() { h.each(func(l *listener) { l.all = true }) }

// Close ends every stream; no new one begins.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		for l := range h.listeners {
			close(l.over)
		}
	}
}

func (h *Hub) each(note func(*listener)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners {
		note(l)
		select {
		case l.wake <- struct{}{}:
		default: // it is awake, or about to be
		}
	}
}

// listener is one open stream.
type listener struct {
	hub     *Hub
	wake    chan struct{}
	over    chan struct{}
	pending map[model.Key]bool
	all     bool
}

// join opens a stream; false: there are as many as there may be.
func (h *Hub) join() (*listener, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || len(h.listeners) >= h.most {
		return nil, false
	}
	l := &listener{hub: h, wake: make(chan struct{}, 1), over: make(chan struct{}), pending: map[model.Key]bool{}}
	h.listeners[l] = true
	return l, true
}

func (l *listener) leave() {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	delete(l.hub.listeners, l)
}

// take is what has changed since the last time, in order.
func (l *listener) take() (keys []model.Key, all bool) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	keys, all = slices.Collect(maps.Keys(l.pending)), l.all
	l.pending, l.all = map[model.Key]bool{}, false
	slices.SortFunc(keys, func(a, b model.Key) int { return compare(a, b) })
	return keys, all
}
