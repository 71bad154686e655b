package notify

import (
	"cmp"
	"slices"
	"time"

	"github.com/corewire/kick/kick/model/request"
)

// How often a transition is tried, and how long an endpoint is left alone in between:
// the first pause, by how much each further one is longer, and the longest that an
// endpoint may ask for.
const (
	Tries      = 3
	firstPause = 2 * time.Second
	growth     = 4
	MaxPause   = 5 * time.Minute
)

// lateness is by how much a transition may come to light after others that are younger:
// its write was on its way for so long, or another process's clock is that far behind.
// What was settled is remembered for that long.
const lateness = time.Minute

// maxSettled is how many of those there may be; the CRD says the same.
const maxSettled = 128

// Action is what follows from a verdict.
type Action string

// The actions.
const (
	None    Action = "None"    // nothing to do
	Report  Action = "Report"  // write Verdict.Status to the policy
	Deliver Action = "Deliver" // tell Verdict.Next
)

// Verdict is the answer of a pass.
type Verdict struct {
	Action Action
	Status Status // of Report
	Next   Transition
	// Dropped is how many transitions Status makes room of.
	Dropped int64
	// WakeAt is when there is something to do although nothing happens; zero: never.
	WakeAt time.Time
}

// Decide judges one policy. now is KICK's clock in microseconds.
func Decide(s *Snapshot, now time.Time) Verdict {
	p := s.Policy
	if p == nil {
		return Verdict{Action: None}
	}
	st := p.Status
	st.Generation, st.Ready = p.Generation, ready(p, now)
	st.Since = since(s, now)
	st.Settled = after(p.Status.Settled, st.Since)
	if !p.Suspended && st.Since.Before(p.Status.Since) {
		st.Settled = passed(s, st, now)
	}
	if !st.Equal(p.Status) {
		return Verdict{Action: Report, Status: st}
	}
	if p.Suspended || !st.Ready.Ready() {
		return Verdict{Action: None}
	}
	due, ahead := due(s, now)
	switch {
	case len(due) == 0:
		return Verdict{Action: None, WakeAt: ahead}
	case len(due) > s.Queue:
		return drop(st, due, len(due)-s.Queue)
	}
	return Verdict{Action: Deliver, Next: due[0]}
}

func ready(p *Policy, now time.Time) Condition {
	c := Condition{Reason: Validated, Message: "The policy is in force.", Since: p.Status.Ready.Since}
	switch {
	case p.Lacks != "":
		c.Reason, c.Message = ValidationFailed, p.Lacks+". Nothing is delivered until then; what happens meanwhile is delivered afterwards."
	case p.Suspended:
		c.Message = "Delivery is suspended: spec.suspend is true."
	}
	if c.Ready() != p.Status.Ready.Ready() || p.Status.Ready.Reason == "" {
		c.Since = now.Truncate(time.Second)
	}
	return c
}

// since is from when on transitions are told. A policy that is new, resumed, or edited
// while it was in force counts from now: what it did not want then it does not want
// later. The edit that mends a policy changes nothing about what waits.
func since(s *Snapshot, now time.Time) time.Time {
	p, fresh := s.Policy, now.Add(-s.Allowance)
	edited := p.Status.Generation != p.Generation && p.Status.Ready.Ready()
	switch before := p.Status.Since; {
	case p.Suspended:
		return time.Time{}
	case before.IsZero(), edited && fresh.After(before), before.After(now.Add(s.Allowance + time.Microsecond)): // the last: a clock was set back
		return fresh
	default:
		return before
	}
}

// after are the marks that do not lie before a time.
func after(all []Mark, t time.Time) []Mark {
	if t.IsZero() {
		return nil
	}
	var left []Mark
	for _, m := range all {
		if !m.At.Before(t) {
			left = append(left, m)
		}
	}
	return left
}

// passed are the marks of a policy whose Since moves back with a clock that was set back:
// what lay before Since is settled still, if it lies ahead of the clock; anything else
// may have come about since. Of very many the oldest may be told again.
func passed(s *Snapshot, st Status, now time.Time) []Mark {
	all := slices.Clone(st.Settled)
	for i := range s.Transitions {
		t := &s.Transitions[i]
		if t.At.Before(s.Policy.Status.Since) && t.At.After(now) && slices.Contains(s.Policy.Phases, t.Phase) {
			all = append(all, t.Mark())
		}
	}
	slices.SortStableFunc(all, func(a, b Mark) int { return a.At.Compare(b.At) })
	return all[max(len(all)-maxSettled, 0):]
}

// due are the transitions to tell, oldest first. One that lies ahead of the clock, which
// was set back, waits for its time, the first of them for ahead: Since follows what is
// told, and must not lie ahead itself.
func due(s *Snapshot, now time.Time) (all []Transition, ahead time.Time) {
	p, latest := s.Policy, now.Add(s.Allowance)
	for i := range s.Transitions {
		t := &s.Transitions[i]
		if t.At.Before(p.Status.Since) || !slices.Contains(p.Phases, t.Phase) || slices.Contains(p.Status.Settled, t.Mark()) {
			continue
		}
		if t.At.After(latest) {
			if at := t.At.Add(-s.Allowance); ahead.IsZero() || at.Before(ahead) {
				ahead = at
			}
			continue
		}
		all = append(all, *t)
	}
	slices.SortStableFunc(all, func(a, b Transition) int { // of one request they are in order
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Request.Name, b.Request.Name))
	})
	return all, ahead
}

// drop makes room: the oldest n, and whatever was reached in the same instant as the
// last of them, are not told.
func drop(st Status, due []Transition, n int) Verdict {
	last := due[n-1].At
	for n < len(due) && due[n].At.Equal(last) {
		n++
	}
	st.Since = last.Add(time.Microsecond)
	st.Settled = after(st.Settled, st.Since)
	st.Dropped += int64(n)
	return Verdict{Action: Report, Status: st, Dropped: int64(n)}
}

// Pause is how long to wait after a try that failed, the n-th of a transition; 0: it is
// given up.
func Pause(n int, o Outcome) time.Duration {
	if o.Final || n >= Tries {
		return 0
	}
	pause := firstPause
	for range n - 1 {
		pause *= growth
	}
	return min(max(pause, o.After), MaxPause)
}

// Settle is the status after the oldest transition that was due was delivered or given
// up.
func Settle(st Status, m Mark, o Outcome, now time.Time) Status {
	second := now.Truncate(time.Second)
	if o.Delivered {
		st.Delivered, st.LastDelivery, st.LastError = st.Delivered+1, second, ""
	} else {
		st.Failed, st.LastFailure, st.LastError = st.Failed+1, second, o.Why
	}
	settled := append(slices.Clone(st.Settled), m)
	slices.SortStableFunc(settled, func(a, b Mark) int { return a.At.Compare(b.At) })
	if excess := len(settled) - maxSettled; excess > 0 {
		st.Since = settled[excess-1].At.Add(time.Microsecond)
	}
	if moved := earlier(m.At, now).Add(-lateness); moved.After(st.Since) {
		st.Since = moved
	}
	st.Settled = after(settled, st.Since)
	return st
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Terminal are the phases that are told where a policy does not say which.
func Terminal() []request.Phase {
	var all []request.Phase
	for _, p := range request.Phases {
		if p.Terminal() {
			all = append(all, p)
		}
	}
	return all
}
