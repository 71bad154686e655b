package steps

import "github.com/corewire/kick/sim/scenario"

// Each action is written as its verb reads it, what has its default left out.

// Encode is the argument of a write of one object.
func (w write) Encode() any {
	out := scenario.Pairs{{Name: "resource", Value: w.resources[0]}}
	if w.manager != scenario.DefaultManager {
		out = scenario.With(out, "as", w.manager)
	}
	return scenario.With(out, "subresource", w.subresource)
}

// Split is one write for each object.
func (w write) Split() []any {
	out := make([]any, len(w.resources))
	for i, r := range w.resources {
		out[i] = write{resources: []scenario.Resource{r}, manager: w.manager, subresource: w.subresource}
	}
	return out
}

// Encode is the argument of delete.
func (s deleteStep) Encode() any { return scenario.Pairs{{Name: "ref", Value: s.ref}} }

// Encode is the argument of advance.
func (s advanceStep) Encode() any { return s.by }

// Encode is the argument of settle.
func (s settleStep) Encode() any { return s.most }

// Encode is the argument of clock.
func (s clockStep) Encode() any {
	return scenario.With(scenario.Pairs{{Name: "domain", Value: s.domain}}, "step", s.by)
}

// Encode is the argument of rollout.
func (s rolloutStep) Encode() any {
	t := s.target
	arg := scenario.Pairs{{Name: "kind", Value: t.kind}, {Name: "namespace", Value: t.namespace}, {Name: "name", Value: t.name}}
	switch rolloutOps[s.op].needs {
	case "pods":
		arg = scenario.With(arg, "pods", t.pods)
	case "replicas":
		arg = append(arg, scenario.Pair{Name: "replicas", Value: t.replicas})
	}
	return scenario.Pairs{{Name: s.op, Value: arg}}
}

// Encode is the argument of operator.
func (s operatorStep) Encode() any {
	if s.pause > 0 {
		return scenario.Pairs{{Name: "pause", Value: s.pause}}
	}
	return s.op
}

// Encode is the argument of crashAtWrite.
func (s crashAtWriteStep) Encode() any {
	return scenario.Pairs{{Name: "n", Value: s.n}, {Name: "landed", Value: s.landed}}
}

// Encode is the argument of fault.
func (s faultStep) Encode() any {
	f := s.fault
	out := scenario.Pairs{{Name: "name", Value: f.Name}}
	on := scenario.With(scenario.Pairs(nil), "verb", f.Verb)
	on = scenario.With(scenario.With(on, "kind", f.Kind), "namespace", f.Namespace)
	if on = scenario.With(on, "name", f.ObjectName); len(on) > 0 {
		out = append(out, scenario.Pair{Name: "on", Value: on})
	}
	return scenario.With(out, "times", f.Times)
}

// Encode is the argument of heal.
func (healStep) Encode() any { return scenario.Pairs{} }

// Encode is the argument of assert.
func (s assertStep) Encode() any {
	return scenario.With(scenario.Pairs{{Name: "resource", Value: s.pattern}}, "within", s.within)
}

// Encode is the argument of error.
func (s errorStep) Encode() any { return scenario.Pairs{{Name: "resource", Value: s.pattern}} }
