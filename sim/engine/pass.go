package engine

import (
	"iter"
	"slices"
	"time"

	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/sched"
)

// killed unwinds a pass of a process that ends at one of its calls.
type killed struct{}

// naps are what can lie between two steps of a pass, the plain case (go on at once)
// first; the second lets everything else that is due go before.
var naps = []time.Duration{-1, 0, 2 * time.Millisecond, 50 * time.Millisecond, 2 * time.Second}

// pass is a pass that can be suspended at its calls: a coroutine. Only passes that
// are chosen for it are one, so an ordinary pass is a function call.
// A controller must hold no lock over a call: a pass that waits for the lock of a
// suspended one would wait for ever.
type pass struct {
	queue  *queue
	key    model.Key
	next   func() (time.Duration, bool)
	stop   func()
	yield  func(time.Duration) bool
	resume *sched.Event
	began  time.Time
	knew   check.Known // how far the caches had followed when it began
	result controllers.Result
	err    error
}

func newPass(q *queue, k model.Key) *pass {
	s := &pass{queue: q, key: k, began: q.process.engine.loop.Now(), knew: q.process.known()}
	s.next, s.stop = iter.Pull(s.body)
	return s
}

// body is the coroutine; what it yields is how long to sleep.
func (s *pass) body(yield func(time.Duration) bool) {
	s.yield = yield
	s.result, s.err = s.queue.reconcile(s.key)
}

// advance runs the pass up to its next suspension or its end.
func (s *pass) advance() {
	p := s.queue.process
	if !p.awake {
		p.wait(s.advance)
		return
	}
	p.engine.note(p)
	p.running, p.working = s, s.queue
	nap, more := s.next()
	p.running, p.working = nil, nil
	switch {
	case !p.alive: // it was killed in the middle of the pass
	case more:
		s.resume = p.engine.loop.After(nap, s.queue.label, s.advance)
	default:
		s.queue.busy = slices.DeleteFunc(s.queue.busy, func(other *pass) bool { return other == s })
		s.queue.done(s.key, s.began, s.result, s.err)
	}
}

// sleep suspends the pass; if the process ends meanwhile, it unwinds.
func (s *pass) sleep(d time.Duration) {
	if !s.yield(d) {
		panic(killed{})
	}
}

// abandon ends a suspended pass.
func (s *pass) abandon() {
	s.queue.process.engine.loop.Stop(s.resume)
	s.stop()
}

// split reports whether the next pass of a queue is to be one that can be suspended.
func (p *process) split(q *queue) bool {
	e := p.engine
	for i := range e.faults {
		if e.faults[i].Fault == faults.PauseAtCall {
			return true
		}
	}
	return e.asks() && e.loop.Choose(2, sched.Switch, q.label) == 1
}

// suspendable reports whether the pass under way can be suspended.
func (p *process) suspendable() bool { return p.running != nil }

// suspend lets other things happen at a call of a pass, if that is chosen.
func (p *process) suspend(site string) {
	e := p.engine
	if p.running == nil || !e.asks() {
		return
	}
	if nap := naps[e.loop.Choose(len(naps), sched.Switch, site)]; nap >= 0 {
		e.met(site, "suspended")
		p.running.sleep(nap)
	}
}

// befall carries out a fault that leaves the call itself alone.
func (p *process) befall(fault *faults.Fault) {
	switch fault {
	case faults.PauseAtCall:
		p.freeze(faults.Pause)
		p.running.sleep(0) // until the process thaws
	case faults.LeaseLost:
		p.engine.loseLease(p)
	}
}
