package check

import "github.com/corewire/kick/sim/cluster"

// atRestart judges a restart by what holds when its patch is sent, and one whose patch nobody
// saw by what held before it landed.
type atRestart struct {
	law   string
	but   string                                 // what the words are about, before them
	words func(*Context, workload, Known) string // against a restart, for one who knows this much; empty: none
	sent  sent
}

// OnCall judges a patch of a workload as it is sent.
func (r *atRestart) OnCall(c *Context, w Write) {
	if target, ok := c.patched(w); ok {
		r.sent.call(c, w, func() string { return r.words(c, target, w.Known) })
	}
}

// OnKick reports a restart that was not to be made.
func (r *atRestart) OnKick(c *Context, ev cluster.Event) {
	w, ok := c.restarted(ev)
	if !ok {
		return
	}
	before, _ := workloadOf(ev.Old)
	if words := r.sent.landed(c, ev.Kind, ev.Key, func() string { return r.words(c, before, Known{}) }); words != "" {
		c.report(r.law, "restart of %s at %s, but %s%s", w.id(), clockTime(c.Loop.Now()), r.but, words)
	}
}
