package check

import (
	"slices"
	"time"

	"github.com/corewire/kick/kick/api/secretsstore"
	"github.com/corewire/kick/sim/cluster"
)

// roundLength is how many polls of the driver a round of a class lasts at most, and how many
// of them a class that flaps has to be quiet (docs/csi.md).
const roundLength = 5

// turn is a pod that tells of other versions of a class than it told of before.
type turn struct {
	at    time.Time
	pod   string
	came  time.Time // when the pod told of the class first
	noted time.Time // when the first record landed that can tell of it; zero: none did
	// doubt says that it may have been no turn for KICK, or one that it dates otherwise:
	// the pod was not on record, or turned again before anybody wrote that down.
	doubt bool
}

// teller is a pod that tells of a class.
type teller struct {
	came    time.Time
	noted   bool // it is on record
	rewrote bool // its status was written again before it was on record
}

// tells notes what a status object tells of a class.
func (h *history) tells(now time.Time, ev cluster.Event) {
	o := ev.Object.(*secretsstore.SecretProviderClassPodStatus)
	old, _ := ev.Old.(*secretsstore.SecretProviderClassPodStatus)
	pod := o.Status.TargetPath
	t, known := h.tellers[pod]
	switch {
	case ev.Type == cluster.Deleted:
		h.unsure(pod)
		return
	case ev.Type == cluster.Added || old == nil || old.Status.TargetPath != pod:
		if old != nil {
			h.unsure(old.Status.TargetPath)
		}
		if !known {
			h.met(pod, teller{came: now})
		}
		return
	}
	if !t.noted {
		t.rewrote = true
		h.met(pod, t)
		return
	}
	if slices.Equal(old.Status.Objects, o.Status.Objects) {
		return
	}
	h.turns = append(h.turns, turn{at: now, pod: pod, came: t.came, doubt: h.unsure(pod)})
}

// unsure takes the turns of a pod that nobody has noted yet for such as nobody may ever see:
// it turns again, or tells no more. It reports whether there are any.
func (h *history) unsure(pod string) (some bool) {
	h.turns = slices.Clone(h.turns)
	for i := range h.turns {
		if h.turns[i].pod == pod && h.turns[i].noted.IsZero() {
			h.turns[i].doubt, some = true, true
		}
	}
	return some
}

func (h *history) met(pod string, t teller) {
	if h.tellers == nil {
		h.tellers = map[string]teller{}
	}
	h.tellers[pod] = t
}

// notedBy takes a record that landed, by one who had seen what was told before an instant. A new
// record begins anew; one that is sealed anew may date what came before it otherwise.
func (h *history) notedBy(now, seen time.Time, created, sealed bool) {
	h.turns = slices.Clone(h.turns)
	for i := range h.turns {
		if h.turns[i].noted.IsZero() && h.turns[i].at.Before(seen) {
			h.turns[i].noted = now
		}
	}
	doubt := sealed
	for pod, t := range h.tellers {
		if !t.noted && t.came.Before(seen) {
			doubt = doubt || t.rewrote
			h.tellers[pod] = teller{came: t.came, noted: true}
		}
	}
	switch {
	case created:
		h.turns = nil
	case doubt:
		h.turns = append(h.turns, turn{at: now, noted: now, doubt: true})
	}
}

// notedClass takes a write of the record of a class.
func (l *sourceLog) notedClass(now time.Time, ev cluster.Event, h *history, anew bool) {
	seen, sent := l.mounts[ev.Key]
	if delete(l.mounts, ev.Key); !sent {
		seen = now
	}
	if ev.Type == cluster.Deleted {
		h.unnoted()
		return
	}
	h.notedBy(now, seen, ev.Type == cluster.Added, anew)
}

// unnoted forgets what was on record.
func (h *history) unnoted() {
	h.turns = nil
	for pod, t := range h.tellers {
		h.tellers[pod] = teller{came: t.came}
	}
}

// turnsSeen are the turns that one knows of who has seen the records up to an instant.
func (h *history) turnsSeen(records time.Time) []turn {
	return slices.DeleteFunc(slices.Clone(h.turns), func(t turn) bool { return t.noted.IsZero() || !showed(records, t.noted) })
}

// apart reports that a round of the class certainly began after the turn i and no later than
// the turn j: a round ends when a pod turns that turned in it already, or came since, or
// turns much later.
func (c *Context) apart(turns []turn, i, j int) bool {
	from, to := turns[i], turns[j]
	if to.doubt {
		return false
	}
	again := slices.ContainsFunc(turns[i:j], func(t turn) bool { return !t.doubt && t.pod == to.pod })
	return again || to.came.After(from.noted) || to.at.Sub(from.noted) > roundLength*c.Rotation+c.Allowance
}

// begins reports that a round certainly began with a turn.
func (c *Context) begins(turns []turn, i int) bool {
	return !turns[i].doubt && (i == 0 || c.apart(turns, i-1, i))
}

// roundsSince counts the rounds that certainly began after an instant, at least.
func (c *Context) roundsSince(turns []turn, since time.Time) int {
	first := slices.IndexFunc(turns, func(t turn) bool { return t.at.After(since) })
	if first < 0 {
		return 0
	}
	rounds, last := 0, first
	if c.begins(turns, first) {
		rounds = 1
	}
	for i := first + 1; i < len(turns); i++ {
		if c.apart(turns, last, i) {
			rounds, last = rounds+1, i
		}
	}
	return rounds
}
