package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/corewire/kick/kick/events"
	"github.com/corewire/kick/kick/explain"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
)

// standing is where a workload stands now, its reason and the sentence for it: those of
// its request, or what it means that there is none.
func standing(s *gather.Standing) (state, reason, message string) {
	r := s.Request
	if r == nil {
		if s.Workload.Rollout.Rolling {
			step := decide.Step{Reason: request.RolloutInProgress, Object: s.Workload.ID}
			return stateRolling, string(step.Reason), explain.Step(&step)
		}
		return stateFresh, string(request.Fresh), explain.Step(&decide.Step{Reason: request.Fresh})
	}
	state, reason, message = stateOf(r.Status.Phase), string(r.Status.Reason), r.Status.Message
	if reason == "" {
		step := opening(r)
		reason, message = string(step.Reason), explain.Step(&step)
	}
	return state, reason, message
}

func phaseOf(r *model.Request) string { return string(cmp.Or(r.Status.Phase, request.Pending)) }

func stateOf(p request.Phase) string {
	switch {
	case p.Waiting():
		return stateWaiting
	case p == request.Executing:
		return stateRolling
	case p == request.Failed:
		return stateFailed
	case p == request.DryRun:
		return stateDryRun
	case p.Terminal():
		return stateFresh
	default:
		return statePending
	}
}

// since is when the request came into its phase, as far as its status tells.
func since(s *gather.Standing) time.Time {
	r := s.Request
	switch {
	case r == nil:
		return time.Time{}
	case r.Status.Phase.Terminal():
		return r.Status.CompletedAt
	case r.Status.Phase == request.Executing:
		return r.Status.RolloutStart
	default:
		return r.OpenedAt(0)
	}
}

// opening is the step that a request begins with.
func opening(r *model.Request) decide.Step {
	step := decide.Step{Reason: request.Opened, Object: r.ID, At: r.ChangeTime()}
	if len(r.Status.Causes) > 0 && !r.Manual { // a person asks whatever changed
		step.Object, step.At = r.Status.Causes[0].Source, r.Status.Causes[0].ChangedAt
	}
	return step
}

// history is everything on record about a workload, oldest first.
func history(s *gather.Standing) []Event {
	all := slices.Concat(changes(s), restarts(s), told(s), current(s))
	slices.SortStableFunc(all, func(a, b Event) int { return a.At.Compare(b.At) })
	return all
}

// changes are those of the sources that the workload reads.
func changes(s *gather.Standing) (all []Event) {
	for i := range s.Sources {
		d := &s.Sources[i]
		if d.Record == nil || !d.InScope {
			continue
		}
		for i, c := range d.Record.History {
			if !model.Known(c.Observed) { // a past that nobody saw, which has no place in time
				continue
			}
			if i > 0 && c.Observed.Equal(d.Record.History[i-1].Observed) { // it came back: one change, as before
				continue
			}
			e := Event{At: c.Observed, Type: typeChange, Reason: "Changed", Source: sourceName(d.Record.ID), Message: explain.Content(d.Record.ID, c)}
			if c.Baseline {
				e.Type, e.Reason = typeEvent, "Baseline"
			}
			all = append(all, e)
		}
	}
	return all
}

// restarts are the stamps that the workload and its revisions carry, each once.
func restarts(s *gather.Standing) (all []Event) {
	seen := map[int64]bool{}
	add := func(at time.Time, manager string) {
		if at.IsZero() || seen[at.UnixMicro()] {
			return
		}
		seen[at.UnixMicro()] = true
		all = append(all, Event{At: at.UTC(), Type: typeRestart, Reason: "Restarted", Message: explain.Stamped(at, manager)})
	}
	add(s.Workload.Stamp.At, s.Workload.Stamp.Manager)
	if r := s.Request; r != nil {
		add(r.Status.RolloutStart, model.FieldManager)
	}
	for _, r := range s.Rollouts {
		if r.Stamp.IsZero() || r.Created.Before(r.Stamp.Truncate(time.Second)) {
			all = append(all, Event{At: r.Created, Type: typeEvent, Reason: "Revision", Message: explain.Revision(r.Revision, r.Created)})
		}
		add(r.Stamp, "")
	}
	return all
}

