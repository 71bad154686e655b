package check

import (
	"time"

	"github.com/corewire/kick/sim/cluster"
)

const lawPace = "KICK writes at a pace that can be followed"

// More writes of one object than paceSize within paceTime are a loop, whoever else
// writes meanwhile: no user and no controller gives that many reasons.
const (
	paceSize = 100
	paceTime = 10 * time.Second
)

// spinSize calls at one instant are a loop that time cannot end.
const spinSize = 5000

// paces counts the writes of KICK to each object, and its calls at each instant.
type paces struct {
	written map[sentKey][]time.Time
	now     time.Time
	calls   int
}

// OnAccess reports a process that spins.
func (p *paces) OnAccess(c *Context, _ Access) {
	if now := c.Loop.Now(); !now.Equal(p.now) {
		p.now, p.calls = now, 0
	}
	if p.calls++; p.calls == spinSize {
		c.report(lawPace, "KICK made %d calls at one instant", spinSize)
	}
}

// OnKick reports an object that is written over and over.
func (p *paces) OnKick(c *Context, ev cluster.Event) {
	if p.written == nil {
		p.written = map[sentKey][]time.Time{}
	}
	k, now := sentKey{ev.Kind, ev.Key}, c.Loop.Now()
	times := append(p.written[k], now)
	if len(times) > paceSize {
		times = times[1:]
	}
	p.written[k] = times
	if len(times) == paceSize && now.Sub(times[0]) < paceTime {
		delete(p.written, k) // once a storm
		c.report(lawPace, "%s %s was written %d times by KICK within %s", ev.Kind.Kind, ev.Key, paceSize, now.Sub(times[0]))
	}
}
