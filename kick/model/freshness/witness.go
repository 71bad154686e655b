package freshness

import (
	"slices"
	"time"

	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/discover"
)

// reading is one source as the pods of one workload read it.
type reading struct {
	id       model.Key
	required bool
	uses     []discover.Use
	history  []model.Content // as this consumer sees it, oldest first, never empty
	record   *model.Record   // nil for a change only a person knows of
	seenLive time.Time
}

func (r *reading) current() model.Content { return r.history[len(r.history)-1] }

// concerns reports whether a pod can carry the source at all. What only a person knows of
// concerns every pod.
func (r *reading) concerns(p *model.Pod) bool { return r.record == nil || p.Reads(r.id) }

// readings lists what can make the workload stale: the sources on record, and
// the change a manual request speaks of, once it has come.
func readings(s *model.Snapshot, now time.Time) []reading {
	var all []reading
	for i := range s.Dependencies {
		d := &s.Dependencies[i]
		if d.Record == nil || !d.InScope {
			continue
		}
		history := d.Record.HistoryFor(d.Required())
		if len(history) == 0 { // never existed: there is nothing to be stale against
			continue
		}
		all = append(all, reading{
			id: d.Source.ID, required: d.Required(), uses: d.Uses,
			history: history, record: d.Record, seenLive: d.SeenLive,
		})
	}
	if r := s.Request; r != nil && r.Manual && r.Ahead(now).IsZero() {
		at := r.ChangeTime()
		all = append(all, reading{
			id:      r.ID,
			history: []model.Content{{Observed: at, Written: at}}, // no LastWrite: no server dated it
		})
	}
	return all
}

// startedAfter is the rule for creation times: the API server's whole seconds on
// both sides. At Baseline the same second counts as fresh, later changes need a
// later second.
func startedAfter(witness time.Time, c model.Content) bool {
	if c.Baseline {
		return !witness.Before(c.Written)
	}
	return witness.After(c.Written)
}

// stamped is KICK's own witness: the revision carries the stamp KICK wrote in
// answer to this change or a later one. A stepped clock could make an old stamp
// look new, so the revision must also not be older than the write, if its date is
// one that can be.
func stamped(stamp model.Stamp, rev *model.Revision, c model.Content) bool {
	return rev != nil && stamp.ByKick() && rev.Stamp == stamp.Raw &&
		!stamp.At.Before(c.Observed) && (!rev.Created.Before(c.LastWrite) || c.LastWrite.After(c.Written))
}

// judge is one pod against one reading.
type judge struct {
	reading   *reading
	stamp     model.Stamp
	revision  *model.Revision
	pod       *model.Pod
	allowance time.Duration
}

// fresh reports whether the pod provably read the content that stands now: under
// its present entry, or under an earlier entry of equal content.
func (j *judge) fresh() bool {
	history := j.reading.history
	want := j.reading.current().Seal
	for i, c := range slices.Backward(history) {
		if c.Seal != want || !j.began(c) {
			continue
		}
		if i == len(history)-1 {
			return true
		}
		if j.readBefore(c.KnownUntil) {
			mark.Hit(mark.FreshByEarlierContent)
			return true
		}
	}
	return false
}

// began reports whether every reading container started after the content's begin.
func (j *judge) began(c model.Content) bool {
	switch {
	case startedAfter(j.witness(), c):
		if !startedAfter(j.floor(), c) {
			mark.Hit(mark.FreshByContainerRestart)
		}
	case stamped(j.stamp, j.revision, c):
		mark.Hit(mark.FreshByStamp)
	case j.neededAppearance(c):
		mark.Hit(mark.FreshByAppearance)
	default:
		return false
	}
	return true
}

// witness is the oldest lower bound among the containers that read the source.
func (j *judge) witness() time.Time {
	floor := j.floor()
	oldest := time.Time{}
	for i := range j.pod.Containers {
		c := &j.pod.Containers[i]
		if c.StartedAt.IsZero() || !j.reads(c.Name) {
			continue
		}
		start := floor
		if c.Restarted && j.envOnly(c.Name) {
			start = model.Later(start, c.FinishedAt.Add(-j.allowance))
		}
		if oldest.IsZero() || start.Before(oldest) {
			oldest = start
		}
	}
	if oldest.IsZero() {
		return floor
	}
	return oldest
}

// floor is before anything in the pod can have been read: its creation, that of its
// revision, and when the kubelet took it on.
func (j *judge) floor() time.Time {
	floor := model.Later(j.pod.Created, j.pod.Accepted.Add(-j.allowance))
	if j.revision != nil {
		floor = model.Later(floor, j.revision.Created)
	}
	return floor
}

// neededAppearance is the witness of a required source that did not exist before:
// a container that first started at or after its creation could not have started
// without it. If the source existed earlier still, the container may have read
// that content and shown its start late, so the allowance is added.
func (j *judge) neededAppearance(c model.Content) bool {
	appeared, first := appearance(j.reading.record, c)
	if !j.reading.required || !appeared {
		return false
	}
	earliest := c.LastWrite
	if earliest.After(c.Written) { // a date in the future
		earliest = c.Written
	}
	if !first {
		earliest = earliest.Add(j.allowance)
	}
	started := false
	for i := range j.pod.Containers {
		k := &j.pod.Containers[i]
		if !j.reads(k.Name) || k.StartedAt.IsZero() {
			continue
		}
		if k.Restarted || k.StartedAt.Before(earliest) || j.mountedEarly(k.Name) {
			return false
		}
		started = true
	}
	return started
}

// mountedEarly reports whether the container also reads the source from a volume that
// can do without it: that was filled before, with nothing.
func (j *judge) mountedEarly(container string) bool {
	for i := range j.reading.uses {
		u := &j.reading.uses[i]
		if (u.Container == container || u.Container == "") && !u.Env && u.Optional {
			return true
		}
	}
	return false
}

// appearance reports whether the content followed an absence, and whether the
// source had never existed before as far as the record goes.
func appearance(r *model.Record, c model.Content) (appeared, first bool) {
	if r == nil {
		return false, false
	}
	first = true
	for i, entry := range r.History {
		if entry.Seal == c.Seal && entry.Observed.Equal(c.Observed) && entry.LastWrite.Equal(c.LastWrite) {
			return i > 0 && r.History[i-1].Absent(), first
		}
		first = first && entry.Absent()
	}
	return false, false
}

// readBefore reports whether every reading container had last started well before t.
func (j *judge) readBefore(t time.Time) bool {
	read := false
	for i := range j.pod.Containers {
		c := &j.pod.Containers[i]
		last := model.Later(c.StartedAt, c.FinishedAt) // the latter if it crashed and does not run again yet
		if !j.reads(c.Name) {
			continue
		}
		if last.IsZero() || !last.Add(j.allowance).Before(t) {
			return false
		}
		read = true
	}
	return read
}

// reads reports whether a container reads the source. A volume that no container
// mounts, and a change only a person knows of, concern all of them.
func (j *judge) reads(container string) bool {
	for i := range j.reading.uses {
		if name := j.reading.uses[i].Container; name == container || name == "" {
			return true
		}
	}
	return len(j.reading.uses) == 0
}

// envOnly reports whether the container reads the source through env alone, which
// is resolved anew at each start; a mounted volume may lag behind.
func (j *judge) envOnly(container string) bool {
	for i := range j.reading.uses {
		u := &j.reading.uses[i]
		if (u.Container == container || u.Container == "") && !u.Env {
			return false
		}
	}
	return true
}
