package check

import (
	"fmt"
	"time"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/cluster"
)

const lawConcurrent = "restarts keep within their budget"

// concurrent counts the restarts that are under way when KICK sends another one.
type concurrent struct {
	sent    sent
	sending map[string]any // the process whose patch of a workload is on its way
	began   map[string]begun
}

// begun is a restart that landed.
type begun struct {
	by    any
	at    time.Time
	stamp string
}

// OnCall judges a patch of a workload as it is sent.
func (l *concurrent) OnCall(c *Context, w Write) {
	target, ok := c.patched(w)
	if !ok || target.Object == nil {
		return
	}
	l.sent.call(c, w, func() string { return l.tooMany(c, target, w) })
	if l.sending == nil {
		l.sending, l.began = map[string]any{}, map[string]begun{}
	}
	if w.Done {
		delete(l.sending, target.id())
	} else {
		l.sending[target.id()] = w.By
	}
}

// OnKick notes a restart, and reports one that was too many.
func (l *concurrent) OnKick(c *Context, ev cluster.Event) {
	w, ok := c.restarted(ev)
	if !ok || l.began == nil {
		return
	}
	words := l.sent.landed(c, ev.Kind, ev.Key, func() string { return "" })
	l.began[w.id()] = begun{l.sending[w.id()], c.Loop.Now(), w.stamp()}
	if words != "" {
		c.report(lawConcurrent, "restart of %s at %s, %s", w.id(), clockTime(c.Loop.Now()), words)
	}
}

// tooMany says which limit a restart breaks. What another process began after this one
// had filled its caches is not held against it: two that lead at once know nothing of
// each other.
func (l *concurrent) tooMany(c *Context, target workload, w Write) string {
	policies := c.policiesOf(target)
	if len(policies) != 1 || c.policyEditedSince(target, w.Known) {
		return ""
	}
	own, all, requests := 0, 0, c.requests()
	for _, other := range c.workloads() {
		if other.id() == target.id() || !l.counts(c, other, w, requests[other.id()]) {
			continue
		}
		all++
		if theirs := c.policiesOf(other); other.GetNamespace() == target.GetNamespace() && len(theirs) == 1 && theirs[0].Name == policies[0].Name {
			own++
		}
	}
	return overrun(policies[0], own, c.MaxConcurrent, all)
}

func overrun(policy *v1alpha1.KickPolicy, own, limit, all int) string {
	switch most := maxConcurrent(policy); {
	case most > 0 && own >= most:
		return fmt.Sprintf("with %s under way, and its policy %s allows %d at a time", plural(own, "other restart"), policy.Name, most)
	case limit > 0 && all >= limit:
		return fmt.Sprintf("with %s under way, and --max-concurrent-restarts allows %d at a time", plural(all, "other restart"), limit)
	}
	return ""
}

func maxConcurrent(p *v1alpha1.KickPolicy) int {
	if n := p.Spec.Restart.MaxConcurrent; n != nil {
		return int(*n)
	}
	return 0
}

// counts reports whether a restart of a workload was under way as far as the sender of
// a write can know.
func (l *concurrent) counts(c *Context, other workload, w Write, requests []*v1alpha1.KickRequest) bool {
	if by, sending := l.sending[other.id()]; sending && by == w.By {
		return true
	}
	last, ok := l.began[other.id()]
	if !ok || last.by != w.By && !last.at.Before(w.Known.Began) {
		return false
	}
	return c.restarting(other, last.stamp, requests)
}

// restarting reports whether the rollout of a restart that KICK made is not over: it
// runs, or one of its requests says so, and none has said that it has ended.
func (c *Context) restarting(w workload, stamp string, requests []*v1alpha1.KickRequest) bool {
	if w.stamp() != stamp || !stampedBy(w, Manager) {
		return false
	}
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil || c.stampClock(w).Sub(at) >= c.rolloutTimeout(w) {
		return false
	}
	for _, r := range requests {
		if told := r.Status.CurrentRollout; told != nil && !told.StartedAt.Time.Before(at) {
			return r.Status.Phase == v1alpha1.PhaseExecuting && !w.complete()
		}
	}
	return w.observed < w.GetGeneration() || w.updated < w.desired-w.partition || w.total > w.updated
}

// stampClock is what the clock shows now that a workload's stamp is dated by.
func (c *Context) stampClock(w workload) time.Time {
	if w.rollout != nil {
		return c.now(clock.APIServer)
	}
	return c.KickNow()
}

// rolloutTimeout is that of a workload's policy, or else KICK's.
func (c *Context) rolloutTimeout(w workload) time.Duration {
	if policies := c.policiesOf(w); len(policies) == 1 && policies[0].Spec.Restart.RolloutTimeout != nil {
		return policies[0].Spec.Restart.RolloutTimeout.Duration
	}
	return c.RolloutTimeout
}

// limited: as many restarts are under way as a limit allows.
func (b blockCase) limited() bool {
	if len(b.policies) != 1 {
		return false
	}
	own, all, requests := 0, 0, b.requests()
	for _, other := range b.workloads() {
		executes := false
		for _, r := range requests[other.id()] {
			executes = executes || r.Status.Phase == v1alpha1.PhaseExecuting
		}
		if other.id() == b.w.id() || !executes && !b.restarting(other, b.stamps[other.id()], requests[other.id()]) {
			continue
		}
		all++
		if other.GetNamespace() == b.w.GetNamespace() && matches(b.policies[0].Spec.Discovery.WorkloadSelector, other.GetLabels()) {
			own++
		}
	}
	return overrun(b.policies[0], own, b.MaxConcurrent, all) != ""
}

// noteEnd notes that KICK wrote that a restart is over.
func (c *Context) noteEnd(ev cluster.Event) {
	if before, ok := ev.Old.(*v1alpha1.KickRequest); ok && before.Status.Phase == v1alpha1.PhaseExecuting {
		c.ended = c.Loop.Now()
	}
}
