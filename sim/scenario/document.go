package scenario

import (
	"regexp"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/foreign"
	"github.com/corewire/kick/sim/sched"
)

// anyRestarts stands where a scenario does not state how often KICK restarts what.
const anyRestarts = "any"

// Phases a request may end in or wait in, for expect.requests.
var Phases = []string{
	"Pending", "WaitingForGate", "WaitingForOwner", "WaitingForApplicationSync", "WaitingForRollout",
	"Executing", "Succeeded", "NoLongerRequired", "Failed", "DryRun",
}

// scenario reads one document.
func (d *Decoder) scenario(n *yaml.Node) Scenario {
	s := New("")
	s.At = d.Position(n)
	var apiVersion, kind string
	named, specified := false, false
	ok := d.Map(n, Fields{
		"apiVersion": func(v *yaml.Node) { d.OneOf(v, &apiVersion, "apiVersion", []string{APIVersion}) },
		"kind":       func(v *yaml.Node) { d.OneOf(v, &kind, "kind", []string{Kind}) },
		"metadata": func(v *yaml.Node) {
			d.Map(v, Fields{"name": func(v *yaml.Node) { named = true; d.name(v, &s.Name) }})
		},
		"spec": func(v *yaml.Node) { specified = true; d.spec(v, &s) },
	})
	if !ok {
		return s
	}
	if keyNode(n, "apiVersion") == nil {
		d.missing(n, "apiVersion: "+APIVersion)
	}
	if keyNode(n, "kind") == nil {
		d.missing(n, "kind: "+Kind)
	}
	if !named {
		d.missing(n, "metadata.name")
	}
	if !specified {
		d.missing(n, "spec")
	}
	return s
}

func (d *Decoder) spec(n *yaml.Node, s *Scenario) {
	d.Map(n, Fields{
		"summary":  d.StringField(&s.Summary),
		"proves":   d.StringsField(&s.Proves),
		"start":    d.TimeField(&s.Start),
		"seed":     func(v *yaml.Node) { d.seed(v, &s.Seed) },
		"operator": func(v *yaml.Node) { d.operator(v, &s.Operator) },
		"world":    func(v *yaml.Node) { d.world(v, &s.World) },
		"given": func(v *yaml.Node) {
			d.List(v, func(item *yaml.Node) { s.Given = append(s.Given, d.given(item)...) })
		},
		"steps":   func(v *yaml.Node) { s.Steps = d.steps(v) },
		"choices": func(v *yaml.Node) { s.Choices = d.choices(v) },
		"expect":  func(v *yaml.Node) { d.expect(v, &s.Expect) },
	})
}

// given reads one entry of the given objects.
func (d *Decoder) given(n *yaml.Node) []Resource {
	var manager string
	out := d.Source(n, Fields{"as": d.StringField(&manager)}, true)
	for i := range out {
		out[i].Manager = manager
	}
	return out
}

// choices reads the answers to questions.
func (d *Decoder) choices(n *yaml.Node) []Choice {
	var classes []string
	for _, class := range sched.Classes {
		classes = append(classes, class.String())
	}
	var out []Choice
	d.List(n, func(item *yaml.Node) {
		c := Choice{Answer: sched.Answer{Nth: 1}, Where: d.Position(item)}
		before := len(*d.problems)
		var class string
		ok := d.Map(item, Fields{
			"class": func(v *yaml.Node) { d.OneOf(v, &class, "class of questions", classes) },
			"site":  d.StringField(&c.Site),
			"nth":   d.IntField(&c.Nth, 1),
			"pick":  d.IntField(&c.Pick, 0),
		})
		for _, field := range []string{"class", "site", "pick"} {
			if ok && keyNode(item, field) == nil {
				d.Problemf(item, "a choice needs %s:", field)
			}
		}
		c.Class, _ = sched.ClassOf(class)
		if len(*d.problems) == before {
			out = append(out, c)
		}
	})
	return out
}

func (d *Decoder) seed(n *yaml.Node, into *uint64) {
	var seed int
	if d.Int(n, &seed, 0) {
		*into = uint64(seed)
	}
}

func (d *Decoder) operator(n *yaml.Node, o *Operator) {
	d.Map(n, Fields{
		"replicas": func(v *yaml.Node) {
			if d.Int(v, &o.Replicas, 1) && o.Replicas > MostOperators {
				d.Problemf(v, "%d replicas of the operator are too many: give at most %d", o.Replicas, MostOperators)
			}
		},
		"startAt": d.DurationField(&o.StartAt),
		"flags": func(v *yaml.Node) {
			o.At, o.Flags = d.Position(v), map[string]string{}
			d.mapping(v, func(key, value *yaml.Node) {
				var s string
				if d.String(value, &s) {
					o.Flags[key.Value] = s
				}
			})
		},
	})
}

func (d *Decoder) world(n *yaml.Node, w *World) {
	skew := Fields{}
	for _, domain := range clock.Domains {
		skew[string(domain)] = func(v *yaml.Node) {
			var offset time.Duration
			if d.SignedDuration(v, &offset) {
				w.ClockSkew[domain] = offset
			}
		}
	}
	d.Map(n, Fields{
		"podStart":        d.DurationField(&w.PodStart),
		"kubeletCacheLag": d.DurationField(&w.KubeletCacheLag),
		"clockSkew":       func(v *yaml.Node) { d.Map(v, skew) },
		"crds": func(v *yaml.Node) {
			d.List(v, func(item *yaml.Node) {
				var name string
				if d.OneOf(item, &name, "CRD set", foreign.Tools()) {
					w.CRDs = append(w.CRDs, name)
				}
			})
		},
	})
}

