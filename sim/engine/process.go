package engine

import (
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/events"
	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/metrics"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/operator"
	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/sched"
)

// Timing of a process.
const (
	syncTime = 50 * time.Millisecond // start until the caches are filled
	comeBack = time.Second           // kill until the next life starts
)

// process is one life of one replica.
type process struct {
	engine   *Engine
	replica  int
	alive    bool
	awake    bool // alive and not paused
	synced   bool
	since    time.Time // of being synced
	leads    bool
	leaseOwn time.Time // when it began to lead; renewals follow from there
	cache    *cache
	queues   []*queue
	feeds    []*feed
	byKind   map[schema.GroupKind]*feed
	log      logr.Logger
	starting *sched.Event
	exit     *sched.Event // it leads without a lease until then
	running  *pass        // the pass under way, if it can be suspended
	knew     check.Known  // how far the caches had followed when the pass under way began, if it cannot
	working  *queue       // the controller under way
	later    []func()     // what came due while it was paused
	date     time.Time    // of the API server's newest answer
	dated    time.Time    // true time of that answer
	saw      *ledger.Sightings
	looked   map[types.NamespacedName]time.Time // when it read a NotificationPolicy live last
}

// answered notes the date of an answer of the API server, whole seconds.
func (p *process) answered() {
	p.date, p.dated = p.engine.Server.Now().Truncate(time.Second), p.engine.loop.Now()
}

// serverNow is the API server's clock as the process knows it: by the newest answer
// and its own monotonic clock.
func (p *process) serverNow() time.Time { return p.date.Add(p.engine.loop.Now().Sub(p.dated)) }

// series are counted by all processes together: nothing here reads them, and making
// them takes longer than anything else at a start.
var series = sync.OnceValue(func() *metrics.Metrics { return operator.NewMetrics(prometheus.NewRegistry()) })

// newProcess starts a life: it wires the controllers and fills its caches.
func newProcess(e *Engine, replica int) (*process, error) {
	p := &process{engine: e, replica: replica, alive: true, awake: true, byKind: map[schema.GroupKind]*feed{}, looked: map[types.NamespacedName]time.Time{}}
	p.answered()
	p.log = funcr.NewJSON(func(line string) {
		if e.Log != nil {
			e.Log(line)
		}
	}, funcr.Options{})
	p.saw = ledger.NewSightings(e.lastAlive())
	reader := &cacheReader{process: p}
	calls := &caller{process: p, live: e.Server.Client(model.FieldManager)}
	integrations := operator.Integrate(&e.options, e.Server.Serves)
	for _, what := range integrations.Skipped {
		p.log.Info("integration skipped", "missing", what)
	}
	wiring := operator.Wire(operator.Deps{
		Clock: e.Clock, Cache: reader, Live: calls, Write: calls, Events: recorder{p},
		Notifications: operator.Calls{Live: calls, Write: calls}, Deliver: deliverer{p},
		Metrics: series(), Options: e.options, Integrations: integrations, Started: p.serverNow(), ServerNow: p.serverNow, Sightings: p.saw, NewKey: e.newKey,
	})
	var err error
	if p.cache, err = newCache(wiring, e.scheme, e.Server); err != nil {
		return nil, err
	}
	reader.Reader = p.cache
	if err := p.connect(wiring); err != nil {
		return nil, err
	}
	e.demandBasics(p)
	p.starting = e.loop.After(syncTime, "sync caches", p.sync)
	return p, nil
}

// connect makes the queues and hangs the watches on the feeds.
func (p *process) connect(w controllers.Wiring) error {
	for _, s := range p.cache.order {
		f := newFeed(p, s)
		p.feeds, p.byKind[s.kind] = append(p.feeds, f), f
	}
	for i := range w.Controllers {
		c := &w.Controllers[i]
		q := newQueue(p, c)
		p.queues = append(p.queues, q)
		for j := range c.Watches {
			s, err := p.cache.storeOf(c.Watches[j].Object)
			if err != nil {
				return err
			}
			f := p.byKind[s.kind]
			f.watches = append(f.watches, watch{q, &c.Watches[j]})
		}
	}
	return nil
}

