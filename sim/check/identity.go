package check

import (
	"bytes"

	"github.com/corewire/kick/sim/cluster"
)

const lawIdentity = "a restart names its object"

// identity guards against a restart that meets another object of the same name than
// the one it was decided on.
type identity struct{ sent sent }

// OnCall judges a patch of a workload: it must carry what the server can refuse it
// by, the UID or the resourceVersion of what was judged.
func (i *identity) OnCall(c *Context, w Write) {
	if _, ok := c.patched(w); !ok || w.Verb != "patch" {
		return
	}
	i.sent.call(c, w, func() string {
		if w.Body == nil || bytes.Contains(w.Body, []byte(`"uid":"`)) || bytes.Contains(w.Body, []byte(`"resourceVersion":"`)) {
			return ""
		}
		return "neither UID nor resourceVersion: it lands on whatever has that name by then"
	})
}

// OnKick reports such a restart.
func (i *identity) OnKick(c *Context, ev cluster.Event) {
	w, ok := c.restarted(ev)
	if !ok {
		return
	}
	if words := i.sent.landed(c, ev.Kind, ev.Key, func() string { return "" }); words != "" {
		c.report(lawIdentity, "the restart of %s at %s carried %s", w.id(), clockTime(c.Loop.Now()), words)
	}
}
