package check

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/cluster"
)

const lawBundleMissed = "a ConfigMap that is gone is missed at once"

// bundleMissed follows ConfigMaps that bundles had and that are gone. KICK promises to make
// each anew at once, and to try every three seconds where that fails (docs/configbundle.md).
type bundleMissed struct {
	since   map[types.NamespacedName]time.Time // it went, its bundle was edited, or KICK tried to make it
	refused map[types.NamespacedName]bool      // in the pass that runs
}

// missedAgain is when KICK says that it tries again to make one that it was refused.
const missedAgain = 3 * time.Second

// missedFor is how long none of that may be: a lease that has to expire and a pass that failed
// lie in between at the worst. A look for no reason comes later.
const missedFor = takeover + backoff

// OnWrite follows ConfigMaps and the edits of bundles.
func (m *bundleMissed) OnWrite(c *Context, ev cluster.Event) {
	gone := ev.Type == cluster.Deleted
	switch _, missed := m.since[ev.Key]; {
	case ev.Kind == configMapKind && gone && c.had(ev.Key), ev.Kind == bundleKind && !gone && ev.Manager != Manager && missed:
		m.note(ev.Key, c.Loop.Now())
	case ev.Kind == configMapKind && !gone, ev.Kind == bundleKind && gone:
		delete(m.since, ev.Key)
	}
}

// had reports whether the bundle of a name, which KICK looks after, had a ConfigMap.
func (c *Context) had(key types.NamespacedName) bool {
	b := c.bundleOf(key)
	return b != nil && b.Status.ConfigMap != nil && c.Bundles && c.watched(key.Namespace)
}

func (m *bundleMissed) fork() Law {
	return &bundleMissed{since: maps.Clone(m.since), refused: maps.Clone(m.refused)}
}

func (m *bundleMissed) note(key types.NamespacedName, at time.Time) {
	if m.since == nil {
		m.since, m.refused = map[types.NamespacedName]time.Time{}, map[types.NamespacedName]bool{}
	}
	m.since[key] = at
}

// OnCall judges a try to make one.
func (m *bundleMissed) OnCall(c *Context, w Write) {
	if _, missed := m.since[w.Key]; missed && w.Kind == configMapKind && w.Verb != "delete" {
		if !w.Done {
			m.judge(c, w.Key)
		}
		m.note(w.Key, c.Loop.Now())
		if w.Done && refused(w.Err) {
			m.refused[w.Key] = true
		}
	}
}

// OnPass judges when a pass that was refused one looks again. Nothing else wakes it: the status
// that it writes is its own.
func (m *bundleMissed) OnPass(c *Context, p Pass) {
	if p.Controller != "bundle" {
		return
	}
	for key := range m.refused {
		if p.Key != bundleKind.Kind+" "+key.String() {
			continue
		}
		delete(m.refused, key)
		b := c.bundleOf(key)
		if _, missed := m.since[key]; missed && b != nil && b.Status.ConfigMap != nil && (p.After <= 0 || p.After > missedAgain) {
			c.report(lawBundleMissed, "KICK was refused ConfigMap %s, which its bundle had, and does not look again within %s", key, missedAgain)
		}
	}
}

// AtEnd judges those that are gone still.
func (m *bundleMissed) AtEnd(c *Context) {
	for _, key := range slices.SortedFunc(maps.Keys(m.since), func(a, b types.NamespacedName) int { return cmp.Compare(a.String(), b.String()) }) {
		m.judge(c, key)
	}
}

func (m *bundleMissed) judge(c *Context, key types.NamespacedName) {
	b := c.bundleOf(key)
	if b == nil || b.DeletionTimestamp != nil || c.Healed.IsZero() || c.stepped() {
		return
	}
	since := latest(m.since[key], c.Healed)
	if gone := c.Loop.Now().Sub(since); gone > missedFor {
		c.report(lawBundleMissed, "ConfigMap %s is gone, its bundle had it, and from %s on KICK did not try to make it anew for %s", key, clockTime(since), gone)
	}
}