// sync fills the caches and shows every object to the watches, then asks for the
// lease. The lists may be older than what an earlier life saw; then the watches
// catch up.
func (p *process) sync() {
	if !p.awake {
		p.wait(p.sync)
		return
	}
	e := p.engine
	missing := e.missing()
	for _, f := range p.feeds {
		for _, obj := range e.before(missing, f.kind) {
			if f.transform.Holds(client.ObjectKeyFromObject(obj), e.options.WatchNamespaces) {
				f.put(client.ObjectKeyFromObject(obj), f.shrink(obj))
			}
		}
	}
	p.synced, p.since = true, e.loop.Now()
	for _, f := range p.feeds {
		for _, key := range f.keys {
			f.notify(controllers.Event{New: f.objects[key], Listed: true})
		}
		f.slow = len(missing) > 0 && !e.asks()
	}
	for _, c := range missing {
		p.catchUp(c)
	}
	e.compete()
}

// catchUp puts a commit that the first list did not show on the watch's way.
func (p *process) catchUp(c commit) {
	p.see(c.Event)
	f := p.byKind[c.Kind]
	if f == nil || f.behind.IsZero() {
		return
	}
	f.behind = p.engine.loop.Now().Add(-faults.OldList)
	if f.older.IsZero() {
		f.older = c.at
	}
}

// lead begins to work.
func (p *process) lead() {
	p.leads, p.leaseOwn = true, p.engine.loop.Now()
	p.log.Info("leading", "replica", p.replica)
	for _, q := range p.queues {
		q.wake()
	}
}

// see takes a commit.
func (p *process) see(ev cluster.Event) {
	f := p.byKind[ev.Kind]
	if f == nil || !p.synced || !f.transform.Holds(ev.Key, p.engine.options.WatchNamespaces) {
		return
	}
	f.take(ev)
}

// heal ends all that makes the process late.
func (p *process) heal() {
	p.thaw()
	if p.exit != nil && p.engine.lease.owner == p {
		p.engine.loop.Stop(p.exit)
		p.exit = nil
		p.engine.renew(p)
	}
	for _, f := range p.feeds {
		f.hurry()
	}
}

// idle reports that nothing is queued or on its way.
func (p *process) idle() bool {
	if !p.synced || !p.awake {
		return false
	}
	for _, q := range p.queues {
		if q.step != nil || len(q.busy) > 0 {
			return false
		}
	}
	for _, f := range p.feeds {
		if f.due != nil || f.tell != nil {
			return false
		}
	}
	return true
}

// die ends the life; nothing of it remains but what it wrote.
func (p *process) die() {
	p.alive, p.awake, p.leads, p.later = false, false, false, nil
	for _, q := range p.queues {
		q.stop()
	}
	for _, f := range p.feeds {
		f.stop()
	}
	p.engine.loop.Stop(p.starting)
	p.engine.loop.Stop(p.exit)
}

// recorder hands events to the engine.
type recorder struct{ process *process }

// Record tells of an event.
func (r recorder) Record(about *model.Request, _ *model.Workload, e events.Event) {
	r.process.engine.demand(eventSite, about.ID.Namespace)
	if tell := r.process.engine.Told; tell != nil {
		tell(check.Told{Request: types.NamespacedName{Namespace: about.ID.Namespace, Name: about.ID.Name}, Reason: e.Reason, Note: e.Note})
	}
	r.process.log.Info("event", "type", e.Type, "reason", e.Reason, "action", e.Action, "regarding", about.ID.String(), "note", e.Note)
}

// RecordSource tells of an event about a source.
func (r recorder) RecordSource(about model.Key, _ string, e events.Event) {
	r.process.engine.demand(eventSite, about.Namespace)
	r.process.log.Info("event", "type", e.Type, "reason", e.Reason, "action", e.Action, "regarding", about.String(), "note", e.Note)
}

// RecordBundle tells of an event about a bundle.
func (r recorder) RecordBundle(about model.Key, _, _ string, e events.Event) {
	r.process.engine.demand(eventSite, about.Namespace)
	if tell := r.process.engine.Told; tell != nil {
		tell(check.Told{Bundle: types.NamespacedName{Namespace: about.Namespace, Name: about.Name}, Reason: e.Reason, Note: e.Note})
	}
	r.process.log.Info("event", "type", e.Type, "reason", e.Reason, "action", e.Action, "regarding", about.String(), "note", e.Note)
}
