package notify

import (
	"slices"
	"strings"
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// Kind is the kind of a policy.
const Kind = "NotificationPolicy"

// Reason is the reason of condition Ready.
type Reason string

// The reasons.
const (
	Validated        Reason = "Validated"        // the policy is in force
	ValidationFailed Reason = "ValidationFailed" // the spec cannot be used, or a Secret or key is missing
)

// Condition is condition Ready.
type Condition struct {
	Reason  Reason // empty: not judged yet
	Message string
	Since   time.Time // whole seconds
}

// Ready reports whether the policy is in force.
func (c Condition) Ready() bool { return c.Reason == Validated }

// Policy is a NotificationPolicy in plain values.
type Policy struct {
	ID         model.Key
	UID        string
	Version    string
	Generation int64
	Suspended  bool
	Phases     []request.Phase
	// Lacks is what has to be mended before anything can be told; empty: nothing.
	Lacks  string
	Status Status
}

// Status is what a policy's status says. Times are KICK's clock, in microseconds where
// they are compared.
type Status struct {
	Generation   int64
	Since        time.Time // transitions before it are settled; zero: nothing is told
	Settled      []Mark    // transitions not before it that are, oldest first
	LastDelivery time.Time // whole seconds
	LastFailure  time.Time // whole seconds
	LastError    string
	Delivered    int64
	Failed       int64
	Dropped      int64
	Ready        Condition
}

// Equal reports whether writing the other status would change nothing.
func (s Status) Equal(o Status) bool {
	return s.Generation == o.Generation && s.Since.Equal(o.Since) && slices.Equal(s.Settled, o.Settled) &&
		s.LastDelivery.Equal(o.LastDelivery) && s.LastFailure.Equal(o.LastFailure) && s.LastError == o.LastError &&
		s.Delivered == o.Delivered && s.Failed == o.Failed && s.Dropped == o.Dropped && s.Ready == o.Ready
}

// Mark identifies a transition: the request by its UID, so that one made anew under its
// name is another, and the instant at which it reached the phase, which tells apart the
// episodes of one request.
type Mark struct {
	UID   string
	Phase request.Phase
	At    time.Time
}

// Key is the mark in one word, without spaces. It is the same for every try to tell of
// the transition, whichever process makes it.
func (m Mark) Key() string {
	return strings.Join([]string{m.UID, string(m.Phase), m.At.UTC().Format("2006-01-02T15:04:05.000000Z07:00")}, "/")
}

// Transition is one of a request that the policy selects.
type Transition struct {
	model.Transition
	UID     string // of the request
	Request model.Key
	Target  model.Key
}

// Mark identifies it.
func (t *Transition) Mark() Mark { return Mark{UID: t.UID, Phase: t.Phase, At: t.At} }

// Snapshot is what a pass read, immutable.
type Snapshot struct {
	Policy      *Policy // nil: there is none
	Transitions []Transition
	// Queue is how many transitions may wait to be told.
	Queue int
	// Allowance is how far the clocks of two processes of KICK may differ.
	Allowance time.Duration
}

// Outcome is what became of one try to deliver.
type Outcome struct {
	Delivered bool
	Final     bool          // another try would end the same way
	After     time.Duration // how long the endpoint asks to be left alone; 0: it does not
	Why       string        // of a failure, without anything from a Secret
}