var (
	workloadKey = regexp.MustCompile(`^[^/]+/(Deployment|StatefulSet|DaemonSet|Rollout)/[^/]+$`)
	requestKey  = regexp.MustCompile(`^[^/]+/[^/]+$`)
)

func (d *Decoder) expect(n *yaml.Node, e *Expect) {
	d.Map(n, Fields{
		"settle": d.DurationField(&e.Settle),
		"restarts": func(v *yaml.Node) {
			if v.Kind == yaml.ScalarNode && v.Value == anyRestarts {
				e.AnyRestarts = true
				return
			}
			d.mapping(v, func(key, value *yaml.Node) {
				if !workloadKey.MatchString(key.Value) {
					d.Problemf(key, "%q is not namespace/Kind/name with a Kind KICK restarts, such as shop/Deployment/web", key.Value)
					return
				}
				if r, ok := d.count(value); ok {
					e.Restarts[key.Value] = r
				}
			})
		},
		"requests": func(v *yaml.Node) {
			d.mapping(v, func(key, value *yaml.Node) {
				var phase string
				if !requestKey.MatchString(key.Value) {
					d.Problemf(key, "%q is not namespace/name of a KickRequest, such as shop/deployment-web", key.Value)
				} else if d.OneOf(value, &phase, "phase", Phases) {
					e.Requests[key.Value] = phase
				}
			})
		},
		"allow": func(v *yaml.Node) {
			d.Map(v, Fields{"spurious": d.IntField(&e.Allow.Spurious, 0), "lost": d.IntField(&e.Allow.Lost, 0)})
		},
	})
}

// count reads a number or {min, max}.
func (d *Decoder) count(n *yaml.Node) (Range, bool) {
	if n.Kind != yaml.MappingNode {
		var exact int
		ok := d.Int(n, &exact, 0)
		return Range{exact, exact}, ok
	}
	r := Range{Min: 0, Max: -1}
	before := len(*d.problems)
	d.Map(n, Fields{"min": d.IntField(&r.Min, 0), "max": d.IntField(&r.Max, 0)})
	if r.Max >= 0 && r.Max < r.Min {
		d.Problemf(n, "max %d is below min %d", r.Max, r.Min)
	}
	return r, len(*d.problems) == before
}

// steps reads the list of steps and checks that no time lies in the past as far
// as a file alone can tell; the runner checks again.
func (d *Decoder) steps(n *yaml.Node) []Step {
	var out []Step
	var reached time.Duration
	d.List(n, func(item *yaml.Node) {
		s, ok := d.step(item)
		if !ok {
			return
		}
		if s.AtSet && s.At < reached {
			d.Problemf(keyNode(item, "at"), "at %s lies in the past: the steps before reach %s", s.At, reached)
		}
		if s.AtSet {
			reached = max(reached, s.At)
		} else {
			reached += s.After
		}
		if passes, ok := s.Action.(interface{ Passes() time.Duration }); ok {
			reached += passes.Passes()
		}
		out = append(out, s)
	})
	return out
}

func (d *Decoder) step(n *yaml.Node) (Step, bool) {
	s := Step{Where: d.Position(n)}
	fields := Fields{
		"at":    func(v *yaml.Node) { s.AtSet = true; d.Duration(v, &s.At) },
		"after": d.DurationField(&s.After),
		"name":  d.StringField(&s.Name),

		"mayFail": d.BoolField(&s.MayFail),
	}
	var verbs []string
	before := len(*d.problems)
	ok := d.mapping(n, func(key, value *yaml.Node) {
		if read, known := fields[key.Value]; known {
			read(value)
			return
		}
		verb, known := d.parser.verbs[key.Value]
		if !known {
			choices := slices.Concat(names(d.parser.verbs), names(fields))
			d.Problemf(key, "unknown step verb %q%s (kick-sim list steps)", key.Value, suggest(key.Value, choices))
			return
		}
		verbs = append(verbs, key.Value)
		s.Verb, s.Action = key.Value, verb.Decode(d, value)
	})
	if !ok {
		return s, false
	}
	if len(verbs) > 1 {
		d.Problemf(n, "a step has one verb, this one has %s: write two steps", quoted(verbs))
	}
	if len(verbs) == 0 && len(*d.problems) == before {
		d.Problemf(n, "the step has no verb (kick-sim list steps)")
	}
	if s.AtSet && keyNode(n, "after") != nil {
		d.Problemf(n, "give either at or after, not both")
	}
	return s, len(*d.problems) == before
}

// FaultName reads the name of a known fault.
func (d *Decoder) FaultName(n *yaml.Node, into *string) bool {
	if !d.String(n, into) {
		return false
	}
	if _, ok := d.parser.faults[*into]; !ok {
		d.Problemf(n, "unknown fault %q%s (kick-sim list faults)", *into, suggest(*into, names(d.parser.faults)))
		return false
	}
	return true
}
