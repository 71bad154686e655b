package freshness

import (
	"time"

	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// State is what the evidence says about a workload.
type State string

// The states of evidence.
const (
	// Fresh: every running pod provably carries the current content.
	Fresh State = "fresh"
	// Stale: some running pod does not provably carry it.
	Stale State = "stale"
	// Unknown: no running pod is stale, but some that have not started yet might be.
	Unknown State = "unknown"
)

// Evidence is a judgement with the facts it rests on.
type Evidence struct {
	State   State
	Reason  request.Reason // Fresh, NotRunning or PodsNotStarted
	Source  model.Key      // the newest change that some pod misses; when fresh, the newest change of all
	Changed time.Time      // when that change was observed; zero: nothing is on record, or nobody saw when
	Pod     string         // the oldest pod that misses it; empty: not asked
	Since   time.Time      // lower bound of when that pod read its sources
	Below   bool           // only pods below the StatefulSet's partition are stale
	Flaps   time.Time      // what it misses flaps, and nothing else is missed: until when that is to be quiet
}

// liveWindow is how long after a change that was seen live no pod can have been
// replaced because of it, so that no pod list is needed to call the workload stale.
const liveWindow = time.Second

// Judge weighs the evidence of a snapshot. It expects pods to be listed whenever
// NeedPods says so; without them it never calls a workload fresh.
func Judge(s *model.Snapshot, now time.Time) Evidence {
	e := weigh(s, now)
	e.Changed = model.Told(e.Changed)
	return e
}

func weigh(s *model.Snapshot, now time.Time) Evidence {
	all := readings(s, now)
	newest := newestChange(all)
	verdict := Evidence{State: Fresh, Reason: request.Fresh, Source: newest.Source, Changed: newest.Changed}
	switch {
	case s.Workload == nil || s.Workload.Rollout.Replicas == 0 && !s.PodsListed:
		verdict.Reason = request.NotRunning
		return verdict
	case len(all) == 0:
		return verdict
	case provenByRevision(s, all):
		mark.Hit(mark.FreshByRevision)
		return verdict
	case !s.PodsListed:
		return unlisted(s, all, now)
	}
	return settled(s, all, verdict, now)
}

// settled judges by the pods. What flaps makes nothing stale as long as something else does
// that a restart would mend.
func settled(s *model.Snapshot, all []reading, verdict Evidence, now time.Time) Evidence {
	e := judgePods(s, all, verdict)
	if e.State != Stale {
		return e
	}
	var until time.Time
	var calm, restless []reading
	for i := range all {
		flaps := all[i].flapsUntil(s.Settings.RotationInterval, now)
		if flaps.IsZero() {
			calm = append(calm, all[i])
			continue
		}
		restless, until = append(restless, all[i]), model.Later(until, flaps)
	}
	if len(restless) == 0 {
		return e
	}
	if other := judgePods(s, calm, verdict); other.State == Stale && (!other.Below || e.Below) {
		return other
	}
	e = judgePods(s, restless, verdict)
	e.Flaps = until
	return e
}

// NeedPods reports whether the judgement depends on the pods themselves.
func NeedPods(s *model.Snapshot, now time.Time) bool {
	if s.Workload == nil || s.Workload.Rollout.Replicas == 0 {
		return false
	}
	all := readings(s, now)
	return len(all) > 0 && !provenByRevision(s, all) && !seenJustNow(s, all, now)
}

// provenByRevision is the cheap proof: every pod belongs to the wanted revision,
// and that revision is younger than every change.
func provenByRevision(s *model.Snapshot, all []reading) bool {
	r := s.Workload.Rollout
	rev := Wanted(s.Revisions)
	if !r.Observed || r.Rolling || r.OnDelete || r.Partition > 0 || r.InPlace != nil || rev == nil {
		return false
	}
	for i := range all {
		c := all[i].current()
		if !startedAfter(rev.Created, c) && !stamped(s.Workload.Stamp, rev, c) {
			return false
		}
	}
	return true
}

// seenJustNow reports that this process watched a change happen so recently that
// the pods of a settled workload cannot have been replaced since.
func seenJustNow(s *model.Snapshot, all []reading, now time.Time) bool {
	if !s.Workload.Rollout.Complete {
		return false
	}
	for i := range all {
		live := all[i].seenLive
		recent := !live.IsZero() && !now.Before(live) && now.Sub(live) < liveWindow
		if recent && !all[i].current().Observed.Before(live) && !all[i].stoodBefore() {
			return true
		}
	}
	return false
}

// stoodBefore reports whether the content that stands now stood before, too: a pod
// may have read it then.
func (r *reading) stoodBefore() bool {
	for _, c := range r.history[:len(r.history)-1] {
		if c.Seal == r.current().Seal {
			return true
		}
	}
	return false
}

// unlisted judges without pods: stale if a change was seen live just now,
// otherwise nothing is claimed.
func unlisted(s *model.Snapshot, all []reading, now time.Time) Evidence {
	e := newestChange(all)
	e.State = Unknown
	e.Reason = request.PodsNotStarted
	if seenJustNow(s, all, now) {
		mark.Hit(mark.JudgedWithoutPods)
		e.State, e.Reason = Stale, ""
	}
	return e
}

// judgePods asks every pod about every source.
func judgePods(s *model.Snapshot, all []reading, verdict Evidence) Evidence {
	var t tally
	for i := range s.Pods {
		t.add(&s.Pods[i], missedBy(s, all, &s.Pods[i]), s.Workload.Rollout.Partition)
	}
	switch {
	case t.worst.State == Stale && (t.reachable || !t.waiting && t.there >= s.Workload.Rollout.Replicas):
		t.worst.Below = !t.reachable
		return t.worst
	case t.waiting, t.worst.State == Stale: // a restart may yet reach one that is still to start
		verdict.State, verdict.Reason = Unknown, request.PodsNotStarted
	case !t.running:
		verdict.Reason = request.NotRunning
	}
	return verdict
}

// tally is what the pods of a workload add up to.
type tally struct {
	there     int32    // how many run or are about to
	running   bool     // some pod runs
	waiting   bool     // some pod has not started and may yet read what stood before
	reachable bool     // some stale pod would be replaced by a restart
	worst     Evidence // the best proof of staleness
}

func (t *tally) add(p *model.Pod, missed *Evidence, partition int32) {
	t.running = t.running || p.Running
	if p.Running || p.Pending {
		t.there++
	}
	switch {
	case missed == nil:
	case p.Pending:
		t.waiting = true
	default:
		t.reachable = t.reachable || p.Ordinal < 0 || p.Ordinal >= partition
		if missed.worse(&t.worst) {
			t.worst = *missed
		}
	}
}

// worse reports whether this is the better proof of staleness: a newer change, or
// an older pod.
func (e *Evidence) worse(than *Evidence) bool {
	return than.State == "" || e.Changed.After(than.Changed) ||
		e.Changed.Equal(than.Changed) && e.Since.Before(than.Since)
}

// missedBy names the newest change a pod does not provably carry; nil: none. A pod
// that has ended or is on its way out carries nothing any more.
func missedBy(s *model.Snapshot, all []reading, p *model.Pod) *Evidence {
	if !p.Running && !p.Pending {
		return nil
	}
	var missed *Evidence
	for i := range all {
		j := judge{
			reading: &all[i], stamp: s.Workload.Stamp, revision: revisionOf(s, p),
			pod: p, allowance: s.Settings.ClockAllowance,
		}
		if !all[i].concerns(p) {
			continue
		}
		if e := j.missed(); e != nil && (missed == nil || e.Changed.After(missed.Changed)) {
			missed = e
		}
	}
	return missed
}

// missed is the change of one source that a pod does not provably carry; nil: none.
func (j *judge) missed() *Evidence {
	switch {
	case j.reading.mounts():
		return j.missedMount()
	case j.fresh():
		return nil
	}
	return &Evidence{State: Stale, Source: j.reading.id, Changed: j.reading.current().Observed, Pod: j.pod.Name, Since: j.witness()}
}

func revisionOf(s *model.Snapshot, p *model.Pod) *model.Revision {
	for i := range s.Revisions {
		if s.Revisions[i].Name == p.Revision {
			return &s.Revisions[i]
		}
	}
	return nil
}

// Wanted is the revision whose template is the workload's: the oldest, where
// several are equal, as the Deployment controller picks it. Nil: not made yet.
func Wanted(revisions []model.Revision) *model.Revision {
	var oldest *model.Revision
	for i := range revisions {
		r := &revisions[i]
		if r.Wanted && (oldest == nil || r.Created.Before(oldest.Created) || r.Created.Equal(oldest.Created) && r.Name < oldest.Name) {
			oldest = r
		}
	}
	return oldest
}

func newestChange(all []reading) Evidence {
	var e Evidence
	for i := range all {
		if c := all[i].current(); e.Changed.IsZero() || c.Observed.After(e.Changed) {
			e.Source, e.Changed = all[i].id, c.Observed
		}
	}
	return e
}

// Latest is the time of the newest change in scope and every source behind it,
// newest first: what status.latestObservedDependencyChange and causes say. Zero: nothing is
// on record, or nobody saw when any came.
func Latest(s *model.Snapshot, now time.Time) (time.Time, []model.Cause) {
	all := readings(s, now)
	var causes []model.Cause
	for i := range all {
		if all[i].record != nil && model.Known(all[i].current().Observed) { // a manual request is no source; absence at first sight no change
			causes = append(causes, model.Cause{Source: all[i].id, ChangedAt: all[i].current().Observed})
		}
	}
	return model.Told(newestChange(all).Changed), causes
}

// Earliest is Latest as early as that may have been, KICK's clock: what was found when its
// record was made is dated by the API server, whose clock may be ahead by the allowance.
func Earliest(s *model.Snapshot, now time.Time) time.Time {
	var newest time.Time
	for _, r := range readings(s, now) {
		at := r.current().Observed
		if r.current().Baseline {
			at = at.Add(-s.Settings.ClockAllowance)
		}
		newest = model.Later(newest, at)
	}
	return model.Told(newest)
}

// Written is the newest second in which any change in scope was written, API server's
// clock: what was created later has read it. Zero: nothing is on record.
func Written(s *model.Snapshot, now time.Time) time.Time {
	var newest time.Time
	for _, r := range readings(s, now) {
		newest = model.Later(newest, r.current().Written)
	}
	return newest
}
