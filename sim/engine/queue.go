package engine

import (
	"context"
	"time"

	"github.com/go-logr/logr"

	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/sim/sched"
)

// Back-off of a key whose pass failed.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = time.Minute
)

// queue is one controller's work: each key at most once, in order of arrival, and
// at most one timer a key, the earliest. Passes run only while the process leads.
type queue struct {
	process    *process
	controller *controllers.Controller
	waiting    []model.Key
	queued     map[model.Key]bool
	timers     map[model.Key]timer
	failures   map[model.Key]int
	step       *sched.Event
}

type timer struct {
	due   time.Time
	event *sched.Event
}

func newQueue(p *process, c *controllers.Controller) *queue {
	return &queue{
		process: p, controller: c,
		queued: map[model.Key]bool{}, timers: map[model.Key]timer{}, failures: map[model.Key]int{},
	}
}

func (q *queue) add(k model.Key) {
	if q.queued[k] {
		return
	}
	q.queued[k] = true
	q.waiting = append(q.waiting, k)
	q.wake()
}

// wake makes sure that a pass is due if there is work and a right to do it.
func (q *queue) wake() {
	if q.step != nil || len(q.waiting) == 0 || !q.process.leads {
		return
	}
	q.step = q.process.engine.loop.After(0, "pass "+q.controller.Name, q.pass)
}

func (q *queue) addAfter(k model.Key, d time.Duration) {
	loop := q.process.engine.loop
	due := loop.Now().Add(d)
	if t, running := q.timers[k]; running {
		if !due.Before(t.due) {
			return
		}
		loop.Stop(t.event)
	}
	q.timers[k] = timer{due, loop.After(d, "timer "+q.controller.Name, func() {
		delete(q.timers, k)
		q.add(k)
	})}
}

// pass reconciles the oldest key.
func (q *queue) pass() {
	q.step = nil
	k := q.waiting[0]
	q.waiting = q.waiting[1:]
	delete(q.queued, k)
	result, err := q.reconcile(k)
	switch {
	case !q.process.alive:
		return // it was killed in the middle of the pass
	case err != nil:
		q.failures[k]++
		q.addAfter(k, min(firstRetry<<min(q.failures[k]-1, 20), lastRetry))
		q.process.log.Error(err, "pass failed", "controller", q.controller.Name, "key", k.String())
	default:
		delete(q.failures, k)
		if result.After > 0 {
			q.addAfter(k, result.After)
		}
	}
	q.wake()
}

// reconcile runs one pass; a kill at one of its writes unwinds to here.
func (q *queue) reconcile(k model.Key) (result controllers.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			if _, killed := r.(killed); !killed {
				panic(r)
			}
		}
	}()
	ctx := logr.NewContext(context.Background(), q.process.log.WithValues("controller", q.controller.Name))
	return q.controller.Reconcile(ctx, k)
}

func (q *queue) stop() {
	q.process.engine.loop.Stop(q.step)
	q.step = nil
	for _, t := range q.timers {
		q.process.engine.loop.Stop(t.event)
	}
}
