package decide

import (
	"time"

	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/freshness"
	"github.com/corewire/kick/kick/model/request"
)

// needed reports whether a workload without a request gets one: it is stale, or
// there is news that its consumers are to be judged for.
func needed(f *facts) bool {
	if len(f.Policies) == 0 || f.Workload == nil || f.Workload.Deleting {
		return false
	}
	if f.evidence.State == freshness.Stale {
		mark.Hit(mark.OpenedForStalePods)
		return true
	}
	if news(f) {
		mark.Hit(mark.OpenedForNews)
		return true
	}
	return false
}

// news reports whether a source in scope was recorded or changed recently enough
// that the outcome belongs on record, even if it is that nothing had to be done.
// A workload that came after its sources needs no such note. The limit is the
// retention of requests, so that a note that was deleted is not written again.
func news(f *facts) bool {
	for i := range f.Dependencies {
		d := &f.Dependencies[i]
		if d.Record == nil || !d.InScope {
			continue
		}
		h := d.Record.HistoryFor(d.Required())
		if len(h) == 0 {
			continue
		}
		c := h[len(h)-1]
		seen, came := c.Observed, c.Written
		if c.Baseline {
			seen, came = d.Record.Created, d.Record.Since
		}
		if f.now.Sub(seen) < f.Settings.RequestRetention && !f.Workload.Created.After(came) {
			return true
		}
	}
	return false
}

// reopens reports whether a finished request has to start again. A failure is not
// repeated for the very change it failed at, nor a dry run while it stays one.
func reopens(f *facts) bool {
	if len(f.Policies) == 0 || f.Workload == nil || f.Workload.Deleting {
		return false
	}
	st := f.Request.Status
	if f.changedSince(st.LatestChange) {
		mark.Hit(mark.ReopenedByChange)
		return true
	}
	if f.evidence.State != freshness.Stale {
		return false
	}
	if !f.answered(st) {
		mark.Hit(mark.ReopenedByStalePods)
		return true
	}
	return false
}

// changedSince reports whether the newest change is certainly later than a time that a
// status tells. A record that was made anew shows an old change with another clock's date.
func (f *facts) changedSince(told time.Time) bool {
	return f.latest.After(told) && freshness.Earliest(f.Snapshot, f.now).After(told)
}

// answered reports whether a finished request has said all there is to say about
// pods that are stale still.
func (f *facts) answered(st model.RequestStatus) bool {
	switch st.Phase {
	case request.Failed: // a change that came while the failed rollout ran is another one
		if f.changedSince(st.RolloutStart) && f.inPlace() == nil || f.inPlace() != nil && !f.proves(st.RolloutStart) {
			return false
		}
		mark.Hit(mark.FailureNotRepeated)
		return true
	case request.DryRun: // two policies are a conflict, whatever one of them says
		return len(f.Policies) == 1 && f.policy.DryRun
	default:
		return false
	}
}

// Expired reports whether a finished request may be deleted, or how long it still
// is kept. A failure is kept while its workload is still stale: it is the only
// sign of it.
func Expired(s *model.Snapshot, now time.Time) (left time.Duration, expired bool) {
	keep := s.Settings.RequestRetention
	left = s.Request.Status.CompletedAt.Add(keep).Sub(now)
	if left > 0 && left <= 2*keep { // a clock that far off had nothing to say
		return min(left, keep), false
	}
	managed := s.Workload != nil && len(s.Policies) > 0
	if s.Request.Status.Phase == request.Failed && managed && freshness.Judge(s, now).State != freshness.Fresh {
		mark.Hit(mark.FailureKept)
		return keep, false
	}
	return 0, true
}
