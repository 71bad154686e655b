package check

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawSettled = "a restart waits for the settle delay"

// settled judges a restart when it is sent: the newest change that KICK had on record is
// as long ago as the policy wants it quiet. It knows of changes from the cluster and not from
// what the record says of their time, so it speaks only where that can be no earlier than the
// change: of new contents that KICK recorded while it had the source on record already.
type settled struct {
	sent   sent
	opened map[types.NamespacedName]time.Time // when a request was last opened
}

// OnCall judges a patch of a workload as it is sent.
func (s *settled) OnCall(c *Context, w Write) {
	if target, ok := c.patched(w); ok {
		s.sent.call(c, w, func() string { return s.unsettled(c, target, w.Known) })
	}
}

// OnKick reports a restart that came too soon after a change, and notes openings.
func (s *settled) OnKick(c *Context, ev cluster.Event) {
	if r, ok := ev.Object.(*v1alpha1.KickRequest); ok {
		s.open(c, ev, r)
		return
	}
	w, ok := c.restarted(ev)
	if !ok {
		return
	}
	before, _ := workloadOf(ev.Old)
	if words := s.sent.landed(c, ev.Kind, ev.Key, func() string { return s.unsettled(c, before, Known{}) }); words != "" {
		c.report(lawSettled, "restart of %s at %s, but %s", w.id(), clockTime(c.Loop.Now()), words)
	}
}

func (s *settled) open(c *Context, ev cluster.Event, r *v1alpha1.KickRequest) {
	old, _ := ev.Old.(*v1alpha1.KickRequest)
	if ev.Type == cluster.Modified && old != nil && r.Status.OpenedAt.Equal(old.Status.OpenedAt) {
		return
	}
	if s.opened == nil {
		s.opened = map[types.NamespacedName]time.Time{}
	}
	s.opened[ev.Key] = c.Loop.Now()
}

// unsettled says which change is too young for a restart now, for one who knows this much.
// A clock of KICK that was set measures nothing.
func (s *settled) unsettled(c *Context, w workload, known Known) string {
	if w.Object == nil || c.stepped() || c.policyEditedSince(w, known) {
		return ""
	}
	policies := c.policiesOf(w)
	if len(policies) != 1 || s.capped(c, w, settleDelay(policies[0]), known) {
		return ""
	}
	for _, ref := range refsOf(w.GetNamespace(), w.template) {
		if !ref.source.isClass() && c.inScope(policies[0], ref.source) {
			if words := c.young(ref.source, policies[0], known); words != "" {
				return words
			}
		}
	}
	return ""
}

// young says that a source changed too short a time before; empty: it did not.
func (c *Context) young(of Source, p *v1alpha1.KickPolicy, known Known) string {
	h := c.sources.of(of)
	if !showed(known.of(of), h.labels) {
		return ""
	}
	change, ok := h.newContent(known.Records)
	if ago := c.Loop.Now().Sub(change.at); ok && ago < settleDelay(p) {
		return fmt.Sprintf("%s changed %s before and its policy %s wants %s of quiet", of, ago, p.Name, settleDelay(p))
	}
	return ""
}

// capped reports that KICK may have waited for long enough, however young the change is
// (see lawQuiet), or that a person asked for the restart.
func (s *settled) capped(c *Context, w workload, delay time.Duration, known Known) bool {
	requests := c.requestsOf(w)
	for _, r := range requests {
		opened := s.opened[types.NamespacedName{Namespace: r.Namespace, Name: r.Name}]
		if r.Spec.Trigger != v1alpha1.TriggerDependency || r.Status.OpenedAt == nil || !showed(known.Requests, opened) ||
			c.KickNow().Sub(r.Status.OpenedAt.Time) >= settleCap*delay {
			return true
		}
	}
	return len(requests) == 0
}

// newContent is the newest change of a source, if it brought a content that the next
// record of it noted as new, for one who had seen the records up to an instant.
func (h *history) newContent(seen time.Time) (change, bool) {
	n := h.seen(seen)
	if n < 2 {
		return change{}, false
	}
	var newest change
	for _, c := range h.changes {
		if c.at.Before(h.records[n-1].knew) {
			newest = c
		}
	}
	for i := 1; i < n; i++ {
		note, before := h.records[i], h.records[i-1]
		if !note.knew.After(newest.at) || before.knew.After(newest.at) {
			continue
		}
		now, old := h.at(note.knew.Add(-1)), h.at(before.knew.Add(-1))
		return newest, !note.returned && now.Exists && old.Exists && now != old
	}
	return change{}, false
}
