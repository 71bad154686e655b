package steps

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/corewire/kick/sim/scenario"
)

// Fault is a fault of the operator's calls: which calls it hits, and how often.
// Empty fields match everything, an empty Verb every write; Times 0 means until healed.
type Fault struct {
	Name                              string
	Verb, Kind, Namespace, ObjectName string
	Times                             int
	Hit                               func() // called at each hit; nil: nobody asks
}

// What a fault can hit: a name that KICK never uses would make one that never
// happens.
var (
	calls = []string{"create", "delete", "get", "list", "patch", "update"}
	kinds = []string{
		"ConfigBundle", "ConfigMap", "ControllerRevision", "DaemonSet", "Deployment", "KickPolicy", "KickRequest", "NotificationPolicy",
		"Pod", "ReplicaSet", "Rollout", "Secret", "SourceObservation", "StatefulSet",
	}
)

type faultStep struct{ fault Fault }

var faultVerb = scenario.Verb{
	Name:    "fault",
	Doc:     "Let calls of the operator fail (kick-sim list faults).",
	Example: "fault: {name: conflict, on: {verb: patch, kind: Deployment}, times: 1}",
	Decode: func(d *scenario.Decoder, n *yaml.Node) any {
		var f Fault
		named := false
		ok := d.Map(n, scenario.Fields{
			"name":  func(v *yaml.Node) { named = true; d.FaultName(v, &f.Name) },
			"times": d.IntField(&f.Times, 1),
			"on": func(v *yaml.Node) {
				d.Map(v, scenario.Fields{
					"verb":      func(v *yaml.Node) { d.OneOf(v, &f.Verb, "verb of a call", calls) },
					"kind":      func(v *yaml.Node) { d.OneOf(v, &f.Kind, "kind that KICK touches", kinds) },
					"namespace": d.StringField(&f.Namespace), "name": d.StringField(&f.ObjectName),
				})
			},
		})
		if ok && !named {
			d.Problemf(n, "fault without a name (kick-sim list faults)")
		}
		return faultStep{f}
	},
}

func (s faultStep) run(e *Env) error {
	f := s.fault
	times := "until healed"
	if f.Times > 0 {
		times = fmt.Sprintf("%d times", f.Times)
	}
	where := fmt.Sprintf("%s on %s %s %s", f.Name, orAny(f.Verb), orAny(f.Kind), orAny(f.ObjectName))
	e.note("fault", "%s, %s", where, times)
	f.Hit = e.promise("fault " + where + " met nothing until it was healed").keep
	e.Operator.AddFault(f)
	return nil
}

func orAny(s string) string {
	if s == "" {
		return "*"
	}
	return s
}
