package confirm

import (
	"maps"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/engine"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// Outcome is how a scenario ended, in either world.
type Outcome struct {
	// Restarts counts KICK's distinct stamps, by namespace/Kind/name; 0 is left out.
	Restarts map[string]int `json:"restarts"`
	// Requests are the final phases, by namespace/name.
	Requests map[string]string `json:"requests"`
	// Broken are the laws and steps that failed.
	Broken []string `json:"broken,omitempty"`
}

// equals compares counts and phases. Where the scenario leaves a count open, any
// number in its range is as good as another, and so is the phase that comes of it. A
// request that found nothing to do is as good as none: which of two objects that are
// written together KICK sees first is nobody's promise. A phase that the scenario names
// must be that one.
func (o Outcome) equals(other Outcome, expect scenario.Expect) bool {
	if len(o.Broken)+len(other.Broken) > 0 || !maps.Equal(o.needed(expect), other.needed(expect)) {
		return false
	}
	a, b := maps.Clone(o.Restarts), maps.Clone(other.Restarts)
	for id, r := range expect.Restarts {
		if r.Min != r.Max && r.Contains(a[id]) && r.Contains(b[id]) {
			delete(a, id)
			delete(b, id)
		}
	}
	return maps.Equal(a, b)
}

// needed are the requests that had something to do beyond doubt, or that the scenario
// names.
func (o Outcome) needed(expect scenario.Expect) map[string]string {
	open := map[string]bool{}
	for id, r := range expect.Restarts {
		if parts := strings.SplitN(id, "/", 3); len(parts) == 3 && r.Min != r.Max {
			open[parts[0]+"/"+model.ObjectName(model.Key{Kind: parts[1], Name: parts[2]})] = true
		}
	}
	out := maps.Clone(o.Requests)
	maps.DeleteFunc(out, func(name, phase string) bool {
		return expect.Requests[name] == "" && (open[name] || phase == string(v1alpha1.PhaseNoLongerRequired))
	})
	return out
}

// prediction is what the simulator says of a scenario.
type prediction struct {
	Outcome
	length time.Duration // from t=0 to the last step or write
	// writes are the times, from t=0, at which anything but a lease was written.
	writes []time.Duration
	// starts are when the number of pods that start changed, and to what.
	starts []pods
	// waiting reports pods that stayed pending longer than any pod takes to start:
	// their sources are missing.
	waiting bool
	// generations are those of the workloads in the end, by namespace/Kind/name.
	generations map[string]int64
	// versions are all that objects have been since t=0, in the order of time.
	versions []simulated
}

// pods is how many pods were pending from an instant on.
type pods struct {
	at      time.Duration
	pending int
}

// starting reports that pods were pending at an instant.
func (p *prediction) starting(at time.Duration) bool {
	pending := 0
	for _, s := range p.starts {
		if s.at < at {
			pending = s.pending
		}
	}
	return pending > 0
}

// simulated is one version of an object in the simulator; nil where it was deleted.
type simulated struct {
	at     time.Duration
	kind   schema.GroupKind
	key    types.NamespacedName
	object client.Object
}

var (
	requestKind = schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: "KickRequest"}
	podKind     = schema.GroupKind{Kind: "Pod"}
)

