package check

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/clock"
)

// answered reports that KICK's own stamp proves all there is to prove, whatever dates
// say (DESIGN section 5, witness 3): it stands, every pod carries it, nothing was
// recorded since, it is no older than any change on record, and its restart no older than
// any date of a source, which somebody may have made up.
func (r restartCase) answered() bool {
	landed, restarted := r.stampedAt[r.w.id()]
	stamp, err := time.Parse(time.RFC3339Nano, r.w.stamp())
	if !restarted || err != nil || r.w.stamp() != r.stamps[r.w.id()] || !stampedBy(r.w, Manager) || r.steppedClock(clock.APIServer) {
		return false
	}
	at := landed.Add(r.now(clock.APIServer).Sub(r.Loop.Now()))
	unproven := func(ref ref) bool {
		h := r.sources.of(ref.source)
		n := len(h.records)
		return n == 0 || h.records[n-1].at.After(landed) || r.observed(ref.source).After(stamp) || h.newest == nil || lastWrite(h.newest).After(at)
	}
	return !slices.ContainsFunc(r.refs(), unproven) && r.allStamped()
}

// allStamped reports whether every pod carries the stamp of its workload.
func (r restartCase) allStamped() bool {
	for _, pod := range r.pods {
		object := r.API.Get(schema.GroupKind{Kind: "Pod"}, types.NamespacedName{Namespace: r.w.GetNamespace(), Name: pod.Name})
		if object == nil || object.GetAnnotations()[Stamp] != r.w.stamp() {
			return false
		}
	}
	return len(r.pods) > 0
}

// observed is when the newest change of a source was, as KICK's record says; the far
// future where there is none.
func (c *Context) observed(s Source) time.Time {
	for _, object := range c.API.List(recordKind, s.Namespace) {
		if r := object.(*v1alpha1.SourceObservation); string(r.Spec.Source.Kind) == s.Kind && r.Spec.Source.Name == s.Name {
			return r.Current().Observed.Time
		}
	}
	return c.Loop.Now().AddDate(1, 0, 0)
}

// steppedClock reports whether a clock was ever set.
func (c *Context) steppedClock(domain clock.Domain) bool {
	v := c.Clocks[domain]
	if v == nil {
		return false
	}
	low, high := v.Range()
	return low != high
}
