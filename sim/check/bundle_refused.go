package check

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawBundleRefused = "a refused bundle waits for its next change, and one event follows one write"

// bundleRefused follows bundles that were refused their first ConfigMap, and the Events
// that tell of bundles.
type bundleRefused struct {
	judged map[types.UID]time.Time // when KICK wrote so
	untold map[types.NamespacedName]int
}

// soon is how long a process may go on by what it had read before: it may be paused, or
// suspended between a read and a write.
const soon = 2 * time.Minute

// OnWrite follows statuses and edits.
func (r *bundleRefused) OnWrite(c *Context, ev cluster.Event) {
	if r.judged == nil {
		r.judged, r.untold = map[types.UID]time.Time{}, map[types.NamespacedName]int{}
	}
	if ev.Manager == Manager && (ev.Kind == configMapKind || ev.Kind == bundleKind) {
		r.untold[ev.Key]++
	}
	b, ok := ev.Object.(*v1alpha1.ConfigBundle)
	if !ok {
		return
	}
	delete(r.judged, b.UID)
	reason, ready := readyReason(b)
	if ev.Manager == Manager && ev.Sub == "status" && !ready && b.Status.ConfigMap == nil && reason != "Terminating" {
		r.judged[b.UID] = c.Loop.Now()
	}
}

func (r *bundleRefused) fork() Law { return &bundleRefused{} }

// OnCall reports an attempt that comes long after the refusal.
func (r *bundleRefused) OnCall(c *Context, w Write) {
	if w.Done || w.Kind != configMapKind || w.Verb != "patch" && w.Verb != "create" {
		return
	}
	b := c.bundleOf(w.Key)
	if b == nil {
		return
	}
	if at, refused := r.judged[b.UID]; refused && c.API.Get(configMapKind, w.Key) == nil && w.At.Sub(at) > soon {
		c.report(lawBundleRefused, "KICK tried again to make ConfigMap %s, which it was refused, and its bundle has not changed since", w.Key)
	}
}

// OnTold reports an Event without a write.
func (r *bundleRefused) OnTold(c *Context, t Told) {
	if t.Bundle.Name == "" {
		return
	}
	if r.untold[t.Bundle] == 0 {
		c.report(lawBundleRefused, "KICK told %s of bundle %s and had written nothing since the last event", t.Reason, t.Bundle)
		return
	}
	r.untold[t.Bundle]--
}
