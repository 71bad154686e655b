package timeline

import (
	"time"

	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model"
)

// Kinds of events. Each has a shape and a colour in the UI.
const (
	typeChange  = "change"  // a source's content, as the ledger has it
	typeRequest = "request" // a restart is wanted
	typeWaiting = "waiting" // something stands against it
	typeRestart = "restart" // a stamp on the workload's template
	typeDone    = "done"    // nothing is left to do
	typeFailure = "failure" // the restart did not come to its end
	typeEvent   = "event"   // anything else that is on record
)

// States of a workload, as its band shows them.
const (
	stateFresh   = "fresh"   // nothing is to be done
	statePending = "pending" // a change or a request is there and not judged yet
	stateWaiting = "waiting" // a restart is wanted and may not be made now
	stateRolling = "rolling" // KICK's restart, or another rollout, is under way
	stateFailed  = "failed"  // the last restart failed
	stateDryRun  = "dry-run" // it would have been restarted
)

// Lane is one workload over time.
type Lane struct {
	Namespace string   `json:"namespace"`
	Kind      string   `json:"kind"`
	Name      string   `json:"name"`
	Policies  []string `json:"policies"`

	// State is where it stands, Message the sentence that says why, and Reason its one word.
	State   string `json:"state"`
	Phase   string `json:"phase,omitempty"` // of its request; empty: there is none
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Request string `json:"request,omitempty"`
	// LooksAt is when a waiting request is judged again at the latest.
	LooksAt *time.Time `json:"looksAgainAt,omitempty"`

	Created time.Time `json:"created"`
	Bands   []Band    `json:"bands"`  // from its first to now, without gaps
	Events  []Event   `json:"events"` // oldest first
	Dropped int       `json:"eventsDropped,omitempty"`
}

// Band is a span of time in one state; without an end it lasts.
type Band struct {
	From  time.Time  `json:"from"`
	To    *time.Time `json:"to,omitempty"`
	State string     `json:"state"`
}

// Event is something that happened to a workload, as far as it is on record.
type Event struct {
	At      time.Time `json:"at"`
	Type    string    `json:"type"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Source  string    `json:"source,omitempty"` // "Secret db": what changed
}

// Source is what a workload's template reads.
type Source struct {
	Kind     string     `json:"kind"`
	Name     string     `json:"name"`
	Required bool       `json:"required"`
	Present  bool       `json:"present"`
	InScope  bool       `json:"inScope"` // of the policy's dependencySelector
	Changed  *time.Time `json:"changedAt,omitempty"`
}

// mostEvents is how many events of one workload are shown, the newest.
const mostEvents = 200

// laneOf puts what is on record about a workload in order.
func laneOf(s *gather.Standing) Lane {
	id := s.Workload.ID
	l := Lane{Namespace: id.Namespace, Kind: id.Kind, Name: id.Name, Policies: policyNames(s), Created: s.Workload.Created}
	l.State, l.Reason, l.Message = standing(s)
	if r := s.Request; r != nil {
		l.Phase, l.Request, l.LooksAt = phaseOf(r), r.ID.Name, some(r.Status.RequeueAt)
	}
	l.Events = history(s)
	if more := len(l.Events) - mostEvents; more > 0 {
		l.Dropped, l.Events = more, l.Events[more:]
	}
	l.Bands = bands(l.Created, l.Events, l.State, since(s))
	return l
}

func policyNames(s *gather.Standing) []string {
	names := make([]string, len(s.Policies))
	for i := range s.Policies {
		names[i] = s.Policies[i].ID.Name
	}
	return names
}

func sourcesOf(s *gather.Standing) []Source {
	out := make([]Source, 0, len(s.Sources))
	for i := range s.Sources {
		d := &s.Sources[i]
		one := Source{Kind: d.Kind, Name: d.Name, Required: d.Required(), Present: d.Source.Present, InScope: d.InScope}
		if d.Record != nil {
			one.Changed = some(model.Told(d.Record.Current().Observed))
		}
		out = append(out, one)
	}
	return out
}

func sourceName(k model.Key) string { return k.Kind + " " + k.Name }

func some(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
