package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/corewire/kick/sim/cluster"
)

const lawRestarts = "restarts as expected"

// restarts compares what KICK did, as the context counts it.
type restarts struct {
	there map[string]bool // objects that the scenario expects something of, once they exist
}

// OnWrite notes that an object exists which the scenario expects something of: of one that
// never does, any expectation of no restarts would hold.
func (r *restarts) OnWrite(c *Context, ev cluster.Event) {
	if ev.Type != cluster.Added || len(c.Expect.Restarts) == 0 {
		return
	}
	id := ev.Key.Namespace + "/" + ev.Kind.Kind + "/" + ev.Key.Name
	if _, named := c.Expect.Restarts[id]; !named {
		return
	}
	if r.there == nil {
		r.there = map[string]bool{}
	}
	r.there[id] = true
}

func (r *restarts) fork() Law { return &restarts{there: maps.Clone(r.there)} }

// count notes a restart, after every law has judged it.
func (c *Context) count(ev cluster.Event) {
	if w, ok := c.restarted(ev); ok {
		c.Restarts[w.id()]++
		if before, _ := workloadOf(ev.Old); c.dropped(before) {
			c.redone[w.id()] = w.stamp()
		}
		c.stamps[w.id()], c.stampedAt[w.id()] = w.stamp(), c.Loop.Now()
	}
}

// AtEnd compares with the scenario; a workload it does not name wants none.
func (r *restarts) AtEnd(c *Context) {
	if c.Expect.AnyRestarts {
		return
	}
	ids := slices.Collect(maps.Keys(c.Restarts))
	for id := range c.Expect.Restarts {
		if _, counted := c.Restarts[id]; !counted {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		want, got := c.Expect.Restarts[id], c.Restarts[id]
		if _, named := c.Expect.Restarts[id]; named && !r.there[id] {
			c.report(lawRestarts, "%s: the scenario expects restarts of it, and it never existed", id)
			continue
		}
		if want.Contains(got) {
			continue
		}
		wanted := fmt.Sprint(want.Min)
		switch {
		case want.Max < 0:
			wanted = fmt.Sprintf("at least %d", want.Min)
		case want.Max > want.Min:
			wanted = fmt.Sprintf("%d to %d", want.Min, want.Max)
		}
		c.report(lawRestarts, "%s: %s by KICK, want %s", id, plural(got, "restart"), wanted)
	}
}