// predict runs a scenario in the simulator.
func predict(s scenario.Scenario) (prediction, error) {
	var p prediction
	var server *cluster.Server
	pending := map[string]time.Time{}
	factory := func(o run.OperatorOptions) (run.Operator, error) {
		server = o.Server
		p.given(s, server)
		for _, pod := range server.List(podKind, "") {
			if pod.(*corev1.Pod).Status.Phase == corev1.PodPending {
				p.waiting = true
			}
		}
		server.Subscribe(func(ev cluster.Event) {
			if _, isLease := ev.Object.(*coordinationv1.Lease); isLease {
				return
			}
			now := o.Loop.Now().Sub(s.Start)
			p.writes = append(p.writes, now)
			p.see(ev, now)
			p.watchPod(ev, o.Loop.Now(), s.World.PodStart, pending)
		})
		return engine.New(o)
	}
	result := run.One(s, run.Options{NewOperator: factory})
	if result.Problem != nil {
		return p, *result.Problem
	}
	for _, f := range result.Failures {
		p.Broken = append(p.Broken, f.Law+": "+f.Message)
	}
	p.Restarts, p.Requests, p.length = map[string]int{}, map[string]string{}, result.Virtual
	for id, n := range result.Restarts {
		if n > 0 {
			p.Restarts[id] = n
		}
	}
	for _, object := range server.List(requestKind, "") {
		request := object.(*v1alpha1.KickRequest)
		p.Requests[request.Namespace+"/"+request.Name] = phaseOf(string(request.Status.Phase))
	}
	p.generations = map[string]int64{}
	for _, kind := range workloadKinds {
		for _, object := range server.List(schema.GroupKind{Group: "apps", Kind: kind}, "") {
			p.generations[object.GetNamespace()+"/"+kind+"/"+object.GetName()] = object.GetGeneration()
		}
	}
	return p, nil
}

// given keeps what is there at t=0 of the kinds that steps look for.
func (p *prediction) given(s scenario.Scenario, server *cluster.Server) {
	seen := map[schema.GroupKind]bool{}
	for _, step := range s.Steps {
		pattern := steps.ActOf(step).Pattern
		kind := pattern.GVK.GroupKind()
		if pattern.Data == nil || seen[kind] {
			continue
		}
		seen[kind] = true
		for _, object := range server.List(kind, "") {
			p.versions = append(p.versions, simulated{0, kind, client.ObjectKeyFromObject(object), object})
		}
	}
}

// see keeps a version.
func (p *prediction) see(ev cluster.Event, now time.Duration) {
	v := simulated{now, ev.Kind, ev.Key, ev.Object}
	if ev.Type == cluster.Deleted {
		v.object = nil
	}
	p.versions = append(p.versions, v)
}

// held is for how long something matched a pattern without a break, counted from an
// instant or from the next match; zero where nothing does any more.
func (p *prediction) held(pattern scenario.Resource, from time.Duration) time.Duration {
	matching := map[types.NamespacedName]bool{}
	since := time.Duration(-1)
	for _, v := range p.versions {
		if !v.isOf(pattern) {
			continue
		}
		delete(matching, v.key)
		if v.object != nil && steps.Matches(pattern, v.object) {
			matching[v.key] = true
		}
		if len(matching) == 0 {
			if since >= 0 && v.at > from {
				return v.at - max(since, from)
			}
			since = -1
		} else if since < 0 {
			since = v.at
		}
	}
	if since < 0 {
		return 0
	}
	return forever
}

// isOf reports that a pattern may be about the object.
func (v simulated) isOf(pattern scenario.Resource) bool {
	return v.kind == pattern.GVK.GroupKind() && (pattern.Key.Name == "" || v.key == pattern.Key)
}

// forever is for states that no later write ended.
const forever = time.Duration(1<<63 - 1)

// watchPod notes pods that are pending for longer than a start takes.
func (p *prediction) watchPod(ev cluster.Event, now time.Time, start time.Duration, pending map[string]time.Time) {
	pod, ok := ev.Object.(*corev1.Pod)
	if !ok {
		return
	}
	key := string(pod.UID)
	since, known := pending[key]
	switch {
	case ev.Type == cluster.Deleted:
		delete(pending, key)
	case pod.Status.Phase == corev1.PodPending && !known:
		pending[key] = now
	case known && pod.Status.Phase != corev1.PodPending:
		delete(pending, key)
	}
	p.starts = append(p.starts, pods{p.writes[len(p.writes)-1], len(pending)})
	if known && pod.DeletionTimestamp == nil && now.Sub(since) > start+time.Second {
		p.waiting = true
	}
}

// phaseOf spells out that an empty phase is Pending.
func phaseOf(phase string) string {
	if phase == "" {
		return "Pending"
	}
	return phase
}
