package run

import (
	"errors"
	"fmt"
	"time"

	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/graph"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
	"github.com/corewire/kick/sim/steps"
)

// Operator is KICK as the runner drives it.
type Operator = steps.Operator

// Fault is a fault of KICK's calls.
type Fault = steps.Fault

// Write is a call of KICK, told of before it is sent and after its outcome.
type Write = check.Write

// OperatorOptions is all an operator may know of the simulated cluster.
type OperatorOptions struct {
	Loop     *sched.Loop
	Server   *cluster.Server
	Clock    *clock.Virtual // KICK's own wall clock
	Replicas int
	Flags    map[string]string
	Observe  func(Write)  // every API call that writes, before (Done false) and after
	Log      func(string) // every line of KICK's log

	// Each of these may be nil.

	Told    func(check.Told)   // every Event it emits
	Passed  func(check.Pass)   // every pass that ended well
	Access  func(check.Access) // every right that a call needs, reads and watches included
	Touched func(graph.Access) // what wakes a controller, what it reads and writes
	// Endpoint is what the web server at an address answers: status code and Retry-After.
	Endpoint func(url string) (int, string)
	Notified func(check.Notified)     // every try to deliver a notification
	Hit      func(site, fault string) // how each call, watch and start went; fault "none": plainly
}

// OperatorFactory makes an operator that is not started yet. An error means that
// the scenario asks for what the operator does not have, such as a flag.
type OperatorFactory func(OperatorOptions) (Operator, error)

// Options configures runs.
type Options struct {
	NewOperator OperatorFactory
	Now         func() time.Time // wall clock of this machine, for timings only; nil: none
	KeepTrail   bool             // keep the full event log of runs that pass, too
	Workers     int              // scenarios at a time; default: one per core
	// Fast leaves out what costs time and finds nothing new in a run whose like ran
	// before; see cluster.Options. Outcomes are the same.
	Fast bool
	// EndBroken ends a run at the first broken law: what follows is harm of the harm, and
	// may be without end.
	EndBroken bool
	// Brief is EndBroken, and keeps no trail.
	Brief bool
	// Chooser answers what the world leaves open; nil: the order of simultaneous
	// events by the scenario's seed, and everything else plainly.
	Chooser sched.Chooser
	// Hit and Touched are those of OperatorOptions.
	Hit     func(site, fault string)
	Touched func(graph.Access)
}

// Failure is one reason why a scenario failed.
type Failure struct {
	Law     string
	Message string
	At      time.Time
}

// Result is the outcome of one scenario.
type Result struct {
	Scenario scenario.Scenario
	Failures []Failure
	Problem  *scenario.Problem // the file cannot be run as it is; Failures is empty then
	Restarts map[string]int    // rollouts KICK caused, by namespace/Kind/name
	Virtual  time.Duration     // from t=0 to the last step or write, whichever is later
	Events   uint64
	Wall     time.Duration
	Trail    *Trail // nil where it was not kept
}

// OK reports that the scenario ran and every law held.
func (r Result) OK() bool { return r.Problem == nil && len(r.Failures) == 0 }

// lawSteps is the law that failing steps break.
const lawSteps = "steps"

// One runs a scenario.
func One(s scenario.Scenario, o Options) Result {
	return run(s, o, func() (*rig, error) { return prepare(s, o) })
}

// run runs a scenario in the cluster that it is given.
func run(s scenario.Scenario, o Options, cluster func() (*rig, error)) (result Result) {
	result = Result{Scenario: s}
	began := wall(o)
	defer func() { result.Wall = wall(o).Sub(began) }()
	r, err := cluster()
	if err == nil {
		err = r.startOperator(o)
	}
	if err != nil {
		result.fail(s, err)
		return result
	}
	defer r.operator.Stop() // what stands suspended ends
	before := r.loop.Ran()
	judged := false
	err = r.play()
	ended := r.loop.Now()
	if err != nil {
		result.fail(s, err)
	} else if judged = r.finish(); judged {
		result.complain(r, o)
	}
	if result.Problem == nil {
		result.Failures = append(result.Failures, violations(r.laws)...)
	}
	result.Restarts = r.laws.Restarts
	result.Virtual = max(ended.Sub(r.zero), r.lastWrite.Sub(r.zero))
	result.Events = r.loop.Ran() - before
	if !o.Brief && (o.KeepTrail || !judged || len(result.Failures) > 0) {
		result.Trail = r.trail
	}
	return result
}

