package freshness

import (
	"time"

	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/model/rotation"
)

// mounts reports whether pods tell by themselves what they have of the source.
func (r *reading) mounts() bool {
	return r.record != nil && r.id.Kind == discover.KindSecretProviderClass
}

// flapsUntil is when a class that flaps will have been quiet; zero: it does not.
func (r *reading) flapsUntil(interval time.Duration, now time.Time) time.Time {
	if !r.mounts() {
		return time.Time{}
	}
	return rotation.FlapsUntil(r.record, interval, now)
}

// missedMount names the change of a SecretProviderClass that a pod does not provably
// carry; nil: none. Only what the pod's own status tells counts: a pod of which nothing is
// on record mounts what it is given when it starts.
func (j *judge) missedMount() *Evidence {
	m := j.reading.record.Mount(j.pod.UID)
	if m == nil {
		return nil
	}
	for i := range j.pod.Containers {
		c := &j.pod.Containers[i]
		if c.StartedAt.IsZero() && c.FinishedAt.IsZero() || !j.reads(c.Name) || j.carries(m, c) {
			continue
		}
		mark.Hit(mark.StaleByMount)
		return &Evidence{State: Stale, Source: j.reading.id, Changed: m.Current().Observed, Pod: j.pod.Name, Since: j.witness()}
	}
	if len(m.History) > 1 {
		mark.Hit(mark.FreshByMount)
	}
	return nil
}

// carries reports whether a container read what the pod's files hold now. The driver
// writes files first and tells afterwards, so one that started after the status was
// written has read them. One that was restarted in place before that may have read
// anything in between; one that never was has read what the pod was first seen with.
func (j *judge) carries(m *model.Mount, c *model.Container) bool {
	now, first := m.Current(), &m.History[0]
	if c.Restarted && !j.subPath(c.Name) && c.FinishedAt.Add(-j.allowance).After(now.Written) {
		return true
	}
	if j.missedFirst(first, c) {
		return false
	}
	return len(m.History) == 1 || !c.Restarted && first.Seal == now.Seal
}

// missedFirst reports whether a pod was first seen with what may have been rotated already:
// its status was written after the container had started, while there was a record, and
// nobody looked.
func (j *judge) missedFirst(first *model.Content, c *model.Container) bool {
	return !first.Baseline && !c.StartedAt.IsZero() && j.pod.Created.After(j.reading.record.Created) &&
		first.Written.After(started(c).Add(j.allowance))
}

// started is when a container has started at the latest, its first run as far as that is
// known.
func started(c *model.Container) time.Time {
	if c.Restarted && !c.FinishedAt.IsZero() && c.FinishedAt.Before(c.StartedAt) {
		return c.FinishedAt
	}
	return c.StartedAt
}

// subPath reports whether the container mounts a path out of the volume, which is bound
// once.
func (j *judge) subPath(container string) bool {
	for i := range j.reading.uses {
		if u := &j.reading.uses[i]; (u.Container == container || u.Container == "") && u.SubPath {
			return true
		}
	}
	return false
}
