package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/clock"
)

const lawLost = "nothing lost"

// lost judges the end of a run: faults are over and everything has settled.
type lost struct{}

// stalePod is one container of a running pod that carries old content.
type stalePod struct {
	pod       Pod
	container Container
	ref       ref
}

// AtEnd reports every managed workload with a stale pod that nothing excuses.
func (lost) AtEnd(c *Context) {
	for _, w := range c.workloads() {
		policies := c.policiesOf(w)
		if len(policies) == 0 {
			continue
		}
		stale := c.knownStale(w, policies)
		if len(stale) == 0 {
			continue
		}
		named := c.named(w, policies)
		if c.blocked(w, policies, stale, named) {
			continue
		}
		c.report(lawLost, "%s", c.lostMessage(w, stale, named))
	}
}

// knownStale are the stale containers of which somebody outside the node can know.
func (c *Context) knownStale(w workload, policies []*v1alpha1.KickPolicy) []stalePod {
	return slices.DeleteFunc(c.stale(w, policies), c.unknowable)
}

// stale lists the containers of running pods that carry other bytes than their
// source has now, for sources in the scope of any of the policies.
func (c *Context) stale(w workload, policies []*v1alpha1.KickPolicy) []stalePod {
	var out []stalePod
	refs := c.scopedRefs(w, policies)
	if len(refs) == 0 {
		return nil
	}
	for _, pod := range c.Truth.Pods(w.GetNamespace(), w.kind, w.GetName()) {
		for _, container := range pod.Containers {
			for _, r := range refs {
				loaded, reads := container.Loaded[r.source]
				if reads && c.differs(pod, r, loaded) {
					out = append(out, stalePod{pod, container, r})
				}
			}
		}
	}
	return out
}

// differs reports whether loaded content is old. A required source that is gone
// makes nothing old: there is nothing newer to carry.
func (c *Context) differs(pod Pod, r ref, loaded Content) bool {
	if r.source.isClass() {
		return c.carriesOld(pod, r.source, loaded)
	}
	current := c.Truth.Current(r.source)
	if !current.Exists && r.required {
		return false
	}
	return loaded != current
}

// scopedRefs are the references of a workload that count under its policies, as far as
// somebody can know.
func (c *Context) scopedRefs(w workload, policies []*v1alpha1.KickPolicy) []ref {
	var out []ref
	for _, r := range refsOf(w.GetNamespace(), w.template) {
		for _, p := range policies {
			if c.inScope(p, r.source) && (p.Spec.Discovery.DependencySelector == nil || !c.sources.of(r.source).labelsMissed()) {
				out = append(out, r)
				break
			}
		}
	}
	return out
}

// unknowable reports that nobody outside the node, and nobody who came as late as
// KICK did, can tell that a container carries old content.
func (c *Context) unknowable(s stalePod) bool {
	if s.ref.source.isClass() {
		return c.untellable(s)
	}
	return c.clocksApart() || c.cacheLag(s) || c.nodeCopy(s) || c.beforeFirstLook(s) || c.awayUndated(s) || c.madeAnew(s)
}

// clocksApart excuses everything where the clocks of nodes and of the API server differ by
// more than KICK is told to allow for: dates of one say nothing about those of the other.
func (c *Context) clocksApart() bool {
	apart := c.now(clock.Kubelet).Sub(c.now(clock.APIServer))
	return max(apart, -apart) > c.Allowance
}

// madeAnew excuses a container that read a source which was deleted and created again
// before KICK's first record of it, if by its node's clock it started after that: it looks
// like one that waited for the source to be created at all.
func (c *Context) madeAnew(s stalePod) bool {
	h := c.sources.of(s.ref.source)
	made, ok := h.origin(s.ref.required)
	first, recorded := h.firstRecord()
	ahead := c.now(clock.Kubelet).Sub(c.now(clock.APIServer))
	before := made.at.Sub(s.container.Started)
	return ok && recorded && s.ref.required && made.order < first.order && before > 0 && before <= min(ahead, c.Allowance)+time.Second && h.createdBy(made)
}

