package engine

import (
	"context"
	"slices"
	"time"

	"github.com/go-logr/logr"

	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/sched"
)

// Back-off of a key whose pass failed.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = time.Minute
)

// queue is one controller's work: each key at most once, in order of arrival, and
// at most one timer a key, the earliest. Passes run only while the process leads;
// one key is never worked on twice at a time.
type queue struct {
	process    *process
	controller *controllers.Controller
	label      string // pass <controller>
	context    context.Context
	waiting    []model.Key
	queued     map[model.Key]bool // waiting, or came again while it is worked on
	busy       []*pass            // suspended passes
	timers     map[model.Key]timer
	failures   map[model.Key]int
	step       *sched.Event
}

type timer struct {
	due     time.Time
	event   *sched.Event
	routine bool // nothing is waited for
}

func newQueue(p *process, c *controllers.Controller) *queue {
	return &queue{
		process: p, controller: c, label: "pass " + c.Name,
		context: logr.NewContext(background, p.log.WithValues("controller", c.Name)),
		queued:  map[model.Key]bool{}, timers: map[model.Key]timer{}, failures: map[model.Key]int{},
	}
}

func (q *queue) add(k model.Key) {
	if q.queued[k] {
		return
	}
	q.queued[k] = true
	if slices.ContainsFunc(q.busy, func(s *pass) bool { return s.key == k }) {
		return // when the pass is done
	}
	q.waiting = append(q.waiting, k)
	q.wake()
}

// wake makes sure that a pass is due if there is work, a worker and a right to do it.
func (q *queue) wake() {
	if q.step != nil || len(q.waiting) == 0 || !q.process.leads || len(q.busy) >= max(q.controller.Workers, 1) {
		return
	}
	q.step = q.process.engine.loop.After(0, q.label, q.pass)
}

func (q *queue) addAfter(k model.Key, d time.Duration, routine bool) {
	loop := q.process.engine.loop
	due := loop.Now().Add(d)
	if t, running := q.timers[k]; running {
		if !due.Before(t.due) {
			return
		}
		loop.Stop(t.event)
	}
	q.timers[k] = timer{due, loop.After(d, "timer "+q.controller.Name, func() { q.ring(k) }), routine}
}

// ring ends the timer of a key.
func (q *queue) ring(k model.Key) {
	if !q.process.awake {
		q.process.wait(func() { q.ring(k) })
		return
	}
	delete(q.timers, k)
	q.add(k)
}

// pass reconciles the oldest key.
func (q *queue) pass() {
	p := q.process
	if !p.awake {
		p.wait(q.pass)
		return
	}
	q.step = nil
	k := q.waiting[0]
	q.waiting = q.waiting[1:]
	delete(q.queued, k)
	if p.split(q) {
		s := newPass(q, k)
		q.busy = append(q.busy, s)
		s.advance()
	} else {
		p.engine.note(p)
		began := p.engine.loop.Now()
		p.working, p.knew = q, p.known()
		result, err := q.reconcile(k)
		p.working = nil
		q.done(k, began, result, err)
	}
	q.wake()
}

// done takes the outcome of a pass.
func (q *queue) done(k model.Key, began time.Time, result controllers.Result, err error) {
	switch {
	case !q.process.alive:
		return // it was killed in the middle of the pass
	case err != nil:
		q.failures[k]++
		q.addAfter(k, min(firstRetry<<min(q.failures[k]-1, 20), lastRetry), false)
		q.process.log.Error(err, "pass failed", "controller", q.controller.Name, "key", k.String())
	default:
		delete(q.failures, k)
		if tell := q.process.engine.Passed; tell != nil {
			tell(check.Pass{
				Controller: q.controller.Name, Key: k.String(), After: result.After,
				Began: began, Again: q.queued[k], Shown: q.process.shows(k),
			})
		}
		if result.After > 0 {
			q.addAfter(k, result.After, result.Routine)
		}
	}
	if q.queued[k] && !slices.Contains(q.waiting, k) {
		q.waiting = append(q.waiting, k)
	}
	q.wake()
}

// reconcile runs one pass; a kill at one of its calls unwinds to here.
func (q *queue) reconcile(k model.Key) (result controllers.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			if _, killed := r.(killed); !killed {
				panic(r)
			}
		}
	}()
	return q.controller.Reconcile(q.context, k)
}

func (q *queue) stop() {
	loop := q.process.engine.loop
	loop.Stop(q.step)
	q.step = nil
	for _, t := range q.timers {
		loop.Stop(t.event)
	}
	for _, s := range q.busy {
		if s != q.process.running { // that one unwinds by itself
			s.abandon()
		}
	}
	q.busy = nil
}
