package engine

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/sched"
)

// watchLag is the time from a commit until its event is in the cache.
const watchLag = time.Millisecond

// lags are how late a delivery can be, the plain case first.
var lags = []time.Duration{watchLag, 20 * time.Millisecond, 500 * time.Millisecond, 5 * time.Second, 30 * time.Second}

// feed keeps the cache of one kind up to date, as a reflector and its informer do,
// and tells the controllers. Of one object it never shows an older state after a
// newer one.
type feed struct {
	*store
	process *process
	label   string // watch <Kind>
	watches []watch
	backlog []cluster.Event
	due     *sched.Event        // the next delivery
	slow    bool                // deliveries come late until the first one
	behind  time.Time           // when the oldest commit not in the cache came, as far as KICK can tell; zero: all are
	older   time.Time           // when it truly came, where the first list was old; zero: then
	untold  []controllers.Event // in the cache, the controllers do not know yet
	tell    *sched.Event
}

type watch struct {
	queue *queue
	watch *controllers.Watch
}

func newFeed(p *process, s *store) *feed {
	return &feed{store: s, process: p, label: "watch " + s.kind.Kind}
}

// take puts a commit into the backlog; it is delivered a little later, in order
// within the kind.
func (f *feed) take(ev cluster.Event) {
	if f.behind.IsZero() {
		f.behind = f.process.engine.loop.Now()
	}
	f.backlog = append(f.backlog, ev)
	f.schedule()
}

func (f *feed) schedule() {
	if f.due != nil || len(f.backlog) == 0 || f.held() {
		return
	}
	f.due = f.process.engine.loop.After(f.lag(), f.label, f.show)
}

// held reports whether the scenario holds deliveries of the kind back.
func (f *feed) held() bool {
	i := f.find(faults.StaleCache)
	if i < 0 {
		return false
	}
	held := &f.process.engine.faults[i]
	if !held.met {
		held.met = true
		f.process.engine.met(f.label, held.Name)
		happened(held.on)
	}
	return true
}

// lag is how late the next delivery is.
func (f *feed) lag() time.Duration {
	e := f.process.engine
	switch {
	case f.slow || f.slowed():
		return faults.SlowWatch
	case !e.asks():
		return watchLag
	}
	lag := lags[e.loop.Choose(len(lags), sched.Lag, f.label)]
	if lag != watchLag {
		e.met(f.label, faults.LateWatch.Name)
	}
	return lag
}

// slowed reports whether a fault of the scenario makes deliveries of the kind late.
func (f *feed) slowed() bool {
	return f.hit(faults.LateWatch) || f.has(faults.SkippedStates) || f.has(faults.RecreateAsUpdate) || f.has(faults.Relist)
}

// has reports whether a fault of the scenario waits for this kind.
func (f *feed) has(fault *faults.Fault) bool { return f.find(fault) >= 0 }

func (f *feed) find(fault *faults.Fault) int {
	for i := range f.process.engine.faults {
		if active := &f.process.engine.faults[i]; active.Fault == fault && matches(active.on.Kind, f.kind.Kind) {
			return i
		}
	}
	return -1
}

// hit takes one hit off a fault of the scenario that waits for this kind.
func (f *feed) hit(fault *faults.Fault) bool {
	i := f.find(fault)
	if i < 0 {
		return false
	}
	f.process.engine.spend(i)
	f.process.engine.met(f.label, fault.Name)
	return true
}

// show delivers everything of the kind that has come in.
func (f *feed) show() {
	if !f.process.awake {
		f.process.wait(f.show)
		return
	}
	batch := f.backlog
	f.due, f.backlog, f.slow = nil, nil, false
	if len(batch) == 0 {
		return
	}
	behind := f.behind
	f.behind, f.older = time.Time{}, time.Time{}
	switch f.manner(batch) {
	case faults.Relist:
		f.broke(behind)
		f.relist()
		return
	case faults.SkippedStates:
		f.broke(behind)
		batch = newest(batch, false)
	case faults.RecreateAsUpdate:
		f.broke(behind)
		batch = newest(batch, true)
	case faults.CacheAhead:
		f.leaveUntold()
	}
	for _, ev := range batch {
		f.deliver(ev)
	}
}

// broke tells that the watch was filled anew by a list, as everything is that skips
// states. It was heard of until the first commit that it did not show: bookmarks come
// about once a minute, and the newest came just then.
func (f *feed) broke(behind time.Time) {
	p := f.process
	p.answered()
	now := p.serverNow()
	p.saw.Interrupted(f.kind.Kind, now.Add(behind.Sub(p.engine.loop.Now())), now.Add(p.engine.options.ClockAllowance))
}

// deliver shows one state.
func (f *feed) deliver(ev cluster.Event) {
	var now client.Object
	if ev.Type != cluster.Deleted {
		now = f.shrink(ev.Object)
	}
	f.change(ev.Key, now)
}

// change puts a state into the cache and tells of it.
func (f *feed) change(key types.NamespacedName, now client.Object) {
	if old := f.put(key, now); old != nil || now != nil {
		f.notify(controllers.Event{Old: old, New: now})
	}
}

// relist replaces the cache by what stands now. What is gone shows as its last
// known state; what did not change is not shown at all, as nobody asked for resync.
func (f *feed) relist() {
	e := f.process.engine
	listed := map[types.NamespacedName]bool{}
	for _, obj := range e.Server.List(f.kind, "") {
		key := client.ObjectKeyFromObject(obj)
		if !f.transform.Holds(key, e.options.WatchNamespaces) {
			continue
		}
		listed[key] = true
		if known := f.objects[key]; known == nil || known.GetResourceVersion() != obj.GetResourceVersion() {
			f.change(key, f.shrink(obj))
		}
	}
	var gone []types.NamespacedName
	for _, key := range f.keys {
		if !listed[key] {
			gone = append(gone, key)
		}
	}
	for _, key := range gone {
		f.change(key, nil)
	}
}

// notify tells the controllers of a change, or lets it wait behind those they were
// not told of yet.
func (f *feed) notify(e controllers.Event) {
	if f.tell != nil {
		f.untold = append(f.untold, e)
		return
	}
	f.announce(e)
}

func (f *feed) announce(e controllers.Event) {
	f.process.engine.note(f.process)
	for _, w := range f.watches {
		for _, k := range w.watch.Keys(background, e) {
			f.process.woke(w.queue, f)
			w.queue.add(k)
		}
	}
}

// leaveUntold lets the cache run ahead of the controllers.
func (f *feed) leaveUntold() {
	e := f.process.engine
	if f.tell != nil {
		return
	}
	lag := faults.SlowWatch
	if e.asks() {
		lag = lags[e.loop.Choose(len(lags), sched.Lag, f.label)]
	}
	f.tell = e.loop.After(lag, f.label, f.tellAll)
}

func (f *feed) tellAll() {
	if !f.process.awake {
		f.process.wait(f.tellAll)
		return
	}
	untold := f.untold
	f.tell, f.untold = nil, nil
	for _, e := range untold {
		f.announce(e)
	}
}

// hurry ends what makes the feed late.
func (f *feed) hurry() {
	loop := f.process.engine.loop
	loop.Stop(f.due)
	f.due, f.slow = nil, false
	f.schedule()
	if f.tell != nil {
		loop.Stop(f.tell)
		f.tell = loop.After(watchLag, f.label, f.tellAll)
	}
}

func (f *feed) stop() {
	f.process.engine.loop.Stop(f.due)
	f.process.engine.loop.Stop(f.tell)
}
