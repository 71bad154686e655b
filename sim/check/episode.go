package check

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/cluster"
)

const lawEpisode = "one restart per stale episode"

// episode remembers in which state of its sources each workload was last
// restarted: the same state never asks for a second restart.
type episode struct {
	restarted map[types.UID]string
}

// OnKick reports a second restart for one state of the sources.
func (e *episode) OnKick(c *Context, ev cluster.Event) {
	w, ok := restarted(ev)
	if !ok {
		return
	}
	if e.restarted == nil {
		e.restarted = map[types.UID]string{}
	}
	state := c.sourceState(w)
	if before, again := e.restarted[w.GetUID()]; again && before == state && !(restartCase{Context: c, w: w}).manual() {
		c.report(lawEpisode, "%s was restarted again at %s although none of its sources changed since its last restart", w.id(), clockTime(c.Loop.Now()))
	}
	e.restarted[w.GetUID()] = state
}

// sourceState counts the changes of everything a workload refers to; the template
// is part of it, because a new reference is a new reason.
func (c *Context) sourceState(w workload) string {
	var b strings.Builder
	for _, r := range refsOf(w.GetNamespace(), w.template) {
		fmt.Fprintf(&b, "%s=%d;", r.source, len(c.sources.of(r.source).changes))
	}
	return b.String()
}
