package model

import (
	"slices"
	"time"

	"github.com/corewire/kick/kick/model/request"
)

// Gate is the answer of one gate stage.
type Gate struct {
	Open   bool
	Reason request.Reason // request.Allowed when open
	Detail string         // the object, field and rule that decided
	WakeAt time.Time      // when to look again by time; zero: never by time
	WakeOn []WakeOn       // what wakes it otherwise
}

// Settings are the operator-wide knobs that decisions depend on.
type Settings struct {
	RolloutTimeout   time.Duration // without progress for this long, a rollout has failed
	RequestRetention time.Duration // how long a finished request is kept
	ClockAllowance   time.Duration // how far KICK's, the API server's and a node's clock may differ
	MaxConcurrent    int           // restarts under way at a time; 0: no limit
	RotationInterval time.Duration // how often the Secrets Store CSI driver looks for rotated secrets
}

// Request is a KickRequest and what its status says.
type Request struct {
	ID         Key
	UID        string
	Version    string
	Generation int64
	Created    time.Time
	Manual     bool      // somebody asks; no source stands behind it
	ChangedAt  time.Time // Manual only: the change it answers; zero: its creation
	Override   Override
	Status     RequestStatus
}

// Override opens the GitOps gate of one request by hand. The zero value is none.
type Override struct {
	Until  time.Time
	Reason string
}

// Holds reports whether the gate is to be passed.
func (o Override) Holds(now time.Time) bool { return now.Before(o.Until) }

// Executing reports whether there is a request, and its restart is under way.
func (r *Request) Executing() bool { return r != nil && r.Status.Phase == request.Executing }

// ChangeTime is the change a manual request answers.
func (r *Request) ChangeTime() time.Time {
	if r.ChangedAt.IsZero() {
		return r.Created
	}
	return r.ChangedAt
}

// Ahead is when the change of a manual request is still to come: its time, or zero
// if it has come.
func (r *Request) Ahead(now time.Time) time.Time {
	if at := r.ChangedAt; r.Manual && at.After(now) {
		return at
	}
	return time.Time{}
}

// OpenedAt is when its current episode began. Before the first status write that
// is its creation, which is the API server's clock and so counts as earlier by
// the allowance.
func (r *Request) OpenedAt(allowance time.Duration) time.Time {
	if !r.Status.OpenedAt.IsZero() {
		return r.Status.OpenedAt
	}
	return r.Created.Add(-allowance)
}

// RequestStatus mirrors KickRequest.status in plain values.
type RequestStatus struct {
	Phase        request.Phase
	Reason       request.Reason
	Message      string
	OpenedAt     time.Time
	CompletedAt  time.Time
	LatestChange time.Time
	Causes       []Cause
	RequeueAt    time.Time
	Overridden   string    // what the gate had against the restart, and why it was overridden; empty: it was not
	OverriddenAt time.Time // whole seconds
	RolloutStart time.Time // the stamp of the restart it drives or drove
	RolloutRev   string
	RolloutGen   int64
	// Transitions are the phases that were reached, oldest first; they follow from the
	// other fields of each status write.
	Transitions []Transition
	Traceparent string // of the trace that tells of the episode; empty: none
}

// Cause is a changed source that made the request necessary.
type Cause struct {
	Source    Key
	ChangedAt time.Time // KICK's clock
}

// Snapshot is everything a pass read about one workload, immutable.
type Snapshot struct {
	Target       Key
	Settings     Settings
	ServerNow    time.Time    // the API server's clock when this was read; zero: not known, take KICK's
	Workload     *Workload    // nil: there is none
	Dependencies []Dependency // in the policy's scope, ordered
	Policies     []Policy     // those of the namespace that select the workload, ordered by name
	Request      *Request     // nil: there is none
	RequestName  string       // of the request to make, if there is none
	LastEnded    *Request     // of all that have ended, the one that did so last, which is what people are told of; nil: none has
	NextTurn     time.Time    // when the time of any request comes that waits for one; zero: none does
	Revisions    []Revision
	Pods         []Pod
	PodsListed   bool      // false: Pods was not read, because it was not needed
	Provider     Gate      // the GitOps stage
	Restarts     []Restart // of other workloads, under way; read only if NeedRestarts asks for them
}

// Equal reports whether writing the other status would change nothing.
func (s RequestStatus) Equal(o RequestStatus) bool {
	sameCauses := slices.EqualFunc(s.Causes, o.Causes, func(a, b Cause) bool {
		return a.Source == b.Source && a.ChangedAt.Equal(b.ChangedAt)
	})
	sameTransitions := slices.EqualFunc(s.Transitions, o.Transitions, func(a, b Transition) bool {
		return a.Phase == b.Phase && a.At.Equal(b.At) && a.Reason == b.Reason && a.Message == b.Message
	})
	return sameCauses && sameTransitions && s.words() == o.words() && s.RolloutGen == o.RolloutGen &&
		slices.EqualFunc(s.times(), o.times(), time.Time.Equal)
}

// words are what a status says, but for its times.
func (s RequestStatus) words() [6]string {
	return [...]string{string(s.Phase), string(s.Reason), s.Message, s.RolloutRev, s.Overridden, s.Traceparent}
}

func (s RequestStatus) times() []time.Time {
	return []time.Time{s.OpenedAt, s.CompletedAt, s.LatestChange, s.RequeueAt, s.RolloutStart, s.OverriddenAt}
}

// Server is the API server's clock, given what KICK's shows.
func (s *Snapshot) Server(now time.Time) time.Time {
	if s.ServerNow.IsZero() {
		return now
	}
	return s.ServerNow
}
