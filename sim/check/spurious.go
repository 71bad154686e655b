package check

import (
	"slices"
	"time"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/cluster"
)

const lawSpurious = "nothing spurious"

// spurious judges every restart by what KICK can have known when it sent it.
type spurious struct{ sent sent }

// OnCall judges a restart as it is sent.
func (s *spurious) OnCall(c *Context, w Write) {
	if target, ok := c.patched(w); ok {
		s.sent.call(c, w, func() string { return c.needless(target, w.Known) })
	}
}

// OnKick reports a restart for which no running pod gave a reason.
func (s *spurious) OnKick(c *Context, ev cluster.Event) {
	w, ok := c.restarted(ev)
	if !ok {
		return
	}
	if words := s.sent.landed(c, ev.Kind, ev.Key, func() string { return c.needless(w, Known{}) }); words != "" {
		c.report(lawSpurious, "restart of %s at %s, but %s", w.id(), clockTime(c.Loop.Now()), words)
	}
}

// needless says why there is no reason to restart a workload now for one who knows
// this much, or nothing.
func (c *Context) needless(w workload, known Known) string {
	if w.Object == nil {
		return ""
	}
	r := c.restartCase(w, known)
	if r.wasStale() || r.excused() {
		return ""
	}
	if len(r.pods) == 0 {
		return "no pod of it was running"
	}
	return "every running pod carried the current content of its sources"
}

// wasStale reports whether some container that runs carries other content than a
// source of it has, or had as far as KICK's records told and what it saw of the source
// itself: what it sees and has not recorded it waits for. It can have looked at the sources
// when it looked at the policies.
func (r restartCase) wasStale() bool {
	for _, ref := range r.refs() {
		h := r.sources.of(ref.source)
		told, recorded := h.told(r.known.Records)
		told = latest(latest(told, r.known.of(ref.source)), r.known.Policies)
		for _, pod := range r.pods {
			for _, container := range pod.Containers {
				loaded, reads := container.Loaded[ref.source]
				if reads && (r.differs(pod, ref, loaded) || !ref.source.isClass() && recorded && loaded.Exists && h.was(loaded, latest(told, container.Started))) {
					return true
				}
			}
		}
	}
	return false
}

// refs are the references that counted as far as KICK had been told of labels, and of
// the policies when it read them.
func (r restartCase) refs() []ref {
	all := refsOf(r.w.GetNamespace(), r.w.template)
	if r.policyEditedSince(r.w, r.known) {
		return all
	}
	var out []ref
	for _, ref := range all {
		known, h := r.known.of(ref.source), r.sources.of(ref.source)
		untold := h.labelsMissed() || !known.IsZero() && !h.labels.Before(known)
		if slices.ContainsFunc(r.policies, func(p *v1alpha1.KickPolicy) bool { return untold || r.inScope(p, ref.source) }) {
			out = append(out, ref)
		}
	}
	return out
}

// restartCase is a restart whose reason is in question.
type restartCase struct {
	*Context
	w        workload
	policies []*v1alpha1.KickPolicy
	pods     []Pod
	known    Known
}

func (c *Context) restartCase(w workload, known Known) restartCase {
	return restartCase{c, w, c.policiesOf(w), c.Truth.Pods(w.GetNamespace(), w.kind, w.GetName()), known}
}

