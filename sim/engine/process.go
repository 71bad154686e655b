package engine

import (
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/events"
	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/operator"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/sched"
)

// Timing of a process.
const (
	watchLag   = time.Millisecond      // a commit until its event is in the cache
	syncTime   = 50 * time.Millisecond // start until the caches are filled
	comeBack   = time.Second           // kill until the next life starts
	leaseTime  = 15 * time.Second      // silence of a leader until its lease is free
	leaseRetry = 2 * time.Second       // renewal, and look at the lease by the others
)

// killed unwinds a pass of a process that ends at one of its writes.
type killed struct{}

// process is one life of one replica.
type process struct {
	engine   *Engine
	replica  int
	alive    bool
	synced   bool
	leads    bool
	cache    *cache
	queues   []*queue
	watches  map[*store][]watch
	log      logr.Logger
	backlog  map[*store][]cluster.Event
	deliver  map[*store]*sched.Event
	leaseOwn time.Time // when it began to lead; renewals follow from there
	timers   []*sched.Event
}

type watch struct {
	queue *queue
	watch *controllers.Watch
}

// newProcess starts a life: it wires the controllers and fills its caches.
func newProcess(e *Engine, replica int) (*process, error) {
	p := &process{
		engine: e, replica: replica, alive: true,
		watches: map[*store][]watch{}, backlog: map[*store][]cluster.Event{}, deliver: map[*store]*sched.Event{},
	}
	p.log = funcr.NewJSON(func(line string) {
		if e.Log != nil {
			e.Log(line)
		}
	}, funcr.Options{})
	reader := &lateReader{}
	calls := &caller{process: p, live: e.Server.Client(model.FieldManager)}
	wiring := operator.Wire(operator.Deps{
		Clock: e.Clock, Cache: reader, Live: calls, Write: calls, Events: recorder{p},
		Register: prometheus.NewRegistry(), Options: e.options, Started: e.Clock.Now(), Sightings: ledger.NewSightings(e.lastAlive()), NewKey: e.newKey,
	})
	var err error
	if p.cache, err = newCache(wiring, e.scheme); err != nil {
		return nil, err
	}
	reader.Reader = p.cache
	if err := p.connect(wiring); err != nil {
		return nil, err
	}
	p.after(syncTime, "sync caches", p.sync)
	return p, nil
}

// lateReader lets the wiring be made before the cache it reads from.
type lateReader struct{ client.Reader }

// connect makes the queues and hangs the watches on the stores.
func (p *process) connect(w controllers.Wiring) error {
	for i := range w.Controllers {
		c := &w.Controllers[i]
		q := newQueue(p, c)
		p.queues = append(p.queues, q)
		for j := range c.Watches {
			s, err := p.cache.storeOf(c.Watches[j].Object)
			if err != nil {
				return err
			}
			p.watches[s] = append(p.watches[s], watch{q, &c.Watches[j]})
		}
	}
	return nil
}

// after schedules something that dies with the process.
func (p *process) after(d time.Duration, label string, run func()) {
	p.timers = append(p.timers, p.engine.loop.After(d, label, func() {
		if p.alive {
			run()
		}
	}))
}

// sync fills the caches and shows every object to the watches, then asks for the
// lease.
func (p *process) sync() {
	for _, s := range p.cache.order {
		for _, obj := range p.engine.Server.List(s.kind, "") {
			if !p.engine.watches(obj.GetNamespace()) {
				continue
			}
			s.put(client.ObjectKeyFromObject(obj), s.shrink(obj))
		}
	}
	p.synced = true
	for _, s := range p.cache.order {
		for _, key := range s.keys {
			p.notify(s, controllers.Event{New: s.objects[key]})
		}
	}
	p.engine.compete()
}

// lead begins to work.
func (p *process) lead() {
	p.leads, p.leaseOwn = true, p.engine.loop.Now()
	p.log.Info("leading", "replica", p.replica)
	for _, q := range p.queues {
		q.wake()
	}
}

// see takes a commit into the backlog of its kind; it is delivered a little later,
// in order within the kind.
func (p *process) see(ev cluster.Event) {
	s := p.cache.byKind[ev.Kind]
	if s == nil || !p.synced || !p.engine.watches(ev.Key.Namespace) {
		return
	}
	p.backlog[s] = append(p.backlog[s], ev)
	p.schedule(s)
}

func (p *process) schedule(s *store) {
	if p.deliver[s] != nil || len(p.backlog[s]) == 0 || p.engine.held(s.kind) {
		return
	}
	p.deliver[s] = p.engine.loop.After(watchLag, "watch "+s.kind.Kind, func() { p.show(s) })
}

// show delivers everything of the kind that has come in.
func (p *process) show(s *store) {
	p.deliver[s] = nil
	batch := p.backlog[s]
	p.backlog[s] = nil
	for _, ev := range batch {
		var now client.Object
		if ev.Type != cluster.Deleted {
			now = s.shrink(ev.Object)
		}
		old := s.put(ev.Key, now)
		if old != nil || now != nil {
			p.notify(s, controllers.Event{Old: old, New: now})
		}
	}
}

func (p *process) notify(s *store, e controllers.Event) {
	for _, w := range p.watches[s] {
		for _, k := range w.watch.Keys(background, e) {
			w.queue.add(k)
		}
	}
}

// die ends the life; nothing of it remains but what it wrote.
func (p *process) die() {
	p.alive, p.leads = false, false
	for _, q := range p.queues {
		q.stop()
	}
	for _, e := range p.deliver {
		p.engine.loop.Stop(e)
	}
	for _, e := range p.timers {
		p.engine.loop.Stop(e)
	}
}

// recorder hands events to the engine.
type recorder struct{ process *process }

// Record tells of an event.
func (r recorder) Record(about *model.Request, _ *model.Workload, e events.Event) {
	r.process.log.Info("event", "type", e.Type, "reason", e.Reason, "action", e.Action, "regarding", about.ID.String(), "note", e.Note)
}
