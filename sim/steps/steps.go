package steps

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
)

// All lists every verb.
func All() []scenario.Verb {
	return []scenario.Verb{
		applyVerb, createVerb, updateVerb, patchVerb, deleteVerb,
		advanceVerb, settleVerb, clockVerb, rolloutVerb,
		operatorVerb, crashAtWriteVerb, faultVerb, healVerb,
		assertVerb, errorVerb,
	}
}

// API is the part of the simulated API server that verbs use.
type API interface {
	Get(schema.GroupKind, types.NamespacedName) client.Object
	List(schema.GroupKind, string) []client.Object
	Create(client.Object, cluster.WriteOptions) (client.Object, error)
	Update(client.Object, cluster.WriteOptions) (client.Object, error)
	Patch(schema.GroupKind, types.NamespacedName, types.PatchType, []byte, cluster.WriteOptions) (client.Object, error)
	Delete(schema.GroupKind, types.NamespacedName, client.DeleteOptions, cluster.WriteOptions) error
	Revision() int64
}

// Env is the simulated cluster a step acts on.
type Env struct {
	Loop     *sched.Loop
	API      API
	World    World
	Operator Operator
	Clocks   map[clock.Domain]*clock.Virtual
	Zero     time.Time // t=0 of the scenario
	// Quiet reports that nothing will happen before the deadline although timers
	// (lease renewals, resyncs) are due; see Settle.
	Quiet func(deadline time.Time) bool
	// Note tells the trace what a step does.
	Note func(actor, text string)

	step     scenario.Step // under way
	promises []*Promise
}

// PastError says that a step was placed before the time already reached.
type PastError struct{ At, Reached time.Duration }

// Error names both times.
func (e PastError) Error() string {
	return fmt.Sprintf("at %s lies in the past: the steps before reached %s", e.At, e.Reached)
}

// action is what every verb decodes into.
type action interface{ run(*Env) error }

// Run lets time pass until the step is due and carries it out.
func Run(e *Env, s scenario.Step) error {
	due := e.Loop.Now().Add(s.After)
	if s.AtSet {
		due = e.Zero.Add(s.At)
		if due.Before(e.Loop.Now()) {
			return PastError{At: s.At, Reached: e.Loop.Now().Sub(e.Zero)}
		}
	}
	e.Loop.RunUntil(due)
	e.step = s
	return s.Action.(action).run(e)
}

func (e *Env) note(actor, format string, args ...any) {
	if e.Note != nil {
		e.Note(actor, fmt.Sprintf(format, args...))
	}
}

// Await steps the loop until done holds or the deadline passes. It looks again
// after every event that wrote something; on failure time stands at the deadline.
func (e *Env) Await(deadline time.Time, done func() bool) bool {
	seen := int64(-1)
	for {
		if revision := e.API.Revision(); revision != seen {
			seen = revision
			if done() {
				return true
			}
		}
		due, ok := e.Loop.Next()
		if !ok || due.After(deadline) {
			e.Loop.RunUntil(deadline)
			return false
		}
		e.Loop.Step()
	}
}

// Settle runs until no event or timer is due within d from now.
func (e *Env) Settle(d time.Duration) {
	deadline := e.Loop.Now().Add(d)
	for {
		due, ok := e.Loop.Next()
		if !ok || due.After(deadline) {
			return
		}
		if e.Quiet != nil && e.Quiet(deadline) {
			return
		}
		e.Loop.Step()
	}
}