// inputError is a mistake of the file that shows only when it runs.
type inputError struct {
	at  scenario.Position
	err error
}

func (e inputError) Error() string { return e.err.Error() }

func (r *Result) fail(s scenario.Scenario, err error) {
	if input, ok := errors.AsType[inputError](err); ok {
		r.Problem = &scenario.Problem{Position: input.at, Message: input.Error()}
		return
	}
	if step, ok := errors.AsType[stepError](err); ok {
		r.Failures = append(r.Failures, Failure{Law: lawSteps, Message: step.Error(), At: step.when})
		return
	}
	r.Failures = append(r.Failures, Failure{Law: lawSteps, Message: err.Error(), At: s.Start})
}

// complain tells of choices and steps of the scenario that did not come about. A
// chooser from outside makes a schedule of its own, in which a step may well find
// nothing left to do.
func (r *Result) complain(rig *rig, o Options) {
	for _, p := range rig.env.Broken() {
		if o.Chooser == nil && !p.Step.MayFail {
			r.Failures = append(r.Failures, Failure{
				Law: lawSteps, At: rig.loop.Now(),
				Message: fmt.Sprintf("step at %s:%d: %s; it tests nothing", p.Step.Where.File, p.Step.Where.Line, p.Empty),
			})
		}
	}
	if rig.script == nil {
		return
	}
	for _, complaint := range rig.script.Complaints() {
		r.Failures = append(r.Failures, Failure{Law: lawSteps, Message: complaint, At: rig.loop.Now()})
	}
}

// stepError is a step that could not be done or did not hold.
type stepError struct {
	step   scenario.Step
	number int
	when   time.Time
	err    error
}

func (e stepError) Error() string {
	name := ""
	if e.step.Name != "" {
		name = fmt.Sprintf(" (%s)", e.step.Name)
	}
	return fmt.Sprintf("step %d%s at %s:%d: %v", e.number, name, e.step.Where.File, e.step.Where.Line, e.err)
}

// play does the steps.
func (r *rig) play() error {
	for i, step := range r.scenario.Steps {
		err := steps.Run(r.env, step)
		if r.loop.Halted() {
			return nil
		}
		if past, ok := errors.AsType[steps.PastError](err); ok {
			return inputError{step.Where, past}
		}
		if err != nil && step.MayFail {
			r.trail.note(actorUser, fmt.Sprintf("step %d could not be done: %v", i+1, err))
			continue
		}
		if err != nil {
			return stepError{step: step, number: i + 1, when: r.loop.Now(), err: err}
		}
	}
	return nil
}

// finish ends all faults, lets everything settle and judges. It returns false for a
// run that a broken law ended.
func (r *rig) finish() bool {
	if begins := r.zero.Add(r.scenario.Operator.StartAt); begins.After(r.loop.Now()) {
		r.loop.RunUntil(begins)
	}
	r.operator.Heal()
	r.laws.Healed = r.loop.Now()
	r.env.Settle(r.scenario.Expect.Settle)
	if r.loop.Halted() {
		return false
	}
	r.laws.AtEnd()
	return true
}

func violations(laws *check.Laws) []Failure {
	var out []Failure
	for _, v := range laws.Violations() {
		out = append(out, Failure{Law: v.Law, Message: v.Message, At: v.At})
	}
	return out
}

func wall(o Options) time.Time {
	if o.Now == nil {
		return time.Time{}
	}
	return o.Now()
}
