package graph

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// How a controller touches a kind of object.
type How uint8

// The ways of touching, each an edge of the graph.
const (
	Triggers How = iota // a change of the kind wakes the controller
	Reads               // from the cache: it may lag
	Looks               // live, at the API server
	Writes
)

// Access is one way in which a controller touches a kind. Surface is "status" for
// a write of the subresource, else "".
type Access struct {
	Controller string
	Kind       schema.GroupVersionKind
	How        How
	Surface    string
}

// Graph is who touches what. Accesses are sorted and distinct.
type Graph struct {
	Controllers []string
	Kinds       []schema.GroupVersionKind
	Accesses    []Access
}

// New sorts accesses, in whatever order and however often they were recorded.
func New(accesses []Access) Graph {
	var g Graph
	g.Accesses = slices.Clone(accesses)
	slices.SortFunc(g.Accesses, func(a, b Access) int {
		return cmp.Or(
			cmp.Compare(a.Controller, b.Controller), cmp.Compare(ID(a.Kind), ID(b.Kind)),
			cmp.Compare(a.How, b.How), cmp.Compare(a.Surface, b.Surface),
		)
	})
	g.Accesses = slices.Compact(g.Accesses)
	for _, a := range g.Accesses {
		g.Controllers = append(g.Controllers, a.Controller)
		g.Kinds = append(g.Kinds, a.Kind)
	}
	slices.Sort(g.Controllers)
	g.Controllers = slices.Compact(g.Controllers)
	slices.SortFunc(g.Kinds, func(a, b schema.GroupVersionKind) int { return cmp.Compare(ID(a), ID(b)) })
	g.Kinds = slices.Compact(g.Kinds)
	return g
}

// ID names a kind as kamera does, with "core" for the group without a name.
func ID(k schema.GroupVersionKind) string {
	return cmp.Or(k.Group, "core") + "/" + k.Version + "/" + k.Kind
}

// has reports whether a controller touches a kind in one of these ways.
func (g Graph) has(controller string, kind schema.GroupVersionKind, how ...How) bool {
	return slices.ContainsFunc(g.Accesses, func(a Access) bool {
		return a.Controller == controller && a.Kind == kind && slices.Contains(how, a.How)
	})
}

// kindsOf lists the kinds a controller touches in one of these ways.
func (g Graph) kindsOf(controller string, how ...How) []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	for _, k := range g.Kinds {
		if g.has(controller, k, how...) {
			out = append(out, k)
		}
	}
	return out
}
