package check

import (
	"fmt"
	"time"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawRetention = "only old finished requests are deleted"

// retention judges each deletion of a request when it is sent.
type retention struct{ sent sent }

// OnCall judges a deletion.
func (r *retention) OnCall(c *Context, w Write) {
	if w.Kind != requestKind || w.Verb != "delete" {
		return
	}
	r.sent.call(c, w, func() string {
		request, _ := c.API.Get(requestKind, w.Key).(*v1alpha1.KickRequest)
		return c.tooYoung(request)
	})
}

// OnKick reports the deletion of a request that is still of use.
func (r *retention) OnKick(c *Context, ev cluster.Event) {
	request, ok := ev.Object.(*v1alpha1.KickRequest)
	if !ok || ev.Verb != "delete" {
		return
	}
	if words := r.sent.landed(c, ev.Kind, ev.Key, func() string { return c.tooYoung(request) }); words != "" {
		c.report(lawRetention, "KICK deleted request %s, but %s", ev.Key, words)
	}
}

// tooYoung says why a request must stay. A completion further in the future than
// twice the retention is what a stepped clock leaves behind and means nothing.
func (c *Context) tooYoung(r *v1alpha1.KickRequest) string {
	switch {
	case r == nil:
		return ""
	case !terminal(r.Status.Phase):
		return "it is not finished: " + string(phaseOf(r))
	case r.Status.CompletedAt == nil:
		return "it does not say when it finished"
	}
	left := r.Status.CompletedAt.Add(c.Retention).Sub(c.KickNow())
	if left <= 0 || left > 2*c.Retention {
		return ""
	}
	return fmt.Sprintf("finished requests are kept for %s and it had %s left", c.Retention, left.Round(time.Second))
}

// phaseOf is the phase of a request; none before the first status write.
func phaseOf(r *v1alpha1.KickRequest) v1alpha1.Phase {
	if r.Status.Phase == "" {
		return v1alpha1.PhasePending
	}
	return r.Status.Phase
}
