package check

import (
	"time"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/cluster"
)

const lawSpurious = "nothing spurious"

// spurious judges every restart at the instant it is written.
type spurious struct{}

// OnKick reports a restart for which no running pod gave a reason.
func (spurious) OnKick(c *Context, ev cluster.Event) {
	w, ok := restarted(ev)
	if !ok {
		return
	}
	policies := c.policiesOf(w)
	if len(c.stale(w, policies)) > 0 {
		return
	}
	r := restartCase{Context: c, w: w, policies: policies, pods: c.Truth.Pods(w.GetNamespace(), w.kind, w.GetName())}
	for _, excuse := range excuses {
		if excuse.holds(r) {
			return
		}
	}
	why := "every running pod carried the current content of its sources"
	if len(r.pods) == 0 {
		why = "no pod of it was running"
	}
	c.report(lawSpurious, "restart of %s at %s, but %s", w.id(), clockTime(c.Loop.Now()), why)
}

// restartCase is a restart without a stale pod.
type restartCase struct {
	*Context
	w        workload
	policies []*v1alpha1.KickPolicy
	pods     []Pod
}

// excuses lists every case in which a needless restart is right, because nobody
// outside the node can tell that it is needless.
var excuses = []struct {
	name  string
	holds func(restartCase) bool
}{
	{"somebody asked for it", restartCase.manual},
	{"pod creation and change in one second", restartCase.sameSecond},
	{"a pod was starting when the change came", restartCase.starting},
	{"a content came back that had ended within the clock allowance of the start", restartCase.endedTooSoon},
	{"clocks differ by less than the allowance", restartCase.clockOffset},
	{"a container restarted in place", restartCase.restartedInPlace},
	{"at the baseline, the content's own manager had written metadata", restartCase.touchedBeforeBaseline},
	{"a change the source's metadata does not date", restartCase.undated},
	{"type or immutability changed, which count as content", restartCase.flagsChanged},
	{"the content history was evicted", restartCase.evicted},
}

func (r restartCase) manual() bool {
	for _, request := range r.requestsOf(r.w) {
		if request.Spec.Trigger != v1alpha1.TriggerDependency {
			return true
		}
	}
	return false
}

// each reports whether some source in scope and some container that read it
// satisfy a condition.
func (r restartCase) each(condition func(Pod, Container, *history) bool) bool {
	refs := r.scopedRefs(r.w, r.policies)
	for _, pod := range r.pods {
		for _, container := range pod.Containers {
			for _, ref := range refs {
				if _, reads := container.Loaded[ref.source]; reads && condition(pod, container, r.sources.of(ref.source)) {
					return true
				}
			}
		}
	}
	return false
}

// sameSecond: creation times have whole seconds, so a pod created in the second
// of the change proves nothing.
func (r restartCase) sameSecond() bool {
	return r.each(func(pod Pod, _ Container, h *history) bool {
		last, ok := h.last()
		return ok && last.written.Truncate(time.Second).Equal(pod.Created.Truncate(time.Second))
	})
}

// starting: the pod was created before the change and its container started after
// it. Whether it read its sources before or after, only the node knows.
func (r restartCase) starting() bool {
	return r.each(func(pod Pod, container Container, h *history) bool {
		last, ok := h.last()
		after := container.Started.Sub(last.at)
		return ok && !container.Again && !pod.Created.After(last.written) && after >= 0 && after <= r.World.PodStart
	})
}

// endedTooSoon: the container read what stands again now, but it stood for so short
// a time after the start that clocks cannot prove the read came before its end
// (DESIGN section 5, content history).
func (r restartCase) endedTooSoon() bool {
	return r.each(func(_ Pod, container Container, h *history) bool {
		for _, change := range h.changes {
			if after := change.at.Sub(container.Started); after > 0 && after <= r.Allowance+2*time.Second {
				return true
			}
		}
		return false
	})
}

// clockOffset: the clocks of KICK, the API server and the kubelet disagree by no
// more than the allowance, and a container started within it after the change.
func (r restartCase) clockOffset() bool {
	var low, high time.Duration
	for _, domain := range clock.Domains {
		if v := r.Clocks[domain]; v != nil {
			low, high = min(low, v.Offset()), max(high, v.Offset())
		}
	}
	offset := high - low
	if offset == 0 || offset > r.Allowance {
		return false
	}
	return r.each(func(_ Pod, container Container, h *history) bool {
		last, ok := h.last()
		return ok && container.Started.Sub(last.at) <= offset+r.Allowance+r.World.PodStart+time.Second
	})
}

// restartedInPlace: the pod is older than the change and only the restart of its
// container saved it. KICK knows the end of the previous run within its clock
// allowance, and nothing at all of files in a volume.
func (r restartCase) restartedInPlace() bool {
	return r.each(func(pod Pod, container Container, h *history) bool {
		last, ok := h.last()
		return ok && container.Again && !pod.Created.After(last.written) && container.Started.Sub(last.at) <= r.Allowance+time.Second
	})
}

// touchedBeforeBaseline: KICK met the source after its content's own manager had
// written metadata, which moved the only time there is.
func (r restartCase) touchedBeforeBaseline() bool {
	return r.each(func(_ Pod, container Container, h *history) bool {
		if len(h.records) == 0 {
			return false
		}
		for _, touch := range h.touches {
			if touch.After(container.Started.Add(-r.World.PodStart-time.Second)) && !touch.After(h.records[0]) {
				return true
			}
		}
		return false
	})
}

// undated: among what KICK learned with its newest record was a change whose time
// no metadata shows, such as a removed key.
func (r restartCase) undated() bool {
	return r.each(func(_ Pod, _ Container, h *history) bool {
		var previous time.Time
		if n := len(h.records); n > 1 {
			previous = h.records[n-2]
		}
		for _, change := range h.changes {
			if !change.dated && change.at.After(previous) {
				return true
			}
		}
		return false
	})
}

// flagsChanged: the bytes are the same, but the type or the immutability of the
// source is not what it was when the container started.
func (r restartCase) flagsChanged() bool {
	return r.each(func(_ Pod, container Container, h *history) bool {
		for _, change := range h.changes {
			if change.flagsOnly && change.at.After(container.Started) {
				return true
			}
		}
		return false
	})
}

// evicted: more contents than a record holds.
func (r restartCase) evicted() bool {
	const recordHolds = 32
	return r.each(func(_ Pod, _ Container, h *history) bool { return len(h.changes) > recordHolds })
}
