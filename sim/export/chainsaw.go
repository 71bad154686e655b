package export

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/corewire/kick/sim/confirm"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// Longest is how long an exported test may sleep in all.
const Longest = 2 * time.Minute

// adopts is how long KICK is given to find what exists before the first step.
const adopts = 5 * time.Second

// slack is what an assertion may take longer than in the simulator.
const slack = time.Minute

// visible is how long a state must hold for a test that polls to see it.
const visible = 5 * time.Second

type object = map[string]any

// chainsaw is a test in the making.
type chainsaw struct {
	short     confirm.Short
	namespace string                    // of the scenario; a test has one of its own
	written   map[string]map[string]any // what was applied last, by object
	steps     []any
	reached   time.Duration
}

// Chainsaw is the scenario as a Chainsaw test, in YAML. An error names the first
// step that cannot be exported, and why.
func Chainsaw(s scenario.Scenario) ([]byte, error) {
	if err := exportable(s); err != nil {
		return nil, err
	}
	short, err := confirm.Shorten(s, Longest)
	if err != nil {
		return nil, err
	}
	namespaces := confirm.Namespaces(s)
	if len(namespaces) != 1 {
		return nil, fmt.Errorf("it has the namespaces %s: a test has one", strings.Join(namespaces, ", "))
	}
	c := &chainsaw{short: short, namespace: namespaces[0], written: map[string]map[string]any{}}
	if err := c.given(); err != nil {
		return nil, err
	}
	for i, step := range short.Scenario.Steps {
		if err := c.step(i, step); err != nil {
			return nil, fmt.Errorf("%s:%d: step %d (%s): %w", step.Where.File, step.Where.Line, i+1, step.Verb, err)
		}
	}
	c.end()
	test := object{
		"apiVersion": "chainsaw.kyverno.io/v1alpha1", "kind": "Test", "metadata": object{"name": s.Name},
		"spec": object{"description": s.Summary, "steps": c.steps},
	}
	return yaml.Marshal(test)
}

// exportable refuses what a scenario asks of KICK or of the cluster as a whole.
func exportable(s scenario.Scenario) error {
	switch {
	case s.Operator.Replicas > 1 || s.Operator.StartAt > 0 || len(s.Operator.Flags) > 0:
		return fmt.Errorf("spec.operator: a test finds KICK running, with the flags it has")
	case confirm.Dated(s):
		return fmt.Errorf("it speaks of dates, in windows or in times: a test runs at any time")
	}
	for i, step := range s.Steps {
		act := steps.ActOf(step)
		if acts[act.Verb] == nil {
			return fmt.Errorf("%s:%d: step %d: %s has no meaning for a user of a real cluster", step.Where.File, step.Where.Line, i+1, act.Verb)
		}
	}
	return nil
}

// acts turn a step into operations of Chainsaw.
var acts = map[string]func(*chainsaw, steps.Act) ([]any, error){
	"apply": (*chainsaw).write, "create": (*chainsaw).write, "update": (*chainsaw).write, "patch": (*chainsaw).write,
	"delete":  (*chainsaw).remove,
	"advance": func(_ *chainsaw, a steps.Act) ([]any, error) { return []any{sleep(a.Wait)}, nil },
	"settle":  func(*chainsaw, steps.Act) ([]any, error) { return []any{sleep(adopts)}, nil },
	"assert": func(c *chainsaw, a steps.Act) ([]any, error) {
		return []any{object{"assert": object{"resource": withoutNulls(c.here(a.Pattern)), "timeout": (a.Wait + slack).String()}}}, nil
	},
	"error": func(c *chainsaw, a steps.Act) ([]any, error) {
		return []any{object{"error": object{"resource": withoutNulls(c.here(a.Pattern))}}}, nil
	},
	"rollout": (*chainsaw).rollout,
}

func sleep(d time.Duration) object { return object{"sleep": object{"duration": d.String()}} }

// script runs kubectl in the namespace of the test, with an object as its input.
func script(command string, input map[string]any) (object, error) {
	content := "kubectl --namespace=$NAMESPACE " + command
	if input != nil {
		raw, err := yaml.Marshal(input)
		if err != nil {
			return nil, err
		}
		content += " <<'EOF'\n" + string(raw) + "EOF\n"
	}
	return object{"script": object{"content": content}}, nil
}

