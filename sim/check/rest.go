package check

import (
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/foreign"
)

const lawRest = "writes come to rest"

// More writes of one object than restSize within restTime, while nobody else writes
// anything, are a loop: KICK answers itself. Where windows open and shut, and where two
// processes lead for the seconds that a lease allows, only those within haste are.
const (
	restSize = 12
	restTime = time.Hour
	haste    = time.Second
)

// rest counts the writes of KICK to each object since somebody else wrote anything.
type rest struct {
	foreign int64 // revision of the newest write of anybody else
	written map[sentKey]written
	calls   map[sentKey]any // the process that wrote each object last
}

type written struct {
	since int64 // foreign revision at which the count began
	began time.Time
	times int
	by    any // the process that wrote last
	turns int // how often that was another one than before
}

// OnCall notes which process writes.
func (r *rest) OnCall(_ *Context, w Write) {
	if w.Done {
		return
	}
	if r.calls == nil {
		r.calls = map[sentKey]any{}
	}
	r.calls[sentKey{w.Kind, w.Key}] = w.By
}

// OnWrite counts.
func (r *rest) OnWrite(c *Context, ev cluster.Event) {
	if ev.Manager != Manager {
		if ev.Kind.Kind != "Lease" {
			r.foreign = ev.Revision
		}
		return
	}
	own := ev.Kind.Group == v1alpha1.GroupVersion.Group || ev.Kind == configMapKind
	if !own || settles(ev) { // each message is settled once, which another law sees to
		return
	}
	r.count(c, ev)
}

func (r *rest) count(c *Context, ev cluster.Event) {
	if r.written == nil {
		r.written = map[sentKey]written{}
	}
	k := sentKey{ev.Kind, ev.Key}
	n, now := r.written[k], c.Loop.Now()
	if n.since != r.foreign || now.Sub(n.began) > restTime {
		n = written{since: r.foreign, began: now}
	}
	n.times++
	if by := r.calls[k]; by != n.by {
		n.by, n.turns = by, n.turns+1
	}
	if n.times > restSize {
		if now.Sub(n.began) < haste || !n.quarrel() && !c.edges(ev.Key.Namespace) {
			c.report(lawRest, "%s %s was written %d times by KICK while nobody else wrote anything", ev.Kind.Kind, ev.Key, n.times)
		}
		n = written{since: r.foreign, began: now, by: n.by}
	}
	r.written[k] = n
}

// quarrel reports that two processes answer each other.
func (n written) quarrel() bool { return 2*n.turns > n.times }

// settles reports that KICK puts on record what became of a message.
func settles(ev cluster.Event) bool {
	p, ok := ev.Object.(*v1alpha1.NotificationPolicy)
	before, known := ev.Old.(*v1alpha1.NotificationPolicy)
	return ok && known && p.Status.Delivered+p.Status.Failed+p.Status.Dropped > before.Status.Delivered+before.Status.Failed+before.Status.Dropped
}

// edges reports that windows of the namespace open and shut, its own or those of Argo CD
// projects, which is something that happens.
func (c *Context) edges(namespace string) bool {
	for _, object := range c.API.List(policyKind, namespace) {
		if p := object.(*v1alpha1.KickPolicy); len(p.Spec.Schedule.Windows) > 0 || asksTool([]*v1alpha1.KickPolicy{p}) && c.syncWindows() {
			return true
		}
	}
	return false
}

// syncWindows reports that some project of Argo CD has windows.
func (c *Context) syncWindows() bool {
	return slices.ContainsFunc(c.API.List(projectKind, ""), func(o client.Object) bool {
		windows, plain := syncWindows(o.(*foreign.AppProject).Spec)
		return len(windows) > 0 || !plain
	})
}
