package check

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawSeen = "no time is told that nobody saw"

// seen looks for the times that stand for "before anybody looked": people would read them
// as dates.
type seen struct{}

// OnKick reports such a time in a request or a record.
func (seen) OnKick(c *Context, ev cluster.Event) {
	switch now := ev.Object.(type) {
	case *v1alpha1.KickRequest:
		st := &now.Status
		told := st.LatestObservedDependencyChange != nil && nobodySaw(st.LatestObservedDependencyChange.Time)
		for _, cause := range st.Causes {
			told = told || nobodySaw(cause.ChangedAt.Time)
		}
		if told || st.Gate != nil && speaksOfNoTime(st.Gate.Message) {
			c.report(lawSeen, "request %s tells of a time that nobody saw", ev.Key)
		}
	case *v1alpha1.SourceObservation:
		if ev.Type != cluster.Deleted && !allSeen(now) {
			c.report(lawSeen, "record %s tells of a time that nobody saw", ev.Key)
		}
	}
}

// OnTold reports such a time in an Event.
func (seen) OnTold(c *Context, t Told) {
	if speaksOfNoTime(t.Note) {
		c.report(lawSeen, "KICK told %s of a time that nobody saw", t.Reason)
	}
}

func allSeen(r *v1alpha1.SourceObservation) bool {
	contents := r.Spec.History
	for _, m := range r.Spec.Mounts {
		contents = append(slices.Clip(contents), m.History...)
	}
	for _, content := range contents {
		for _, at := range []metav1.MicroTime{content.Observed, content.Written, {Time: content.LastWrite.Time}} {
			if !at.IsZero() && nobodySaw(at.Time) { // left out: nothing is told
				return false
			}
		}
	}
	return true
}

func nobodySaw(t time.Time) bool { return t.Unix() <= 0 }

func speaksOfNoTime(words string) bool {
	return strings.Contains(words, "1970-01-01 ") || strings.Contains(words, "0001-01-01 ")
}