// awayUndated excuses a container that started while the content was another, if KICK
// never wrote that one down and its end left no date: a key that was added and removed
// while KICK was away leaves the object as it was, or as if only the rest of that write had
// been made (DESIGN section 4).
func (c *Context) awayUndated(s stalePod) bool {
	h := c.sources.of(s.ref.source)
	for i := 1; i < len(h.changes)-1; i++ {
		before, left, back := h.changes[i-1], h.changes[i], h.changes[i+1]
		inside := !s.container.Started.Before(left.at) && s.container.Started.Before(back.at)
		if inside && !back.dated && !back.gone && !before.gone && !lostKey(before.object, back.object) && !h.recordedIn(left.at, back.at) {
			return true
		}
	}
	return false
}

// beforeFirstLook excuses a change that KICK cannot have seen, because it came before
// KICK's first record of the source since it came to be, and that left no trace
// either: the source is gone, its metadata does not date the change, or the pod was
// created, or began to run, in the second of it (DESIGN section 4, Baseline).
func (c *Context) beforeFirstLook(s stalePod) bool {
	h := c.sources.of(s.ref.source)
	first, recorded := h.firstRecord()
	return c.before(s, h, first, recorded) || len(h.records) > 0 && c.before(s, h, h.records[0], true)
}

// before reports that the content came before a record of KICK's, without a trace.
func (c *Context) before(s stalePod, h *history, first note, recorded bool) bool {
	origin, ok := h.origin(s.ref.required)
	if ok && recorded && origin.order > first.order { // a return to what KICK saw first
		now := origin.content
		origin, ok = h.originBefore(first.order, s.ref.required)
		ok = ok && origin.content == now
	}
	if !ok {
		return false
	}
	second := origin.written.Truncate(time.Second)
	return origin.gone || recorded && (!origin.dated || origin.erased ||
		second.Equal(s.pod.Created.Truncate(time.Second)) || second.Equal(s.container.Started.Truncate(time.Second)))
}

// cacheLag excuses a container that started so soon after the change that the
// kubelet may have given it the old object: nobody can see that from outside. A
// volume is filled when the pod comes to its node, however long a container waits; one
// that no container mounts is there without its source, even where the pod requires that.
func (c *Context) cacheLag(s stalePod) bool {
	waited := s.ref.required && s.container.Loaded[s.ref.source].Exists
	last, ok := c.sources.of(s.ref.source).origin(waited)
	lag := c.World.KubeletCacheLag
	return ok && lag > 0 && (s.container.Started.Sub(last.at) <= lag+time.Second || s.pod.Created.Sub(last.at) <= lag+time.Second)
}

// nodeCopy excuses a container that started after the change and was given the
// node's copy of an immutable source all the same: the kubelet does not look again
// while any pod on the node uses it (case B29), and a restart cannot mend that. Nor does
// it show when what stood at the start comes back.
func (c *Context) nodeCopy(s stalePod) bool {
	h := c.sources.of(s.ref.source)
	last, ok := h.origin(s.ref.required)
	return ok && s.container.Cached[s.ref.source] &&
		(!s.container.Started.Before(last.at) || h.at(s.container.Started) == last.content)
}

func (c *Context) lostMessage(w workload, stale []stalePod, named []string) string {
	s := stale[0]
	changed := "never written"
	if last, ok := c.sources.of(s.ref.source).last(); ok {
		changed = "changed " + clockTime(last.at)
	}
	more := ""
	if len(stale) > 1 {
		more = fmt.Sprintf(", and %d more", len(stale)-1)
	}
	says := "no request exists"
	if len(named) > 0 {
		says = fmt.Sprintf("KICK says %s, which does not hold", join(named))
	}
	where := "container " + s.container.Name
	if s.container.Name == "" {
		where = "volume that no container mounts"
	}
	return fmt.Sprintf("%s: pod %s %s still runs old content of %s (read %s, %s)%s; %s",
		w.id(), s.pod.Name, where, s.ref.source, clockTime(s.container.Started), changed, more, says)
}
