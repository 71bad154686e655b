package world

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/sched"
)

// The retry policy of client-go's default controller queue: 5ms, doubled each
// time; after maxRetries the key is dropped until something enqueues it again.
const (
	firstRetry = 5 * time.Millisecond
	maxRetries = 15
)

// scheduled is an event of the loop together with its due time.
type scheduled struct {
	event *sched.Event
	due   time.Time
}

// queue is a deduplicating work queue of one actor: a key waits in it at most
// once, and each sync of a key is one event of the loop.
type queue[K comparable] struct {
	world    *World
	label    func(K) sched.Label
	sync     func(K) error
	pending  map[K]scheduled
	timers   map[K]scheduled
	failures map[K]int
}

// newKeyQueue returns a queue of object keys for the named actor.
func newKeyQueue(w *World, actor string, sync func(types.NamespacedName) error) *queue[types.NamespacedName] {
	label := func(key types.NamespacedName) sched.Label { return about(actor, key) }
	return newQueue(w, label, sync)
}

// about labels what an actor does with an object.
func about(what string, key types.NamespacedName) sched.Label {
	return sched.Label{What: what, Namespace: key.Namespace, Name: key.Name}
}

// newQueue returns an empty queue.
func newQueue[K comparable](w *World, label func(K) sched.Label, sync func(K) error) *queue[K] {
	q := &queue[K]{
		world: w, label: label, sync: sync,
		pending: map[K]scheduled{}, timers: map[K]scheduled{}, failures: map[K]int{},
	}
	w.queues = append(w.queues, q)
	return q
}

// add lets the actor look at the key after the usual latency.
func (q *queue[K]) add(key K) { q.addWithin(key, q.world.opt.Latency) }

// addWithin is add with another latency; the earlier of two requests wins.
func (q *queue[K]) addWithin(key K, d time.Duration) {
	due := q.world.loop.Now().Add(d)
	if waiting, ok := q.pending[key]; ok {
		if !due.Before(waiting.due) {
			return
		}
		q.world.drop(waiting.event)
	}
	event := q.world.soon(d, q.label(key), func() { q.run(key) })
	q.pending[key] = scheduled{event, due}
}

// addAfter sets a timer that enqueues the key; of several the earliest stays.
func (q *queue[K]) addAfter(key K, d time.Duration) {
	due := q.world.loop.Now().Add(d)
	if timer, ok := q.timers[key]; ok {
		if !due.Before(timer.due) {
			return
		}
		q.world.loop.Stop(timer.event)
	}
	label := q.label(key)
	label.What = "timer " + label.What
	q.timers[key] = scheduled{q.world.loop.AfterOf(d, label, q.ring(key)), due}
}

// ring is what a timer does when it is due.
func (q *queue[K]) ring(key K) func() {
	return func() {
		delete(q.timers, key)
		q.add(key)
	}
}

// forget drops the timer of a key whose object is gone.
func (q *queue[K]) forget(key K) {
	if timer, ok := q.timers[key]; ok {
		q.world.loop.Stop(timer.event)
		delete(q.timers, key)
	}
	delete(q.failures, key)
}

// run syncs one key and queues it again, later and later, when that failed.
func (q *queue[K]) run(key K) {
	delete(q.pending, key)
	if q.sync(key) == nil {
		if len(q.failures) > 0 {
			delete(q.failures, key)
		}
		return
	}
	n := q.failures[key]
	if n >= maxRetries {
		delete(q.failures, key)
		return
	}
	q.failures[key] = n + 1
	q.addWithin(key, firstRetry<<n)
}
