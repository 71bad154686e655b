package rotation

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/fingerprint"
	"github.com/corewire/kick/kick/model/observation"
)

// Limits of a record.
const (
	MaxMounts   = 1000 // pods followed per class
	MaxContents = 4    // contents kept per pod: the first and the newest
)

// roundLength is how many poll intervals of the driver a round lasts at most; a pod that
// changes later is of another one.
const roundLength = 5

// Input is one look at the pods of a class.
type Input struct {
	Now         time.Time     // KICK's clock, microseconds
	ServerNow   time.Time     // API server's clock; zero: not known, Now is taken for it
	Allowance   time.Duration // how far clocks may differ
	Interval    time.Duration // how often the driver looks for rotated secrets
	Key         fingerprint.Key
	Source      model.Source  // the class
	Record      *model.Record // nil: not on record
	Since       time.Time     // when KICK began to look, API server's clock
	NewestStamp time.Time     // newest stamp KICK left on any consumer
	Mounted     []model.Mounted
}

// Observe classifies the look and returns the record as it has to be, or nil when nothing
// is to be written. The given record is not changed.
func Observe(in Input) (observation.Kind, *model.Record) {
	if in.ServerNow.IsZero() {
		in.ServerNow = in.Now
	}
	kind, next := in.before()
	for _, s := range in.sorted() {
		kind = stronger(kind, in.look(next, s, kind == observation.Baseline))
	}
	if kind == observation.NoChange {
		return kind, nil
	}
	in.forget(next)
	next.Labels, next.SourceVersion = in.Source.Labels, cmp.Or(in.Source.ResourceVersion, next.SourceVersion)
	return kind, next
}

// before is the record before the look: a new one, or a copy, sealed by the present key.
func (in *Input) before() (observation.Kind, *model.Record) {
	if in.Record == nil {
		mark.Hit(mark.Baseline)
		return observation.Baseline, &model.Record{
			ID: in.Source.ID, Since: in.Since, KeyID: in.Key.ID(),
			History: []model.Content{{
				Seal: in.Key.Seal(fingerprint.Of(in.Source.ID.Kind, nil)), Baseline: true,
				Observed: model.UnknownPast, Written: model.UnknownPast, LastWrite: model.UnknownPast,
			}},
		}
	}
	next := *in.Record
	next.History, next.Mounts = slices.Clone(next.History), slices.Clone(next.Mounts)
	for i := range next.Mounts {
		next.Mounts[i].History = slices.Clone(next.Mounts[i].History)
	}
	if next.KeyID == in.Key.ID() {
		return observation.NoChange, &next
	}
	mark.Hit(mark.Rekeyed)
	in.rekey(&next)
	return observation.Rekeyed, &next
}

// rekey seals what each pod has now under the present key. What it had before cannot be
// compared any more; and a status that was written since it was recorded may tell of
// another content.
func (in *Input) rekey(r *model.Record) {
	r.KeyID = in.Key.ID()
	for _, s := range in.Mounted {
		m := r.Mount(s.Pod)
		if m == nil {
			continue
		}
		for i := range m.History {
			m.History[i].Seal = fingerprint.Unseen
		}
		if !s.LastWrite.After(m.Current().Written) {
			m.History[len(m.History)-1].Seal = in.Key.Seal(s.Digest)
		}
	}
}

func (in *Input) sorted() []model.Mounted {
	return slices.SortedStableFunc(slices.Values(in.Mounted), func(a, b model.Mounted) int { return cmp.Compare(a.Pod, b.Pod) })
}

// look takes what the status of one pod tells into the record.
func (in *Input) look(r *model.Record, s model.Mounted, adopting bool) observation.Kind {
	seal := in.Key.Seal(s.Digest)
	m := r.Mount(s.Pod)
	switch {
	case m == nil && len(r.Mounts) >= MaxMounts:
		return observation.NoChange
	case m == nil:
		return in.meet(r, s, seal, adopting)
	case m.Current().Seal == seal || older(s.Version, m.Version):
		return observation.NoChange
	}
	next := model.Content{Seal: seal, Observed: in.observed(r, m), Written: in.written(s, m.Current().Written)}
	kind := observation.Mounted
	if in.begins(r.Current(), m, next) {
		kind = begin(r, next, s)
	}
	m.Version, m.History = s.Version, append(m.History, next)
	if len(m.History) > MaxContents { // the first stays: it is what the containers read
		m.History = slices.Delete(m.History, 1, 2)
	}
	return kind
}

