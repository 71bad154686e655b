package check

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/cluster"
)

const lawEpisode = "one restart per stale episode"

// episode remembers in which state of its sources, as far as KICK had been told,
// each workload was last restarted: the same state never asks for a second restart,
// unless somebody took the first one away, or nobody could know that it was enough.
type episode struct {
	sent      map[sentKey]asked
	restarted map[types.UID]string
}

// asked is a restart on its way: the state that asked for it, as far as KICK knew of it
// for certain and at most, and what KICK knew.
type asked struct {
	known       Known
	least, most string
}

// asks is the state of the sources of a workload that KICK restarts.
func (c *Context) asks(w workload, known Known) asked {
	return asked{
		known: known, least: c.sourceState(w, known, func(n note) time.Time { return n.knew }),
		most: c.sourceState(w, known, func(n note) time.Time { return n.at.Add(1) }),
	}
}

// OnCall notes what KICK knew when it sent a restart.
func (e *episode) OnCall(c *Context, w Write) {
	target, ok := c.patched(w)
	if !ok || w.Done || target.Object == nil {
		return
	}
	if e.sent == nil {
		e.sent = map[sentKey]asked{}
	}
	e.sent[sentKey{w.Kind, w.Key}] = c.asks(target, w.Known)
}

// OnKick reports a second restart for one state of the sources.
func (e *episode) OnKick(c *Context, ev cluster.Event) {
	w, ok := c.restarted(ev)
	if !ok {
		return
	}
	if e.restarted == nil {
		e.restarted = map[types.UID]string{}
	}
	a, called := e.sent[sentKey{ev.Kind, ev.Key}]
	if !called {
		a = c.asks(w, Known{})
	}
	delete(e.sent, sentKey{ev.Kind, ev.Key})
	before, _ := workloadOf(ev.Old)
	stands := before.stamp() == c.stamps[w.id()] && !c.dropped(before)
	if last, again := e.restarted[w.GetUID()]; again && last == a.most && stands && !c.restartCase(w, a.known).excused() {
		c.report(lawEpisode, "%s was restarted again at %s although none of its sources changed since its last restart", w.id(), clockTime(c.Loop.Now()))
	}
	e.restarted[w.GetUID()] = a.least
}

// sourceState counts the changes of everything a workload refers to that KICK's
// records told of, each up to some instant; the template is part of it, because a new
// reference is a new reason.
func (c *Context) sourceState(w workload, known Known, upTo func(note) time.Time) string {
	var b strings.Builder
	for _, r := range refsOf(w.GetNamespace(), w.template) {
		h, n := c.sources.of(r.source), 0
		seen := h.seen(known.Records)
		for _, change := range h.changes {
			if seen == 0 || change.at.Before(upTo(h.records[seen-1])) {
				n++
			}
		}
		fmt.Fprintf(&b, "%s=%d;", r.source, n)
	}
	return b.String()
}
