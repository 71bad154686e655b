package scenario

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"gopkg.in/yaml.v3"
)

// Write writes a scenario as a file that ParseFile reads back: what stands in
// manifests is written out, what has its default is left out, and what fits into a
// line is written in one. Places in files are lost.
func Write(w io.Writer, s Scenario) error {
	spec, err := specOf(s)
	if err != nil {
		return fmt.Errorf("write scenario %s: %w", s.Name, err)
	}
	document, err := node(Pairs{
		{"apiVersion", APIVersion}, {"kind", Kind}, {"metadata", Pairs{{"name", s.Name}}}, {"spec", spec},
	})
	if err != nil {
		return fmt.Errorf("write scenario %s: %w", s.Name, err)
	}
	layOut(document, 0)
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(document); err != nil {
		return fmt.Errorf("write scenario %s: %w", s.Name, err)
	}
	return encoder.Close()
}

func specOf(s Scenario) (Pairs, error) {
	spec := With(Pairs{}, "summary", s.Summary)
	if len(s.Proves) > 0 {
		spec = append(spec, Pair{"proves", s.Proves})
	}
	if !s.Start.Equal(DefaultStart) {
		spec = append(spec, Pair{"start", s.Start})
	}
	if s.Seed != DefaultSeed {
		spec = append(spec, Pair{"seed", s.Seed})
	}
	spec = group(spec, "operator", operatorOf(s.Operator))
	spec = group(spec, "world", worldOf(s.World))
	var given []any
	for _, r := range s.Given {
		given = append(given, With(Pairs{{"resource", r}}, "as", r.Manager))
	}
	steps, err := stepsOf(s.Steps)
	if err != nil {
		return nil, err
	}
	var choices []any
	for _, c := range s.Choices {
		choices = append(choices, Pairs{{"class", c.Class.String()}, {"site", c.Site}, {"nth", c.Nth}, {"pick", c.Pick}})
	}
	for _, list := range []Pair{{"given", given}, {"steps", steps}, {"choices", choices}} {
		if len(list.Value.([]any)) > 0 {
			spec = append(spec, list)
		}
	}
	return group(spec, "expect", expectOf(s.Expect)), nil
}

// group adds a mapping that has fields.
func group(p Pairs, name string, fields Pairs) Pairs {
	if len(fields) == 0 {
		return p
	}
	return append(p, Pair{name, fields})
}

func operatorOf(o Operator) Pairs {
	var out Pairs
	if o.Replicas != 1 {
		out = append(out, Pair{"replicas", o.Replicas})
	}
	return group(With(out, "startAt", o.StartAt), "flags", pairsOf(o.Flags))
}

func worldOf(w World) Pairs {
	var out Pairs
	if w.PodStart != DefaultPodStart {
		out = append(out, Pair{"podStart", w.PodStart})
	}
	out = With(out, "kubeletCacheLag", w.KubeletCacheLag)
	skew := map[string]time.Duration{}
	for domain, offset := range w.ClockSkew {
		if offset != 0 {
			skew[string(domain)] = offset
		}
	}
	out = group(out, "clockSkew", pairsOf(skew))
	if len(w.CRDs) > 0 {
		out = append(out, Pair{"crds", w.CRDs})
	}
	return out
}

func stepsOf(steps []Step) ([]any, error) {
	var out []any
	for i, s := range steps {
		parts := []any{s.Action}
		if several, ok := s.Action.(Splitter); ok {
			parts = several.Split()
		}
		for _, part := range parts {
			action, ok := part.(Encoder)
			if !ok {
				return nil, fmt.Errorf("step %d: the verb %q cannot be written", i+1, s.Verb)
			}
			out = append(out, append(placeOf(s), Pair{s.Verb, action.Encode()}))
			s.AtSet, s.After = false, 0
		}
	}
	return out, nil
}

// placeOf are the fields of a step besides its verb.
func placeOf(s Step) Pairs {
	var out Pairs
	if s.AtSet {
		out = Pairs{{"at", s.At}}
	}
	return With(With(With(out, "after", s.After), "name", s.Name), "mayFail", s.MayFail)
}

func expectOf(e Expect) Pairs {
	var out Pairs
	if e.Settle != DefaultSettle {
		out = append(out, Pair{"settle", e.Settle})
	}
	if e.AnyRestarts {
		out = append(out, Pair{"restarts", anyRestarts})
	}
	restarts := map[string]any{}
	for workload, r := range e.Restarts {
		restarts[workload] = rangeOf(r)
	}
	if !e.AnyRestarts {
		out = group(out, "restarts", pairsOf(restarts))
	}
	out = group(out, "requests", pairsOf(e.Requests))
	return group(out, "allow", With(With(Pairs{}, "spurious", e.Allow.Spurious), "lost", e.Allow.Lost))
}

// rangeOf is a number, or {min, max}.
func rangeOf(r Range) any {
	if r.Min == r.Max {
		return r.Min
	}
	out := Pairs{{"min", r.Min}}
	if r.Max >= 0 {
		out = append(out, Pair{"max", r.Max})
	}
	return out
}

// pairsOf orders a map by name.
func pairsOf[V any](m map[string]V) Pairs {
	var out Pairs
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, Pair{name, m[name]})
	}
	return out
}

// lineWidth is how long a mapping or a list written in one line may be, its
// indentation included.
const lineWidth = 140

// layOut writes in one line whatever fits, and everything else in lines of its own.
// What makes up a scenario always has lines of its own: its fields, those of its
// spec, and each object and step.
func layOut(n *yaml.Node, depth int) {
	if n.Kind == yaml.ScalarNode {
		return
	}
	if len(n.Content) == 0 || depth >= 2 && !entries(n, depth) && 2*depth+width(n) <= lineWidth {
		n.Style = yaml.FlowStyle
		return
	}
	for i, child := range n.Content {
		if n.Kind == yaml.SequenceNode || i%2 == 1 {
			layOut(child, depth+1)
		}
	}
}

// entries reports that a node is a list of objects, steps or choices.
func entries(n *yaml.Node, depth int) bool {
	return depth == 2 && n.Kind == yaml.SequenceNode && n.Content[0].Kind == yaml.MappingNode
}

// width is about how long a node is in one line.
func width(n *yaml.Node) int {
	total := len(n.Value) + 2
	for _, child := range n.Content {
		total += width(child)
	}
	return total
}
