package steps

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/scenario"
)

// Act is a step spelled out, for whoever carries it out elsewhere than in the
// simulator: on a real cluster, or in another tool's format. Which fields are set
// depends on the verb.
type Act struct {
	Verb string
	// Objects are what apply, create, update and patch write, in order.
	Objects     []scenario.Resource
	Manager     string
	Subresource string
	// Ref is what delete removes.
	Ref scenario.Ref
	// Pattern is what assert and error look for.
	Pattern scenario.Resource
	// Wait is the length of advance, the most of settle, the within of assert.
	Wait time.Duration
	// Op is the operation of operator or rollout.
	Op string
	// Target, Pods and Replicas belong to rollout; Pods 0 means all.
	TargetKind     string
	Target         types.NamespacedName
	Pods, Replicas int
	// CrashAt is the n of crashAtWrite, and Landed what became of that write.
	CrashAt int
	Landed  bool
	Fault   Fault
	// Domain is the clock that clock steps.
	Domain string
}

// ActOf spells out a step that the parser made.
func ActOf(s scenario.Step) Act { //nolint:cyclop // one case a verb
	a := Act{Verb: s.Verb}
	switch step := s.Action.(type) {
	case applyStep:
		a.write(step.write)
	case createStep:
		a.write(step.write)
	case updateStep:
		a.write(step.write)
	case patchStep:
		a.write(step.write)
	case deleteStep:
		a.Ref = step.ref
	case advanceStep:
		a.Wait = step.by
	case settleStep:
		a.Wait = step.most
	case assertStep:
		a.Pattern, a.Wait = step.pattern, step.within
	case errorStep:
		a.Pattern = step.pattern
	case operatorStep:
		a.Op = step.op
	case rolloutStep:
		t := step.target
		a.Op, a.TargetKind, a.Target = step.op, t.kind, types.NamespacedName{Namespace: t.namespace, Name: t.name}
		a.Pods, a.Replicas = t.pods, t.replicas
	case crashAtWriteStep:
		a.CrashAt, a.Landed = step.n, step.landed
	case faultStep:
		a.Fault = step.fault
	case clockStep:
		a.Domain = step.domain
	}
	return a
}

func (a *Act) write(w write) {
	a.Objects, a.Manager, a.Subresource = w.resources, w.manager, w.subresource
}

// Rewritten is the step with every object it writes, or looks for, passed through
// object, and every length of time through wait.
func Rewritten(s scenario.Step, object func(scenario.Resource) scenario.Resource, wait func(time.Duration) time.Duration) scenario.Step {
	switch step := s.Action.(type) {
	case applyStep:
		s.Action = applyStep{step.rewritten(object)}
	case createStep:
		s.Action = createStep{step.rewritten(object)}
	case updateStep:
		s.Action = updateStep{step.rewritten(object)}
	case patchStep:
		s.Action = patchStep{step.rewritten(object)}
	case advanceStep:
		s.Action = advanceStep{wait(step.by)}
	case settleStep:
		s.Action = settleStep{wait(step.most)}
	case assertStep:
		s.Action = assertStep{object(step.pattern), wait(step.within)}
	case errorStep:
		s.Action = errorStep{object(step.pattern)}
	}
	return s
}

func (w write) rewritten(object func(scenario.Resource) scenario.Resource) write {
	resources := make([]scenario.Resource, 0, len(w.resources))
	for _, r := range w.resources {
		resources = append(resources, object(r))
	}
	w.resources = resources
	return w
}

// Differences lists where plain data differs from a pattern, at most three places;
// nothing means that it matches, by the rules of assert.
func Differences(pattern scenario.Resource, data map[string]any) []string {
	return differences(pattern, data)
}

// Matches reports that an object of the simulator matches a pattern.
func Matches(pattern scenario.Resource, object client.Object) bool {
	return len(compare(pattern, object)) == 0
}
