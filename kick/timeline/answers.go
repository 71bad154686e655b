package timeline

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/corewire/kick/kick/explain"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
)

// Overview answers /timeline/overview: every managed workload that the viewer may see.
type Overview struct {
	Now    time.Time `json:"now"`
	Viewer string    `json:"viewer"`
	Lanes  []Lane    `json:"lanes"`
}

func (s *Server) overview(ctx context.Context, v Viewer, r *http.Request) (any, error) {
	namespace, now := r.URL.Query().Get("namespace"), s.now()
	lanes, err := s.lanes(ctx, v, namespace, now, nil)
	return Overview{now, v.Name(), lanes}, err
}

// lanes are those of a namespace that a viewer may see; only names some of them.
func (s *Server) lanes(ctx context.Context, v Viewer, namespace string, now time.Time, only map[model.Key]bool) ([]Lane, error) {
	sees, err := s.scopeOf(ctx, v, namespace)
	if err != nil {
		return nil, err
	}
	found, err := s.Facts.Standings(ctx, namespace, now, func(k model.Key) bool { return (only == nil || only[k]) && sees.has(k) })
	if err != nil {
		return nil, err
	}
	lanes := make([]Lane, 0, len(found))
	for i := range found {
		lanes = append(lanes, laneOf(&found[i]))
	}
	return lanes, nil
}

// Workload answers /timeline: one workload, what it reads, and what the rules say of it now.
type Workload struct {
	Now     time.Time      `json:"now"`
	Lane    Lane           `json:"lane"`
	Sources []Source       `json:"sources"`
	Trail   []explain.Line `json:"trail"`
}

func (s *Server) workload(ctx context.Context, v Viewer, r *http.Request) (any, error) {
	if err := required(r, "namespace", "kind", "name"); err != nil {
		return nil, err
	}
	q, now := r.URL.Query(), s.now()
	id := model.Key{Kind: q.Get("kind"), Namespace: q.Get("namespace"), Name: q.Get("name")}
	found, err := s.standings(ctx, v, id.Namespace, now, func(k model.Key) bool { return k == id })
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, refusal{http.StatusNotFound, id.String() + " does not exist, or no KickPolicy selects it and no KickRequest is about it"}
	}
	trail, err := s.trail(ctx, id, now)
	if err != nil {
		return nil, err
	}
	return Workload{now, laneOf(&found[0]), sourcesOf(&found[0]), trail}, nil
}

// trail is what the rules say of a workload, none where no policy selects it.
func (s *Server) trail(ctx context.Context, id model.Key, now time.Time) ([]explain.Line, error) {
	snap, err := s.Facts.Workload(ctx, id, now, gather.FromCache)
	if err != nil || snap.Workload == nil || len(snap.Policies) == 0 {
		return []explain.Line{}, err
	}
	v := decide.Foresee(snap, now)
	return explain.Trail(&v), nil
}

// standings are those of a namespace, if the viewer may see it.
func (s *Server) standings(ctx context.Context, v Viewer, namespace string, now time.Time, keep func(model.Key) bool) ([]gather.Standing, error) {
	if _, err := s.scopeOf(ctx, v, namespace); err != nil {
		return nil, err
	}
	return s.Facts.Standings(ctx, namespace, now, keep)
}

// Discovery answers /timeline/discovery: what the policies of a namespace select.
type Discovery struct {
	Now       time.Time    `json:"now"`
	Namespace string       `json:"namespace"`
	Policies  []string     `json:"policies"`
	Workloads []Discovered `json:"workloads"`
}

// Discovered is a workload that a policy selects.
type Discovered struct {
	Kind     string   `json:"kind"`
	Name     string   `json:"name"`
	Policies []string `json:"policies"`
	State    string   `json:"state"`
	Reason   string   `json:"reason"`
}

