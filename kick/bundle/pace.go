package bundle

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/bundle"
)

// How often one bundle is put right: at once for a while, and then at a pace that
// somebody who always undoes it, a GitOps tool for one, does not turn into a storm of
// writes.
const (
	healsAtOnce = 10
	healEvery   = 3 * time.Second
)

// pace holds corrections back. It is memory that a crash may lose: what follows is
// another few corrections at once.
type pace struct {
	mu     sync.Mutex
	limits map[model.Key]*rate.Limiter
}

func newPace() *pace { return &pace{limits: map[model.Key]*rate.Limiter{}} }

// wait is how long a correction has to wait; 0: it may be made now. What users ask for
// never waits.
func (p *pace) wait(id model.Key, v *bundle.Verdict, now time.Time) time.Duration {
	if !v.Healing && v.Action != bundle.Restore {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := p.limits[id]
	if limit == nil {
		limit = rate.NewLimiter(rate.Every(healEvery), healsAtOnce)
		p.limits[id] = limit
	}
	if limit.AllowN(now, 1) {
		return 0
	}
	return healEvery
}

func (p *pace) forget(id model.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.limits, id)
}