// meet puts a pod on record that was not. It is a baseline; but if its status was written
// again while nobody looked, that may have been a rotation, and its readers are looked at:
// they tell by their start.
func (in *Input) meet(r *model.Record, s model.Mounted, seal string, adopting bool) observation.Kind {
	first := model.Content{Seal: seal, Observed: in.Now, Written: in.written(s, time.Time{}), Baseline: adopting}
	r.Mounts = append(r.Mounts, model.Mount{Pod: s.Pod, Version: s.Version, History: []model.Content{first}})
	slices.SortFunc(r.Mounts, func(a, b model.Mount) int { return cmp.Compare(a.Pod, b.Pod) })
	again := s.LastWrite.After(s.Created.Add(in.Allowance)) && in.ServerNow.Sub(s.LastWrite) > in.Allowance
	if adopting || !again || !r.Current().Observed.Before(in.Now) {
		return observation.Mounted
	}
	mark.Hit(mark.RotationMissed)
	return begin(r, first, s)
}

// begin notes that a round began with a change of a pod.
func begin(r *model.Record, c model.Content, s model.Mounted) observation.Kind {
	mark.Hit(mark.RotationBegan)
	c.LastWrite = s.LastWrite
	r.History = append(r.History, c)
	r.History = r.History[max(len(r.History)-observation.MaxHistory, 0):]
	return observation.Relevant
}

// begins reports whether a change of a pod is the first of another round: the pod has
// changed in this one already, came after it had begun, or changed too late for it.
func (in *Input) begins(round model.Content, m *model.Mount, c model.Content) bool {
	first := &m.History[0]
	changed := len(m.History) > 1 && !m.Current().Observed.Before(round.Observed)
	since := first.Observed.After(round.Observed) || !first.Written.Before(round.Written)
	return round.Baseline || changed || since || c.Observed.Sub(round.Observed) > roundLength*in.Interval
}

// observed is now, later than the pod's change before, and for one that begins a round
// later than the round before and every stamp there is.
func (in *Input) observed(r *model.Record, m *model.Mount) time.Time {
	at := model.Later(in.Now, m.Current().Observed.Add(time.Microsecond))
	if !in.NewestStamp.IsZero() {
		at = model.Later(at, in.NewestStamp.Add(time.Microsecond))
	}
	return model.Later(at, r.Current().Observed.Add(time.Microsecond))
}

// written is when the status was written at the latest, API server's clock. A date that did
// not move on, or that no clock can show yet, says nothing of it.
func (in *Input) written(s model.Mounted, before time.Time) time.Time {
	if limit := in.ServerNow.Add(in.Allowance); s.LastWrite.After(limit) || !s.LastWrite.After(before) {
		mark.Hit(mark.ChangeDatedByKick)
		return model.Later(limit, before)
	}
	return s.LastWrite
}

// forget drops pods that have no status any more. It comes with other news only: that a
// pod is gone is worth no write.
func (in *Input) forget(r *model.Record) {
	stands := map[string]bool{}
	for i := range in.Mounted {
		stands[in.Mounted[i].Pod] = true
	}
	r.Mounts = slices.DeleteFunc(r.Mounts, func(m model.Mount) bool { return !stands[m.Pod] })
}

// older reports whether a cache shows a status that is older than the one on record.
func older(version, recorded string) bool {
	order, err := resourceversion.CompareResourceVersion(version, recorded)
	return err == nil && order < 0
}

// stronger is the kind of a look of which one pod says this and another that.
func stronger(a, b observation.Kind) observation.Kind {
	for _, k := range []observation.Kind{observation.Baseline, observation.Relevant, observation.Rekeyed, observation.Mounted} {
		if a == k || b == k {
			return k
		}
	}
	return observation.NoChange
}