// excused reports that nobody could know that the restart is not needed.
func (r restartCase) excused() bool {
	if r.answered() {
		return r.manual()
	}
	for _, excuse := range excuses {
		if excuse.holds(r) {
			return true
		}
	}
	return false
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
	{"the content was another while nobody watched", restartCase.away},
	{"clocks differ by less than the allowance", restartCase.clockOffset},
	{"a container restarted in place", restartCase.restartedInPlace},
	{"a container that mounts a class restarted in place", restartCase.mountedAgain},
	{"the driver told of the way back after what KICK's records had seen", restartCase.backUntold},
	{"a container is down", restartCase.down},
	{"the last pod went just after the change", restartCase.podsJustLeft},
	{"a container was given an older content than the one that stood when it started", restartCase.servedOld},
	{"at the baseline, the content's own manager had written metadata", restartCase.touchedBeforeBaseline},
	{"the content's own manager had written metadata before KICK was told of the change", restartCase.touchedBeforeTold},
	{"a change the source's metadata does not date", restartCase.undated},
	{"type or immutability changed, which count as content", restartCase.flagsChanged},
	{"the content's own manager wrote metadata while nobody watched", restartCase.touchedWhileAway},
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

// seenLive is how long after a change that it saw live KICK need not look at pods: none
// can have been replaced because of it (DESIGN section 5). A little more, for the way
// of the event.
const seenLive = time.Second + 100*time.Millisecond

// podsJustLeft: somebody took the pods away within that time, too, or after they were listed.
func (r restartCase) podsJustLeft() bool {
	left := r.leaving[r.w.GetNamespace()]
	return len(r.pods) == 0 && (!r.known.Pods.IsZero() && !left.Before(r.known.Pods) || slices.ContainsFunc(r.refs(), func(ref ref) bool {
		last, ok := r.sources.of(ref.source).last()
		return ok && r.Loop.Now().Sub(last.at) <= seenLive && r.Loop.Now().Sub(left) <= seenLive
	}))
}

// servedOld: its node gave a container another content than the one that stood when it
// started: its copy of an immutable source (case B29), what its cache had not seen
// replaced, or what it had written into a volume before. Nothing outside the node shows
// that, so the way back to that content is a change like any other.
func (r restartCase) servedOld() bool {
	for _, ref := range r.refs() {
		for _, pod := range r.pods {
			for _, c := range pod.Containers {
				if loaded, reads := c.Loaded[ref.source]; reads && !ref.source.isClass() && loaded != r.sources.of(ref.source).at(c.Started) {
					return true
				}
			}
		}
	}
	return false
}

// each reports whether some source in scope and some container that read it
// satisfy a condition.
func (r restartCase) each(condition func(Pod, Container, *history) bool) bool {
	return r.eachRef(func(pod Pod, container Container, ref ref) bool {
		return condition(pod, container, r.sources.of(ref.source))
	})
}

func (r restartCase) eachRef(condition func(Pod, Container, ref) bool) bool {
	refs := r.refs()
	for _, pod := range r.pods {
		for _, container := range pod.Containers {
			for _, ref := range refs {
				_, reads := container.Loaded[ref.source]
				if reads && (condition(pod, container, ref) || container.Name == "" && condition(pod, anyOf(pod, container), ref)) {
					return true
				}
			}
		}
	}
	return false
}

// anyOf is what nobody mounts, as one has to take it who does not know that: read by any
// container of the pod (docs/decisions/0007), and so by the one that started last.
func anyOf(pod Pod, unmounted Container) Container {
	for _, c := range pod.Containers {
		if c.Started.After(unmounted.Started) {
			unmounted.Started, unmounted.Again = c.Started, c.Again
		}
	}
	return unmounted
}

// sameSecond: creation times have whole seconds, so a pod created in the second
// of the change proves nothing.
func (r restartCase) sameSecond() bool {
	return r.each(func(pod Pod, container Container, h *history) bool {
		return slices.ContainsFunc(h.around(container.Started), func(c change) bool {
			return c.written.Truncate(time.Second).Equal(pod.Created.Truncate(time.Second))
		})
	})
}

// starting: the pod was created before the change and its container started after
// it, however long that took. Whether it read its sources before or after, only the
// node knows.
func (r restartCase) starting() bool {
	return r.each(func(pod Pod, container Container, h *history) bool {
		return !container.Again && slices.ContainsFunc(h.around(container.Started), func(c change) bool {
			return !pod.Created.After(c.written) && !container.Started.Before(c.at)
		})
	})
}

// endedTooSoon: the container read what stands again now, but it stood for so short
// a time after the start that clocks cannot prove the read came before its end
// (DESIGN section 5, content history). If nobody watched that end, it stood until the
// last record at the latest, by two clocks.
func (r restartCase) endedTooSoon() bool {
	return r.each(func(_ Pod, container Container, h *history) bool {
		return slices.ContainsFunc(h.changes, func(c change) bool {
			after := c.at.Sub(container.Started)
			return after > 0 && (after <= r.Allowance+2*time.Second ||
				h.missed(c) && !h.recordedIn(container.Started.Add(2*r.Allowance), c.at))
		})
	})
}

// away: after the container had read it the content became another and came back,
// and KICK did not write down the other one. It knows that something was written in
// between, from the source itself or from its own watch, and not what.
func (r restartCase) away() bool {
	return r.each(func(_ Pod, container Container, h *history) bool {
		for i := 1; i < len(h.changes); i++ {
			read, left := h.changes[i-1], h.changes[i]
			back := slices.IndexFunc(h.changes[i:], func(c change) bool { return c.content == read.content })
			if left.at.After(container.Started) && back > 0 &&
				(!h.recordedIn(left.at, h.changes[i+back].at) || !h.recordedIn(read.at, left.at)) {
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
// allowance, and nothing at all of files in a volume: when its node brought it up to
// date, no object says.
func (r restartCase) restartedInPlace() bool {
	return r.eachRef(func(pod Pod, c Container, ref ref) bool {
		last, ok := r.sources.of(ref.source).last()
		return ok && c.Again && !pod.Created.After(last.written) &&
			(c.Started.Sub(last.at) <= r.Allowance+time.Second+inPlace || mounts(r.w.template, c.Name, ref.source))
	})
}

// down: a container of a pod that is older than the change, or than what KICK took for
// its time, has ended and does not run again yet. It carries nothing, which its node reports later, and what it reads when
// it starts is still to come.
func (r restartCase) down() bool {
	for _, pod := range r.pods {
		for _, ref := range r.refs() {
			h := r.sources.of(ref.source)
			taken := func(t touch) bool { return !pod.Created.After(t.written) && h.takenFor(t) }
			if last, ok := h.last(); ok && pod.Down && (!pod.Created.After(r.dateOf(h, last)) || slices.ContainsFunc(h.touches, taken)) {
				return true
			}
		}
	}
	return false
}

// dateOf is what KICK takes for the time of a change: where nothing dates it, as late as it
// can have come before KICK saw it, on a clock that may be behind by the allowance.
func (r restartCase) dateOf(h *history, c change) time.Time {
	if n, recorded := h.recordSince(c.at); recorded && !c.timed() {
		return n.at.Add(r.Allowance + time.Second)
	}
	return c.written
}

// undated: among what KICK learned with its newest record was a change whose time
// no metadata shows, such as a removed key or one dated in the future. Or such a change
// ended what the container had read, or came so shortly before the pod that clocks do
// not show which was first, and nothing proves what the read was.
func (r restartCase) undated() bool {
	return r.each(func(pod Pod, container Container, h *history) bool {
		if r.undatedAround(pod, container, h) {
			return true
		}
		var previous time.Time
		if n := h.seen(r.known.Records); n > 1 {
			previous = earliest(h.records[n-2].at, h.records[n-2].knew)
		}
		for _, change := range h.changes {
			if !change.timed() && !change.at.Before(previous) {
				return true
			}
		}
		return false
	})
}

// undatedAround reports whether no date tells of a change just before the pod, or of the
// one that ended what its container had read.
func (r restartCase) undatedAround(pod Pod, container Container, h *history) bool {
	for i, c := range h.changes {
		ended := c.at.After(container.Started) && i > 0 && !h.changes[i-1].at.After(container.Started)
		before := !c.at.After(container.Started) && !pod.Created.After(c.written.Add(r.Allowance+time.Second))
		if (ended || before) && !c.timed() {
			return true
		}
	}
	return false
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
