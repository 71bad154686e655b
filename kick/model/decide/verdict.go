package decide

import (
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// Action is the one write that follows from a verdict.
type Action string

// The actions.
const (
	None   Action = "None"   // nothing to write
	Open   Action = "Open"   // create the request
	Status Action = "Status" // write Verdict.Status to the request
	Stamp  Action = "Stamp"  // patch the template with Verdict.StampAt
)

// Outcome is what a rule says.
type Outcome string

// The outcomes of a rule.
const (
	Pass  Outcome = "pass"  // nothing against a restart
	Wait  Outcome = "wait"  // not now
	End   Outcome = "end"   // the request is settled
	Act   Outcome = "act"   // restart now
	Watch Outcome = "watch" // the restart is under way
)

// Step is one rule's answer with the facts it used. Package explain turns it into
// a sentence; fields that do not apply are zero.
type Step struct {
	Rule    string
	Outcome Outcome
	Phase   request.Phase  // where the request stands if this step decides
	Reason  request.Reason // empty when the rule has nothing to say
	Object  model.Key      // what it is about: a source, a policy, a workload
	At      time.Time      // when that happened
	Pod     string         // the pod that proves it
	Since   time.Time      // when that pod read its sources, at the earliest
	Until   time.Time      // when the wait ends by time, as it is told
	Taken   bool           // the stamp is gone or is another's
	Manager string         // who owns the stamp then; empty: nobody
	Limit   int            // how many are allowed
	Setting string         // the flag or field that decided
	Detail  string         // the rest, already in words
	wakeOn  []model.WakeOn
	look    time.Time // when to look again where the status does not say so; zero: when it says
}

// wakeAt is when the step asks to be looked at again; zero: not by time.
func (s *Step) wakeAt() time.Time {
	if s.look.IsZero() {
		return s.Until
	}
	return s.look
}

// Verdict is the answer of a pass.
type Verdict struct {
	Phase  request.Phase
	Action Action
	Status model.RequestStatus // for Action Status; Message is left to package explain
	// StampAt is the value for Action Stamp: UTC, microseconds, later than every
	// change it answers and than the stamp before.
	StampAt time.Time
	// WakeAt and WakeOn end the wait. A verdict that waits carries at least one.
	WakeAt time.Time
	WakeOn []model.WakeOn
	// Decisive is the step that named the phase; nil when there is no request and
	// none is needed.
	Decisive *Step
	Trail    []Step
}

// Valid reports whether the verdict keeps the rule that every wait has a wake-up.
func (v *Verdict) Valid() bool {
	return !v.Phase.Waiting() && v.Phase != request.Executing || !v.WakeAt.IsZero() || len(v.WakeOn) > 0
}