func (s *Server) discovery(ctx context.Context, v Viewer, r *http.Request) (any, error) {
	if err := required(r, "namespace"); err != nil {
		return nil, err
	}
	q, now := r.URL.Query(), s.now()
	kind, part := q.Get("kind"), strings.ToLower(q.Get("name"))
	found, err := s.standings(ctx, v, q.Get("namespace"), now, func(k model.Key) bool {
		return (kind == "" || k.Kind == kind) && strings.Contains(strings.ToLower(k.Name), part)
	})
	if err != nil {
		return nil, err
	}
	out := Discovery{Now: now, Namespace: q.Get("namespace"), Workloads: []Discovered{}}
	if out.Policies, err = s.policies(ctx, out.Namespace); err != nil {
		return nil, err
	}
	for i := range found {
		names := policyNames(&found[i])
		if len(names) == 0 || q.Get("policy") != "" && !slices.Contains(names, q.Get("policy")) {
			continue
		}
		one := Discovered{Kind: found[i].Workload.ID.Kind, Name: found[i].Workload.ID.Name, Policies: names}
		one.State, one.Reason, _ = standing(&found[i])
		out.Workloads = append(out.Workloads, one)
	}
	return out, nil
}

func (s *Server) policies(ctx context.Context, namespace string) ([]string, error) {
	keys, err := s.Facts.PolicyKeys(ctx, namespace)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(keys))
	for _, k := range keys {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	return names, nil
}

// Graph answers /timeline/dag: policy -> workload -> source, in one namespace.
type Graph struct {
	Now       time.Time `json:"now"`
	Namespace string    `json:"namespace"`
	Nodes     []Node    `json:"nodes"`
	Edges     []Edge    `json:"edges"`
}

// Node is a policy, a workload or a source.
type Node struct {
	ID      string     `json:"id"` // Kind/name
	Kind    string     `json:"kind"`
	Name    string     `json:"name"`
	Column  int        `json:"column"`              // 0 policy, 1 workload, 2 source
	State   string     `json:"state,omitempty"`     // of a workload; missing: of a source that is not there
	Changed *time.Time `json:"changedAt,omitempty"` // of a source
}

// Edge leads from a policy to what it selects, or from a workload to what it reads.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
}

func (s *Server) dag(ctx context.Context, v Viewer, r *http.Request) (any, error) {
	if err := required(r, "namespace"); err != nil {
		return nil, err
	}
	namespace, now := r.URL.Query().Get("namespace"), s.now()
	found, err := s.standings(ctx, v, namespace, now, func(model.Key) bool { return true })
	if err != nil {
		return nil, err
	}
	policies, err := s.policies(ctx, namespace)
	if err != nil {
		return nil, err
	}
	g := Graph{Now: now, Namespace: namespace, Edges: []Edge{}}
	nodes := map[string]Node{}
	for _, p := range policies {
		nodes["KickPolicy/"+p] = Node{ID: "KickPolicy/" + p, Kind: "KickPolicy", Name: p}
	}
	for i := range found {
		g.add(nodes, &found[i])
	}
	g.Nodes = slices.SortedFunc(maps.Values(nodes), func(a, b Node) int {
		return cmp.Or(cmp.Compare(a.Column, b.Column), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	return g, nil
}

// add draws one workload.
func (g *Graph) add(nodes map[string]Node, s *gather.Standing) {
	n := Node{Kind: s.Workload.ID.Kind, Name: s.Workload.ID.Name, Column: 1}
	n.ID = n.Kind + "/" + n.Name
	n.State, _, _ = standing(s)
	nodes[n.ID] = n
	for _, p := range policyNames(s) {
		g.Edges = append(g.Edges, Edge{"KickPolicy/" + p, n.ID})
	}
	for _, src := range sourcesOf(s) {
		if !src.InScope {
			continue
		}
		leaf := Node{ID: src.Kind + "/" + src.Name, Kind: src.Kind, Name: src.Name, Column: 2, Changed: src.Changed}
		if !src.Present {
			leaf.State = "missing"
		}
		nodes[leaf.ID] = leaf
		g.Edges = append(g.Edges, Edge{n.ID, leaf.ID})
	}
}
