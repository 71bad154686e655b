package decide

import (
	"time"

	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/freshness"
	"github.com/corewire/kick/kick/model/request"
)

// facts is a snapshot with what every rule needs to know of it.
type facts struct {
	*model.Snapshot
	now      time.Time
	policy   *model.Policy // the one that applies; nil: none selects the workload
	evidence freshness.Evidence
	latest   time.Time // newest change in scope, KICK's clock; zero: none on record
	causes   []model.Cause
}

func newFacts(s *model.Snapshot, now time.Time) *facts {
	f := &facts{Snapshot: s, now: now, evidence: freshness.Judge(s, now)}
	f.latest, f.causes = freshness.Latest(s, now)
	if len(s.Policies) > 0 {
		f.policy = &s.Policies[0]
	}
	return f
}

// openedAt is when the request's present episode began, KICK's clock. Before the first
// status write that is its creation, by the API server's clock as it stands now.
func (f *facts) openedAt() time.Time {
	if at := f.Request.Status.OpenedAt; !at.IsZero() {
		return at
	}
	return f.shown(f.Request.OpenedAt(f.Settings.ClockAllowance))
}

// shown is a time of the API server's clock as KICK's clock shows it, to the second that the
// API server's is known to.
func (f *facts) shown(at time.Time) time.Time { return at.Add(f.now.Sub(f.Server(f.now))) }

// created is when the request was made, or earlier: no stamp of ours may be older. Where
// KICK's clock is behind it is by that clock, which knows the API server's to the second.
func (f *facts) created() time.Time {
	at := f.Request.Created
	if !f.now.Before(at) {
		return at
	}
	return earlier(f.now, f.shown(at).Add(-time.Second))
}

// lastRestart is KICK's own newest stamp, wherever it is still to be seen, as KICK's clock
// shows it. That of a restart in place is a time of the API server's clock; as long as the two
// differ by less than the allowance, restartBlur makes up for it.
func (f *facts) lastRestart() time.Time {
	last := f.Request.Status.RolloutStart
	if s := f.Workload.Stamp; s.ByKick() && s.At.After(last) {
		last = s.At
	}
	if f.inPlace() != nil && !last.IsZero() && f.now.Sub(f.Server(f.now)).Abs() > f.Settings.ClockAllowance {
		return f.shown(last)
	}
	return last
}

// restartBlur is how much later than its stamp the last restart may have been made.
func (f *facts) restartBlur() time.Duration {
	if f.inPlace() == nil {
		return 0
	}
	return blur + f.Settings.ClockAllowance
}

// until is the end of a wait of the given length that began at some stored time.
// A begin further in the future than clocks may differ is what a stepped clock
// leaves behind: the wait then counts as over, so that none is ever longer than
// its own length and the allowance. The end does not depend on now: a status that
// shows it stays the same from pass to pass.
func (f *facts) until(begin time.Time, length time.Duration) (end time.Time, over bool) {
	end = begin.Add(length)
	left := end.Sub(f.now)
	if left <= 0 {
		return time.Time{}, true
	}
	if left > length+f.Settings.ClockAllowance {
		mark.Hit(mark.SteppedClockWaitOver)
		return time.Time{}, true
	}
	return end, false
}

// deadline is when a rollout that last moved at some time, as the API server and
// the nodes date it, counts as stuck: judged by the API server's clock, told by
// KICK's. A begin in the future, which a stepped clock leaves behind, means that it
// has only begun.
func (f *facts) deadline(begin time.Time) (end time.Time, over bool) {
	length := f.rolloutTimeout()
	left := min(begin.Add(length).Sub(f.Server(f.now)), length)
	return f.now.Add(left), left <= 0
}

// rolloutTimeout is the policy's, if exactly one selects the workload, else the
// operator's.
func (f *facts) rolloutTimeout() time.Duration {
	if len(f.Policies) == 1 && f.Policies[0].RolloutTimeout > 0 {
		return f.Policies[0].RolloutTimeout
	}
	return f.Settings.RolloutTimeout
}

// timedOut is a step that ends a restart whose rollout made no progress.
func (f *facts) timedOut(s Step) Step {
	s.Outcome, s.Phase, s.Reason = End, request.Failed, request.RolloutTimeout
	s.Setting = "--rollout-timeout"
	if f.rolloutTimeout() != f.Settings.RolloutTimeout {
		s.Setting = "spec.restart.rolloutTimeout of " + f.Policies[0].ID.String()
	}
	return s
}

// stamp is the value a restart writes: not before now or any change it answers,
// and later than the stamp that stands and the opening of the request.
func (f *facts) stamp() time.Time {
	if f.inPlace() != nil {
		return f.Server(f.now).UTC().Truncate(time.Second)
	}
	at := f.now
	if f.latest.After(at) {
		at = f.latest
	}
	for _, before := range []time.Time{f.Workload.Stamp.At, f.openedAt()} {
		if !before.IsZero() && !at.After(before) {
			at = before.Add(time.Microsecond)
		}
	}
	return at.UTC().Round(0).Truncate(time.Microsecond)
}
