package engine

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/corewire/kick/kick/operator"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/sched"
)

// remembered is how many commits a starting process can be behind at most.
const remembered = 200

// ages are how many commits the first lists of a process can be behind.
var ages = []int{0, 1, 2, 5, 20, remembered}

// cachedKinds are the kinds that a process may keep a cache of.
var cachedKinds = sync.OnceValue(func() map[schema.GroupKind]bool {
	kinds, all := map[schema.GroupKind]bool{}, operator.NewOptions()
	for _, k := range operator.ForeignKinds() {
		kinds[k.GroupKind()] = true
	}
	all.Bundles.Enabled = true
	for _, t := range operator.Transforms(all, &operator.Integrations{}) {
		if gvk, err := apiutil.GVKForObject(t.Object, scheme()); err == nil {
			kinds[gvk.GroupKind()] = true
		}
	}
	return kinds
})

// history holds the newest commits of cached kinds, so that a starting process can be shown an
// older cluster than the last one saw.
type history struct{ events []commit }

// commit is one of them, and the true time at which it came.
type commit struct {
	cluster.Event
	at time.Time
}

func (h *history) add(ev cluster.Event, now time.Time) {
	if !cachedKinds()[ev.Kind] {
		return
	}
	if len(h.events) == 2*remembered {
		h.events = append(h.events[:0], h.events[remembered:]...)
	}
	h.events = append(h.events, commit{ev, now})
}

// last are the newest n commits.
func (h *history) last(n int) []commit { return h.events[max(len(h.events)-n, 0):] }

// since are the commits after an instant of the API server's clock.
func (h *history) since(at time.Time) []commit {
	n := len(h.events)
	for n > 0 && h.events[n-1].At.After(at) {
		n--
	}
	return h.events[n:]
}

// missing are the commits that the first lists of a starting process do not show.
func (e *Engine) missing() []commit {
	for i := range e.faults {
		if e.faults[i].Fault != faults.OldCache {
			continue
		}
		missing := e.history.since(e.Server.Now().Add(-faults.OldList))
		if len(missing) > 0 {
			e.met("start", e.spend(i).Name)
		}
		return slices.Clone(missing)
	}
	if !e.asks() {
		return nil
	}
	age := ages[e.loop.Choose(len(ages), sched.Restart, "start")]
	missing := e.history.last(age)
	if len(missing) > 0 {
		e.met("start", faults.OldCache.Name)
	}
	return slices.Clone(missing)
}

// before are the objects of a kind as they stood before those commits.
func (e *Engine) before(missing []commit, kind schema.GroupKind) []client.Object {
	undone := map[types.NamespacedName]client.Object{}
	for i := len(missing) - 1; i >= 0; i-- {
		if ev := &missing[i]; ev.Kind == kind {
			undone[ev.Key] = ev.Old // nil where it was created
		}
	}
	var out []client.Object
	for _, obj := range e.Server.List(kind, "") {
		if _, changed := undone[client.ObjectKeyFromObject(obj)]; !changed {
			out = append(out, obj)
		}
	}
	for _, obj := range undone { // the cache sorts by key
		if obj != nil {
			out = append(out, obj)
		}
	}
	return out
}
