package fidelity

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/sched"
)

// generator makes the operations of one sequence.
type generator struct {
	chooser sched.Chooser
	focus   []*kind         // what this sequence is about
	there   map[string]bool // which objects are there, as far as one can guess
}

var (
	managers = []string{"kubectl", "ann", "bob", "kick", "argocd"}
	spreads  = []string{"", "", "Foreground", "Background", "Orphan"}
	graces   = []int64{0, 5, 60, -1}
)

// Generate makes a sequence of n operations. Equal choices make equal sequences.
func Generate(chooser sched.Chooser, n int) []Op {
	g := &generator{chooser: chooser, there: map[string]bool{}}
	for range 1 + g.pick(2) {
		g.focus = append(g.focus, g.weighted())
	}
	sequence := make([]Op, n)
	for i := range sequence {
		sequence[i] = g.op()
	}
	return sequence
}

// pick chooses one of n.
func (g *generator) pick(n int) int { return g.chooser.Choose(n, sched.Make, "corpus") }

// one in n times.
func (g *generator) one(n int) bool { return g.pick(n) == n-1 }

// weighted chooses a kind by its weight.
func (g *generator) weighted() *kind {
	sum := 0
	for _, k := range words.Kinds {
		sum += k.Weight
	}
	at := g.pick(sum)
	for _, k := range words.Kinds {
		if at -= k.Weight; at < 0 {
			return k
		}
	}
	panic("unreachable: the weights sum up")
}

// op makes one operation.
func (g *generator) op() Op { //nolint:cyclop // one case a verb
	if g.one(25) {
		return Op{Verb: Wait}
	}
	k := g.focus[g.pick(len(g.focus))]
	if g.one(8) {
		k = kindNamed([]string{"ConfigMap", "Secret", "Namespace"}[g.pick(3)])
	}
	op := Op{Kind: k.Kind, Name: []string{"a", "b"}[g.pick(2)], Manager: managers[g.pick(len(managers))]}
	op.Elsewhere = !k.Cluster && g.one(20)
	op.DryRun = g.one(12)
	key := fmt.Sprint(op.Elsewhere, op.Kind, op.Name)
	switch verb := g.pick(20); {
	case !g.there[key] && verb < 14:
		g.create(k, &op)
		g.there[key] = op.Name != "" && !op.DryRun
	case verb < 1:
		g.create(k, &op)
	case verb < 6:
		g.update(k, &op)
	case verb < 12:
		g.patch(k, &op)
	case verb < 16:
		g.apply(k, &op)
		g.there[key] = g.there[key] || !op.DryRun
	case verb < 18:
		g.remove(&op)
		g.there[key] = g.there[key] && op.DryRun
	default:
		g.list(&op)
	}
	return op
}

// some chooses up to n parts, mostly of the kind, sometimes of its metadata.
func (g *generator) some(k *kind, status bool, n int) []part {
	out := make([]part, 0, n)
	for range n {
		from := k.main
		switch {
		case status && !g.one(6):
			from = k.status
		case len(from) == 0 || g.pick(5) < 2:
			from = k.meta
		}
		out = append(out, from[g.pick(len(from))])
	}
	return out
}

// whole is a valid object with some parts of it replaced.
func (g *generator) whole(k *kind, parts []part) map[string]any {
	object := map[string]any{}
	if err := json.Unmarshal(k.Base, &object); err != nil {
		panic(fmt.Sprintf("vocabulary.yaml: base of %s: %v", k.Kind, err))
	}
	for _, p := range parts {
		put(object, p)
	}
	return object
}

func (g *generator) create(k *kind, op *Op) {
	op.Verb = Create
	parts := g.some(k, false, g.pick(3))
	if g.one(12) {
		op.Name = ""
		parts = append(parts, part{"/metadata/generateName", `"gen-"`})
	}
	op.Body = text(prune(g.whole(k, parts)))
}

// endpoint sometimes turns to the status subresource.
func (g *generator) endpoint(k *kind, op *Op) {
	op.Status = len(k.status) > 0 && g.pick(10) < 4
}

func (g *generator) update(k *kind, op *Op) {
	if k.Kind == "Namespace" && g.one(3) {
		op.Verb, op.Body = Finalize, []string{`{"spec":{"finalizers":null}}`, `{"spec":{"finalizers":["example.com/x"]}}`}[g.pick(2)]
		return
	}
	op.Verb = Update
	g.endpoint(k, op)
	op.Version = []string{"", "", "", "stale", "none"}[g.pick(5)]
	op.Body = text(fragment(g.some(k, op.Status, g.pick(4))))
}

