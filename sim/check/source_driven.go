package check

import (
	"time"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawNoRequest = "no request for a workload newer than its sources"

// sourceDriven remembers when workloads came and looks when KICK opens a request.
type sourceDriven struct {
	created map[string]time.Time // true time, by workload id
}

// OnWrite notes new workloads.
func (s *sourceDriven) OnWrite(c *Context, ev cluster.Event) {
	if ev.Type != cluster.Added {
		return
	}
	if w, ok := workloadOf(ev.Object); ok {
		if s.created == nil {
			s.created = map[string]time.Time{}
		}
		s.created[w.id()] = c.Loop.Now()
	}
}

// OnKick reports a new request whose target came after KICK had recorded every
// source of it, while none of them changed since.
func (s *sourceDriven) OnKick(c *Context, ev cluster.Event) {
	r, ok := ev.Object.(*v1alpha1.KickRequest)
	if !ok || ev.Type != cluster.Added || r.Spec.Trigger != v1alpha1.TriggerDependency {
		return
	}
	w, ok := c.workload(r.Namespace, string(r.Spec.TargetRef.Kind), r.Spec.TargetRef.Name)
	if !ok {
		return
	}
	created, known := s.created[w.id()]
	policies := c.policiesOf(w)
	if !known || !c.allRecordedBefore(created, c.scopedRefs(w, policies)) || len(c.stale(w, policies)) > 0 {
		return
	}
	c.report(lawNoRequest, "request %s was opened, but %s was created at %s, after every change of its sources had been recorded", ev.Key, w.id(), clockTime(created))
}

// allRecordedBefore reports that KICK had written down the newest change of every
// source, of at least one, before an instant.
func (c *Context) allRecordedBefore(instant time.Time, refs []ref) bool {
	// Creation times have whole seconds and another clock than KICK has. A change, or
	// KICK's first look, within a second and the clock allowance before the instant
	// cannot be told from one after it.
	margin := time.Second + c.Allowance
	for _, ref := range refs {
		h := c.sources.of(ref.source)
		if len(h.records) == 0 || h.records[len(h.records)-1].at.After(instant.Add(-margin)) {
			return false
		}
		if last, existed := h.last(); existed && last.at.After(h.records[len(h.records)-1].at) {
			return false // it has been news to nobody yet
		}
	}
	return len(refs) > 0
}