// here is an object without the scenario's namespace.
func (c *chainsaw) here(r scenario.Resource) map[string]any {
	data := confirm.Copy(r.Data)
	if meta, ok := data["metadata"].(map[string]any); ok {
		delete(meta, "namespace")
		if len(meta) == 0 {
			delete(data, "metadata")
		}
	}
	return data
}

// withoutNulls writes what must not be there as Chainsaw wants it: a pattern of the
// simulator says null, for Chainsaw that is a value.
func withoutNulls(data map[string]any) map[string]any {
	for field, value := range data {
		below, ok := value.(map[string]any)
		if !ok {
			continue
		}
		for key, v := range below {
			if v == nil {
				delete(below, key)
				data[fmt.Sprintf("(contains(keys(%s || `{}`), '%s'))", field, key)] = false
			}
		}
		if withoutNulls(below); len(below) == 0 {
			delete(data, field)
		}
	}
	return data
}

func (c *chainsaw) add(name string, operations []any) {
	if len(operations) > 0 {
		c.steps = append(c.steps, object{"name": name, "try": operations})
	}
}

// given is what exists before KICK looks: policies come last, once all has rolled out.
func (c *chainsaw) given() error {
	var objects, ready, policies []any
	for _, r := range c.short.Scenario.Given {
		switch r.GVK.Kind {
		case "Namespace":
		case "KickPolicy":
			policies = append(policies, object{"apply": object{"resource": c.here(r)}})
		default:
			objects = append(objects, object{"apply": object{"resource": c.here(r)}})
			c.written[r.String()] = r.Data
			if status := complete(r); status != nil && !c.short.Waiting {
				ready = append(ready, object{"assert": object{"resource": object{
					"apiVersion": r.GVK.GroupVersion().String(), "kind": r.GVK.Kind, "metadata": object{"name": r.Key.Name}, "status": status,
				}}})
			}
		}
	}
	c.add("what is there already", append(objects, ready...))
	if len(policies) > 0 {
		policies = append(policies, sleep(adopts))
	}
	c.add("policies", policies)
	return nil
}

// complete is the status of a workload that has rolled out.
func complete(r scenario.Resource) object {
	spec, _ := r.Data["spec"].(map[string]any)
	replicas, given := spec["replicas"].(int64)
	if !given {
		replicas = 1
	}
	switch {
	case r.GVK.Kind == "DaemonSet":
		return object{"(numberAvailable == desiredNumberScheduled)": true, "(desiredNumberScheduled > `0`)": true}
	case (r.GVK.Kind == "Deployment" && spec["paused"] != true || r.GVK.Kind == "StatefulSet") && replicas > 0:
		return object{"availableReplicas": replicas, "updatedReplicas": replicas}
	}
	return nil
}

// catches refuses a step whose moment a test cannot catch.
func (c *chainsaw) catches(i int, step scenario.Step, verb string) error {
	looks := verb == "assert" || verb == "error"
	if verb == "assert" {
		if held := c.short.Held(i); held < visible {
			return fmt.Errorf("what it asserts holds for %s only: a test that polls can miss it", held)
		}
	}
	if step.AtSet && step.At > c.reached && !c.short.Quiet[i] && !looks {
		return fmt.Errorf("it comes while the cluster still moves: a test cannot keep to that moment")
	}
	return nil
}

func (c *chainsaw) step(i int, step scenario.Step) error {
	act := steps.ActOf(step)
	if err := c.catches(i, step, act.Verb); err != nil {
		return err
	}
	operations, err := acts[act.Verb](c, act)
	if err != nil {
		return err
	}
	gap := step.After
	if step.AtSet {
		gap = step.At - c.reached
		c.reached = step.At
	}
	if gap > 0 {
		operations = append([]any{sleep(gap)}, operations...)
	}
	name := step.Name
	if name == "" {
		name = fmt.Sprintf("%d %s", i+1, act.Verb)
	}
	c.add(name, operations)
	return nil
}

func (c *chainsaw) write(a steps.Act) (out []any, err error) {
	for _, r := range a.Objects {
		operation, err := c.writeOne(a, r)
		if err != nil {
			return nil, err
		}
		out = append(out, operation)
	}
	return out, nil
}

