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

// pace holds writes back. It is memory that a crash may lose: what follows is another
// few of them at once.
type pace struct {
	mu     sync.Mutex
	limits map[model.Key]*limits
}

// limits are those of one bundle.
type limits struct {
	heals *rate.Limiter // of what others did, to the ConfigMap or to an immutable bundle
	// writes are those that bring about what is declared, of which somebody may undo
	// each before it is seen to stand. What users ask for never waits: each declaration
	// has its own.
	writes   *rate.Limiter
	declared declaration
}

// declaration tells one declaration of a bundle from the next.
type declaration struct {
	uid        string
	generation int64
	metadata   string
}

func newPace() *pace { return &pace{limits: map[model.Key]*limits{}} }

func newLimiter() *rate.Limiter { return rate.NewLimiter(rate.Every(healEvery), healsAtOnce) }

// wait is how long a write has to wait; 0: it may be made now.
func (p *pace) wait(b *bundle.Bundle, v *bundle.Verdict, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.limits[b.ID]
	if l == nil {
		l = &limits{heals: newLimiter()}
		p.limits[b.ID] = l
	}
	limit := l.heals
	if !v.Healing && v.Action != bundle.Restore {
		limit = l.of(declaration{uid: b.UID, generation: b.Generation, metadata: b.Meta.Fingerprint()})
	}
	if limit.AllowN(now, 1) {
		return 0
	}
	return healEvery
}

// of is the limit of the writes for a declaration.
func (l *limits) of(d declaration) *rate.Limiter {
	if l.writes == nil || l.declared != d {
		l.writes, l.declared = newLimiter(), d
	}
	return l.writes
}

func (p *pace) forget(id model.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.limits, id)
}
