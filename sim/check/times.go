package check

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawTimes = "change times never go back"

// timesForward follows what KICK wrote down about changes.
type timesForward struct{}

// OnKick reports a recorded time that became earlier or was lost.
func (timesForward) OnKick(c *Context, ev cluster.Event) {
	if ev.Type != cluster.Modified {
		return
	}
	switch now := ev.Object.(type) {
	case *v1alpha1.KickRequest:
		before := ev.Old.(*v1alpha1.KickRequest).Status.LatestObservedDependencyChange
		after := now.Status.LatestObservedDependencyChange
		if before != nil && (after == nil || after.Time.Before(before.Time)) {
			c.report(lawTimes, "request %s: latestObservedDependencyChange went from %s to %s", ev.Key, micro(before), micro(after))
		}
	case *v1alpha1.SourceObservation:
		timesOfRecord(c, ev, ev.Old.(*v1alpha1.SourceObservation), now)
	}
}

// timesOfRecord: history grows at its end. A record sealed with another key is a
// new baseline and starts anew.
func timesOfRecord(c *Context, ev cluster.Event, before, after *v1alpha1.SourceObservation) {
	for i := 1; i < len(after.Spec.History); i++ {
		last, next := &after.Spec.History[i-1], &after.Spec.History[i]
		if !sameEntry(last, next) && !next.Observed.After(last.Observed.Time) {
			c.report(lawTimes, "record %s: content %d was observed no later than the one before it", ev.Key, i)
		}
	}
	if before.Spec.KeyID != after.Spec.KeyID {
		return
	}
	was, is := before.Current().Observed, after.Current().Observed
	if is.Time.Before(was.Time) {
		c.report(lawTimes, "record %s: the newest change went from %s to %s", ev.Key, micro(&was), micro(&is))
	}
}

func micro(t *metav1.MicroTime) string {
	if t == nil {
		return "nothing"
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z")
}
