package steps

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/corewire/kick/sim/scenario"
)

// World is what a user or a machine does to workloads besides writing objects.
type World interface {
	Undo(namespace, kind, name string) error
	Pause(namespace, kind, name string) error
	Resume(namespace, kind, name string) error
	Restart(namespace, kind, name string) error
	Scale(namespace, kind, name string, replicas int32) error
	FailImage(namespace, kind, name string) error
	FixImage(namespace, kind, name string) error
	Evict(namespace, kind, name string, pods int) error
	CrashContainers(namespace, kind, name string, pods int) error
}

// target is a workload, and the count some operations need.
type target struct {
	namespace, kind, name string
	pods, replicas        int
}

// rolloutOp is one operation of the verb rollout.
type rolloutOp struct {
	does  string // for the trace
	needs string // the count it takes: pods, replicas or nothing
	run   func(World, target) error
}

// plain makes an operation that takes only the workload.
func plain(does string, run func(World, string, string, string) error) rolloutOp {
	return rolloutOp{does: does, run: func(w World, t target) error { return run(w, t.namespace, t.kind, t.name) }}
}

var rolloutOps = map[string]rolloutOp{
	"undo":      plain("rolled back", World.Undo),
	"pause":     plain("paused", World.Pause),
	"resume":    plain("resumed", World.Resume),
	"restart":   plain("restarted by hand", World.Restart),
	"failImage": plain("new pods never become ready from now on", World.FailImage),
	"fixImage":  plain("new pods become ready again", World.FixImage),
	"scale": {does: "scaled", needs: "replicas", run: func(w World, t target) error {
		return w.Scale(t.namespace, t.kind, t.name, int32(t.replicas))
	}},
	"evict": {does: "pods evicted", needs: "pods", run: func(w World, t target) error {
		return w.Evict(t.namespace, t.kind, t.name, t.pods)
	}},
	"crashContainers": {does: "containers crash", needs: "pods", run: func(w World, t target) error {
		return w.CrashContainers(t.namespace, t.kind, t.name, t.pods)
	}},
}

// rolloutKinds are the kinds that simulated controllers roll.
var rolloutKinds = []string{"DaemonSet", "Deployment", "Rollout", "StatefulSet"}

type rolloutStep struct {
	op     string
	target target
}

var rolloutVerb = scenario.Verb{
	Name: "rollout",
	Doc: "Do to a workload what kubectl or a machine does: undo, pause, resume, restart, scale (replicas: N), failImage, fixImage, " +
		"evict and crashContainers (pods: N, default all).",
	Example: "rollout: {undo: {kind: Deployment, namespace: shop, name: web}}",
	Decode:  decodeRollout,
}

func decodeRollout(d *scenario.Decoder, n *yaml.Node) any {
	var s rolloutStep
	fields := scenario.Fields{}
	found := 0
	for op := range rolloutOps {
		fields[op] = func(v *yaml.Node) { found++; s.op = op; s.target = decodeTarget(d, v, op) }
	}
	if d.Map(n, fields) && found != 1 {
		d.Problemf(n, "rollout takes exactly one operation, this one has %d (kick-sim list steps)", found)
	}
	return s
}

func decodeTarget(d *scenario.Decoder, n *yaml.Node, op string) target {
	t := target{replicas: -1}
	var apiVersion string
	fields := scenario.Fields{
		"apiVersion": d.StringField(&apiVersion),
		"namespace":  d.StringField(&t.namespace),
		"name":       d.StringField(&t.name),
		"kind":       func(v *yaml.Node) { d.OneOf(v, &t.kind, "workload kind", rolloutKinds) },
	}
	switch rolloutOps[op].needs {
	case "pods":
		fields["pods"] = d.IntField(&t.pods, 1)
	case "replicas":
		fields["replicas"] = func(n *yaml.Node) {
			if d.Int(n, &t.replicas, 0) {
				d.Replicas(n, n.Value)
			}
		}
	}
	if !d.Map(n, fields) {
		return t
	}
	if t.name == "" {
		d.Problemf(n, "%s needs the name of a workload", op)
	}
	if t.kind == "" && !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return c.Value == "kind" }) {
		d.Problemf(n, "%s needs the kind of the workload", op)
	}
	if rolloutOps[op].needs == "replicas" && t.replicas < 0 {
		d.Problemf(n, "scale needs replicas: N")
	}
	if t.namespace == "" {
		t.namespace = "default"
	}
	return t
}

func (s rolloutStep) run(e *Env) error {
	t, op := s.target, rolloutOps[s.op]
	count := ""
	switch op.needs {
	case "pods":
		count = " (all)"
		if t.pods > 0 {
			count = fmt.Sprintf(" (%d)", t.pods)
		}
	case "replicas":
		count = fmt.Sprintf(" to %d", t.replicas)
	}
	e.note("user", "%s %s/%s: %s%s", t.kind, t.namespace, t.name, op.does, count)
	if err := op.run(e.World, t); err != nil {
		return fmt.Errorf("rollout %s of %s %s/%s: %w", s.op, t.kind, t.namespace, t.name, err)
	}
	return nil
}
