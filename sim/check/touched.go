package check

import (
	"slices"
	"time"
)

// The excuses that rest on writes of metadata by the content's own manager, which move
// the only date there is.

// touchedBeforeBaseline: KICK met the source after its content's own manager had
// written metadata, which moved the only time there is.
func (r restartCase) touchedBeforeBaseline() bool {
	return r.each(func(pod Pod, container Container, h *history) bool {
		return len(h.records) > 0 && slices.ContainsFunc(h.touches, func(t touch) bool {
			recent := t.at.After(container.Started.Add(-r.World.PodStart - time.Second))
			return !t.at.After(h.records[0].at) && (recent || t.starting(pod, container) || r.ahead(t, h.records[0], pod))
		})
	})
}

// touchedBeforeTold: by the time KICK was told of the newest change its date had moved
// on to a write of metadata, and the pod is no younger than that, or than what KICK had
// to take for its time because it lay in the future. A start in place proves no more than
// the clocks of nodes allow.
func (r restartCase) touchedBeforeTold() bool {
	return r.eachRef(func(pod Pod, container Container, ref ref) bool {
		h := r.sources.of(ref.source)
		last, ok := h.last()
		told := slices.IndexFunc(h.records, func(n note) bool { return n.knew.After(last.at) })
		return ok && told >= 0 && slices.ContainsFunc(h.touches, func(t touch) bool {
			return !t.at.Before(last.at) && t.at.Before(h.records[told].knew) &&
				(t.starting(pod, container) || r.ahead(t, h.records[told], pod) || container.Again && t.at.After(r.proven(pod, container, ref)))
		})
	})
}

// starting: the pod is no younger than the write and its container is not older, so
// that nobody knows which of them came first (case "starting").
func (t touch) starting(pod Pod, container Container) bool {
	return !container.Again && !pod.Created.After(t.written)
}

// ahead: the date lay in the future of the write, so the write may have come at any time
// up to that date or, if KICK found it earlier, up to then, by clocks that differ by the
// allowance.
func (r restartCase) ahead(t touch, found note, pod Pod) bool {
	return t.date.After(t.written) && !pod.Created.After(t.date) && !pod.Created.After(found.written.Add(r.Allowance))
}

// inPlace is how long a container that ended is not started again in place.
const inPlace = 2 * time.Second

// touchedWhileAway: a write of the content's own manager that KICK did not watch may
// have been the way back from another content, and KICK wrote it down as one. The
// content had not been known for long enough by then to prove that the container, which
// started within the allowances of the clocks before KICK went away, read it. Nor does a
// start after that write prove anything if the pod is not of a later second: it may have
// been starting (case "starting").
func (r restartCase) touchedWhileAway() bool {
	return r.eachRef(func(pod Pod, container Container, ref ref) bool {
		h, read := r.sources.of(ref.source), r.proven(pod, container, ref)
		known := container.Started.Add(2 * r.Allowance)
		return slices.ContainsFunc(h.touches, func(t touch) bool {
			return slices.ContainsFunc(h.records, func(n note) bool {
				if !n.returned || n.at.Before(t.at) {
					return false
				}
				return r.ahead(t, n, pod) && !h.recordedIn(known, n.at) ||
					(t.at.After(read) || t.starting(pod, container)) && !h.recordedIn(known, t.at)
			})
		})
	})
}

// takenFor reports whether KICK took a write of metadata for a change: it had come before the
// first record, or before one that tells of a way back.
func (h *history) takenFor(t touch) bool {
	return slices.ContainsFunc(h.records, func(n note) bool { return !t.at.After(n.at) && (n.returned || n == h.records[0]) })
}

// proven is the instant after which a container certainly read a source, as far as
// objects tell.
func (r restartCase) proven(pod Pod, container Container, ref ref) time.Time {
	switch {
	case !container.Again:
		return container.Started
	case mounts(r.w.template, container.Name, ref.source): // no object says when its node brought the files up to date
		return pod.Created
	default: // its node says when the run before ended, within the allowance
		return container.Started.Add(-r.Allowance - r.World.PodStart - inPlace)
	}
}
