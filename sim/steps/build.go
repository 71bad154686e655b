package steps

import (
	"time"

	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/scenario"
)

// The constructors below make the steps that the parser makes of a file, for
// programs that write scenarios themselves. None places its step in time.

func step(verb scenario.Verb, a action) scenario.Step {
	return scenario.Step{Verb: verb.Name, Action: a}
}

// writeOf is the write of one object; an empty manager is the default one.
func writeOf(r scenario.Resource, manager string) write {
	if manager == "" {
		manager = scenario.DefaultManager
	}
	return write{resources: []scenario.Resource{r}, manager: manager}
}

// ApplyStep creates an object or applies it server-side.
func ApplyStep(r scenario.Resource, manager string) scenario.Step {
	return step(applyVerb, applyStep{writeOf(r, manager)})
}

// CreateStep creates an object.
func CreateStep(r scenario.Resource, manager string) scenario.Step {
	return step(createVerb, createStep{writeOf(r, manager)})
}

// UpdateStep replaces an object.
func UpdateStep(r scenario.Resource, manager string) scenario.Step {
	return step(updateVerb, updateStep{writeOf(r, manager)})
}

// PatchStep merges fields into an object or, if a subresource is named, into that.
func PatchStep(r scenario.Resource, manager, subresource string) scenario.Step {
	w := writeOf(r, manager)
	w.subresource = subresource
	return step(patchVerb, patchStep{w})
}

// DeleteStep deletes an object.
func DeleteStep(ref scenario.Ref) scenario.Step { return step(deleteVerb, deleteStep{ref}) }

// AdvanceStep lets time pass.
func AdvanceStep(by time.Duration) scenario.Step { return step(advanceVerb, advanceStep{by}) }

// SettleStep runs until nothing is due, at most this long.
func SettleStep(most time.Duration) scenario.Step { return step(settleVerb, settleStep{most}) }

// ClockStep steps the wall clock of a domain.
func ClockStep(domain clock.Domain, by time.Duration) scenario.Step {
	return step(clockVerb, clockStep{domain: string(domain), by: by})
}

// RolloutStep does to a workload what an operation of the verb rollout names; n is
// its count of pods (0: all) or of replicas, and is ignored where it takes none.
func RolloutStep(op, kind, namespace, name string, n int) scenario.Step {
	t := target{namespace: namespace, kind: kind, name: name, replicas: -1}
	switch rolloutOps[op].needs {
	case "pods":
		t.pods = n
	case "replicas":
		t.replicas = n
	}
	return step(rolloutVerb, rolloutStep{op: op, target: t})
}

// OperatorStep starts, stops, restarts or crashes KICK.
func OperatorStep(op string) scenario.Step { return step(operatorVerb, operatorStep{op: op}) }

// PauseStep lets KICK stand still.
func PauseStep(length time.Duration) scenario.Step {
	return step(operatorVerb, operatorStep{pause: length})
}

// CrashAtWriteStep kills KICK around its n-th write from now.
func CrashAtWriteStep(n int, landed bool) scenario.Step {
	return step(crashAtWriteVerb, crashAtWriteStep{n: n, landed: landed})
}

// FaultStep lets calls of KICK fail.
func FaultStep(f Fault) scenario.Step { return step(faultVerb, faultStep{f}) }

// HealStep ends all faults.
func HealStep() scenario.Step { return step(healVerb, healStep{}) }