// byReason are the types of the events that KICK sends.
var byReason = map[string]string{
	events.WaitingForSchedule: typeWaiting, events.WaitingForGate: typeWaiting, events.WaitingForGitOpsSync: typeWaiting,
	events.WaitingForRollout: typeWaiting, events.OwnerUnknown: typeWaiting, events.OwnerAmbiguous: typeWaiting,
	events.KickSucceeded: typeDone, events.KickNoLongerRequired: typeDone, events.KickDryRun: typeDone,
	events.KickFailed: typeFailure, events.KickStarted: typeRestart,
}

// told are the events that were sent about the workload's requests.
func told(s *gather.Standing) (all []Event) {
	for _, e := range s.Told {
		kind := cmp.Or(byReason[e.Reason], typeEvent)
		if kind == typeRestart {
			kind = typeEvent // the stamp itself is the restart
		}
		all = append(all, Event{At: e.At.UTC(), Type: kind, Reason: e.Reason, Message: e.Note})
	}
	return all
}

// current is what the request's status says, but for what an event has told.
func current(s *gather.Standing) (all []Event) {
	r := s.Request
	if r == nil {
		return nil
	}
	opened := opening(r)
	all = append(all, Event{At: r.OpenedAt(0), Type: typeRequest, Reason: string(opened.Reason), Message: explain.Step(&opened)})
	st := r.Status
	already := slices.ContainsFunc(s.Told, func(t gather.Told) bool {
		return t.Note == st.Message && !t.At.Before(r.OpenedAt(0).Truncate(time.Second))
	})
	if st.Message == "" || already || st.Phase == request.Executing {
		return all
	}
	e := Event{At: model.Later(r.OpenedAt(0), since(s)), Reason: string(st.Reason), Message: st.Message}
	switch stateOf(st.Phase) {
	case stateFailed:
		e.Type = typeFailure
	case stateFresh, stateDryRun:
		e.Type = typeDone
	case stateWaiting:
		e.Type = typeWaiting
	default:
		return all
	}
	return append(all, e)
}

// stateAfter is the state that an event leaves a workload in; empty: the one it was in.
func stateAfter(e *Event) string {
	if e.Type == typeDone && (e.Reason == events.KickDryRun || e.Reason == string(request.DryRunOnly)) {
		return stateDryRun // its pods are stale still
	}
	return after[e.Type]
}

// after is the same, by the type of the event alone.
var after = map[string]string{
	typeChange: statePending, typeRequest: statePending, typeWaiting: stateWaiting, typeRestart: stateRolling,
	typeDone: stateFresh, typeFailure: stateFailed,
}

// bands are the states of a workload over time. What events tell may be incomplete, as
// they are kept for an hour; where it stands now is not, and since when if begin says so.
func bands(created time.Time, all []Event, state string, begin time.Time) []Band {
	out := []Band{{From: created, State: stateFresh}}
	turn := func(at time.Time, state string) {
		if last := &out[len(out)-1]; last.State != state {
			at = model.Later(at, last.From)
			last.To = &at
			out = append(out, Band{From: at, State: state})
		}
	}
	newest := created
	for i, e := range all {
		if e.At.Before(created) {
			continue // of its sources, before it was there
		}
		newest = e.At
		next := stateAfter(&e)
		if e.Type == typeRestart && !ended(all[i+1:], state) {
			next = stateFresh // when its rollout ended is not on record any more
		}
		if next != "" {
			turn(e.At, next)
		}
	}
	if begin.IsZero() {
		begin = newest
	}
	turn(begin, state)
	return slices.DeleteFunc(out, func(b Band) bool { return b.To != nil && !b.To.After(b.From) })
}

// ended reports whether the end of a restart is on record, or still to come.
func ended(later []Event, state string) bool {
	for _, e := range later {
		if next := stateAfter(&e); next != "" {
			return next != statePending
		}
	}
	return state == stateRolling
}