func (g *generator) patch(k *kind, op *Op) {
	op.Verb = Patch
	g.endpoint(k, op)
	op.Type = []types.PatchType{types.MergePatchType, types.MergePatchType, types.JSONPatchType, types.StrategicMergePatchType}[g.pick(4)]
	parts := g.some(k, op.Status, 1+g.pick(2))
	switch {
	case g.one(30):
		op.Body = []string{`{"spec":`, `[]`, `[{"op":"jump"}]`, `"text"`, `{"spec":[]}`, `{}`, `{"metadata":null}`, `null`}[g.pick(8)]
	case op.Type == types.JSONPatchType:
		op.Body = g.jsonPatch(parts)
	case op.Type == types.StrategicMergePatchType && len(k.Strategic) > 0 && !op.Status && g.one(2):
		op.Body = string(k.Strategic[g.pick(len(k.Strategic))])
	default:
		op.Body = text(fragment(parts))
	}
}

// jsonPatch tests, adds, replaces, removes and copies.
func (g *generator) jsonPatch(parts []part) string {
	var ops []string
	for _, p := range parts {
		verb := []string{"add", "add", "replace", "remove", "test"}[g.pick(5)]
		if verb == "remove" || p.value == "null" {
			ops = append(ops, fmt.Sprintf(`{"op":"remove","path":%q}`, p.path))
			continue
		}
		ops = append(ops, fmt.Sprintf(`{"op":%q,"path":%q,"value":%s}`, verb, p.path, p.value))
	}
	if g.one(4) {
		ops = append([]string{`{"op":"test","path":"/metadata/uid","value":"$uid{self}"}`}, ops...)
	}
	if g.one(8) {
		ops = append(ops, `{"op":"copy","from":"/metadata/name","path":"/metadata/annotations/note"}`)
	}
	return "[" + strings.Join(ops, ",") + "]"
}

// apply says some fields, or a whole object.
func (g *generator) apply(k *kind, op *Op) {
	op.Verb, op.Force = Apply, g.one(2)
	g.endpoint(k, op)
	parts := g.some(k, op.Status, 1+g.pick(3))
	object := fragment(parts)
	if !op.Status && g.pick(3) > 0 {
		object = g.whole(k, parts)
	}
	if !g.one(20) {
		said, _ := object["metadata"].(map[string]any)
		if _, named := said["name"]; !named {
			put(object, part{"/metadata/name", `"$name"`})
		}
	}
	put(object, part{"/apiVersion", fmt.Sprintf("%q", k.gvk().GroupVersion())})
	put(object, part{"/kind", fmt.Sprintf("%q", k.Kind)})
	if object = prune(object); strings.Contains(k.Group, ".") {
		object = pruneEmpty(object)
	}
	op.Body = text(object)
}

func (g *generator) remove(op *Op) {
	op.Verb, op.Manager = Delete, ""
	op.Spread = spreads[g.pick(len(spreads))]
	op.UID = []string{"", "", "", "right", "wrong"}[g.pick(5)]
	// With a change of the propagation the real server checks a version twice, and the
	// second time against none.
	if version := []string{"", "", "", "right", "stale"}[g.pick(5)]; op.Spread == "" {
		op.Version = version
	}
	if g.one(3) {
		op.Grace = &graces[g.pick(len(graces))]
	}
}

func (g *generator) list(op *Op) {
	op.Verb, op.Name, op.Manager, op.DryRun = List, "", "", false
	op.Labels = []string{"", "", "tier=web", "tier!=web", "tier in (web,db)", "!tier", "app"}[g.pick(7)]
	op.Fields = []string{"", "", "metadata.name=a", "metadata.name!=a", "bogus=1", "type=Opaque", "spec.nodeName=node",
		"status.phase=Running", "metadata.namespace=x", "spec.targetRef.kind=Deployment"}[g.pick(10)]
}

// One makes one valid object of each kind.
func One(name string) []Op {
	out := make([]Op, 0, len(words.Kinds))
	for _, k := range words.Kinds {
		out = append(out, Op{Verb: Create, Kind: k.Kind, Name: name, Body: string(k.Base)})
	}
	return out
}
