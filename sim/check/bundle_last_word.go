package check

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawLastWord = "a bundle is let be by what stands, not by what a cache says"

// lastWord judges passes over bundles that will not be made again by themselves. A bundle
// without a ConfigMap is let be only if it was refused its first one, or found its name taken,
// and has not changed since (docs/configbundle.md): so says the bundle that stands, which KICK
// can read, and not a cache that may be late without bound.
type lastWord struct {
	written map[types.NamespacedName]time.Time // the bundle, or the ConfigMap of its name
}

// OnWrite notes when a bundle and its ConfigMap came to be what they are.
func (l *lastWord) OnWrite(c *Context, ev cluster.Event) {
	if ev.Kind == bundleKind || ev.Kind == configMapKind && c.bundleOf(ev.Key) != nil {
		l.note(ev.Key, c.Loop.Now())
	}
}

// OnCall notes a try to make one.
func (l *lastWord) OnCall(c *Context, w Write) {
	if w.Kind == configMapKind || w.Kind == bundleKind {
		l.note(w.Key, c.Loop.Now())
	}
}

func (l *lastWord) note(key types.NamespacedName, at time.Time) {
	if l.written == nil {
		l.written = map[types.NamespacedName]time.Time{}
	}
	l.written[key] = at
}

func (l *lastWord) fork() Law { return &lastWord{} } // what comes before KICK begins comes before each pass

// OnPass judges a pass that nothing but an event will follow.
func (l *lastWord) OnPass(c *Context, p Pass) {
	name, ok := strings.CutPrefix(p.Key, bundleKind.Kind+" ")
	if !ok || p.Controller != "bundle" || p.After > 0 || p.Again || !p.Shown {
		return
	}
	namespace, name, _ := strings.Cut(name, "/")
	key := types.NamespacedName{Namespace: namespace, Name: name}
	b := c.bundleOf(key)
	if b == nil || b.DeletionTimestamp != nil || c.configMapOf(key) != nil || !l.written[key].Before(p.Began) {
		return
	}
	if why := stillToMake(b); why != "" {
		c.report(lawLastWord, "KICK looked at ConfigBundle %s, made no ConfigMap for it and will not look again, but %s", key, why)
	}
}

// stillToMake says why a bundle that has no ConfigMap is not to be let be.
func stillToMake(b *v1alpha1.ConfigBundle) string {
	reason, _ := readyReason(b)
	switch {
	case b.Status.ConfigMap != nil:
		return "it had one"
	case b.Status.ObservedGeneration != b.Generation:
		return "it was declared anew"
	case reason == "Terminating":
		return "the one that it waited for is gone"
	}
	return ""
}
