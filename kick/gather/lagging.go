package gather

import (
	"sync"

	"github.com/corewire/kick/kick/model"
)

// lagging remembers the workloads whose cached copy is known to be old, until it is
// seen to have caught up. Losing it in a crash costs a conflict.
type lagging struct {
	mu  sync.Mutex
	all map[model.Key]bool
}

func (l *lagging) set(k model.Key, old bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !old {
		delete(l.all, k)
		return
	}
	if l.all == nil {
		l.all = map[model.Key]bool{}
	}
	l.all[k] = true
}

func (l *lagging) has(k model.Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[k]
}