// writeOne uses Chainsaw's own operations where they mean the same, else kubectl:
// Chainsaw's apply merges, so that it takes nothing away.
func (c *chainsaw) writeOne(a steps.Act, r scenario.Resource) (object, error) { //nolint:cyclop // one case a verb
	data := c.here(r)
	before := c.written[r.String()]
	c.written[r.String()] = r.Data
	meta, _ := data["metadata"].(map[string]any)
	plain := a.Manager == scenario.DefaultManager && a.Subresource == "" && meta["managedFields"] == nil // which Chainsaw refuses
	switch {
	case a.Verb == "apply" && plain && keeps(before, r.Data):
		return object{"apply": object{"resource": data}}, nil
	case a.Verb == "apply":
		return script("apply --server-side --force-conflicts --field-manager="+a.Manager+" -f -", data)
	case a.Verb == "create" && plain:
		return object{"create": object{"resource": data}}, nil
	case a.Verb == "create":
		return script("create --field-manager="+a.Manager+" -f -", data)
	case a.Verb == "update" && a.Subresource == "":
		return script("replace --field-manager="+a.Manager+" -f -", data)
	case a.Verb == "patch" && plain:
		return object{"patch": object{"resource": data}}, nil
	}
	if a.Verb == "update" || a.Subresource == "ephemeralcontainers" {
		return nil, fmt.Errorf("kubectl cannot %s the subresource %s", a.Verb, a.Subresource)
	}
	command := fmt.Sprintf("patch %s/%s --type=merge --field-manager=%s --patch-file=/dev/stdin", strings.ToLower(r.GVK.Kind), r.Key.Name, a.Manager)
	if a.Subresource != "" {
		command += " --subresource=" + a.Subresource
	}
	return script(command, data)
}

// keeps reports that no key of what was applied before is missing now.
func keeps(before, now map[string]any) bool {
	for key, old := range before {
		fresh, there := now[key]
		if !there {
			return false
		}
		a, isMap := old.(map[string]any)
		b, still := fresh.(map[string]any)
		if isMap && (!still || !keeps(a, b)) {
			return false
		}
	}
	return true
}

func (c *chainsaw) remove(a steps.Act) ([]any, error) {
	delete(c.written, a.Ref.String())
	ref := object{"apiVersion": a.Ref.GVK.GroupVersion().String(), "kind": a.Ref.GVK.Kind, "name": a.Ref.Key.Name}
	return []any{object{"delete": object{"ref": ref}}}, nil
}

// rollouts are what kubectl calls the operations of the verb rollout.
var rollouts = map[string]string{
	"undo": "rollout undo", "pause": "rollout pause", "resume": "rollout resume", "restart": "rollout restart", "scale": "scale",
}

func (c *chainsaw) rollout(a steps.Act) ([]any, error) {
	command, ok := rollouts[a.Op]
	if !ok {
		return nil, fmt.Errorf("rollout %s: kubectl has no such command", a.Op)
	}
	command += fmt.Sprintf(" %s/%s", strings.ToLower(a.TargetKind), a.Target.Name)
	if a.Op == "scale" {
		command += fmt.Sprintf(" --replicas=%d", a.Replicas)
	}
	operation, err := script(command, nil)
	return []any{operation}, err
}

// end asserts the final phases, and how many generations each workload has had, which
// the simulator knows: one more or one fewer restart shows there.
func (c *chainsaw) end() {
	var operations []any
	for _, id := range slices.Sorted(maps.Keys(c.short.Sim.Requests)) {
		_, name, _ := strings.Cut(id, "/")
		if phase := c.short.Sim.Requests[id]; c.short.Scenario.Expect.Requests[id] == phase {
			operations = append(operations, object{"assert": object{"resource": object{
				"apiVersion": "kick.corewire.io/v1alpha1", "kind": "KickRequest", "metadata": object{"name": name}, "status": object{"phase": phase},
			}}})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.short.Generations)) {
		parts := strings.SplitN(id, "/", 3)
		operations = append(operations, object{"assert": object{"resource": object{
			"apiVersion": "apps/v1", "kind": parts[1], "metadata": object{"name": parts[2], "generation": c.short.Generations[id]},
		}}})
	}
	c.add("as in the simulator", operations)
}
