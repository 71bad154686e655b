package graph

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// document is the form that kamera reads, and the hot spots found here.
type document struct {
	Nodes    []node    `json:"nodes"`
	Edges    []edge    `json:"edges"`
	Hotspots []Hotspot `json:"hotspots"`
}

type node struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
	GVK  string `json:"gvk,omitempty"`
	Role string `json:"role,omitempty"`
}

type edge struct {
	Kind    string `json:"kind"`
	From    string `json:"from"`
	To      string `json:"to"`
	Trigger string `json:"trigger,omitempty"`
	Surface string `json:"surface,omitempty"`
	Live    bool   `json:"live,omitempty"` // a read at the API server, not from the cache
}

// JSON writes the graph and its hot spots.
func (g Graph) JSON(w io.Writer) error {
	d := document{Nodes: []node{}, Edges: []edge{}, Hotspots: g.Hotspots()}
	for _, c := range g.Controllers {
		d.Nodes = append(d.Nodes, node{Kind: "controller", ID: c})
	}
	for _, k := range g.Kinds {
		d.Nodes = append(d.Nodes, node{Kind: "resource", ID: ID(k), GVK: ID(k), Role: role(k)})
	}
	for _, a := range g.Accesses {
		d.Edges = append(d.Edges, g.edge(a))
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(d)
}

func (g Graph) edge(a Access) edge {
	e := edge{From: a.Controller, To: ID(a.Kind)}
	switch a.How {
	case Triggers:
		e.Kind, e.Trigger = "triggers", "secondary"
		if g.has(a.Controller, a.Kind, Writes) {
			e.Trigger = "primary"
		}
	case Writes:
		e.Kind, e.Surface = "writes", surface(a.Surface)
	default:
		e.Kind, e.Surface, e.Live = "reads", "any", a.How == Looks
	}
	return e
}

// role says whose kind it is: KICK's own are what its users see.
func role(k schema.GroupVersionKind) string {
	if strings.HasSuffix(k.Group, "corewire.io") {
		return "user-facing"
	}
	return "builtin"
}

// The colours of edges, by How.
var colours = [...]string{Triggers: "#d97706", Reads: "#6b7280", Looks: "#2563eb", Writes: "#dc2626"}

var legend = [...]string{Triggers: "wakes", Reads: "read from the cache", Looks: "read live", Writes: "written"}

// DOT writes the graph for Graphviz.
func (g Graph) DOT(w io.Writer) error {
	var b strings.Builder
	b.WriteString("digraph kick {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n")
	for _, c := range g.Controllers {
		fmt.Fprintf(&b, "  %q [shape=box, style=filled, fillcolor=\"#fef3c7\"];\n", c)
	}
	for _, k := range g.Kinds {
		fmt.Fprintf(&b, "  %q [label=%q, shape=ellipse];\n", ID(k), k.Kind)
	}
	for _, a := range g.Accesses {
		from, to := a.Controller, ID(a.Kind)
		if a.How == Triggers {
			from, to = to, from
		}
		fmt.Fprintf(&b, "  %q -> %q [color=%q, label=%q];\n", from, to, colours[a.How], a.Surface)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// The geometry of the drawing, in pixels.
const (
	rowHeight  = 56
	left       = 150 // right edge of the controllers
	right      = 560 // left edge of the kinds
	boxHeight  = 30
	pageWidth  = 780
	pageMargin = 40
)

// SVG draws controllers on the left and kinds on the right.
func (g Graph) SVG(w io.Writer) error {
	rows := max(len(g.Controllers), len(g.Kinds))
	height := rows*rowHeight + 2*pageMargin + len(legend)*18
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n", pageWidth, height)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	y := func(i, n int) int { return pageMargin + rowHeight*i + rowHeight*(rows-n)/2 }
	from, to := map[string]int{}, map[string]int{}
	for i, c := range g.Controllers {
		from[c] = y(i, len(g.Controllers))
	}
	for i, k := range g.Kinds {
		to[ID(k)] = y(i, len(g.Kinds))
	}
	for _, a := range g.Accesses {
		line(&b, from[a.Controller], to[ID(a.Kind)], a.How)
	}
	for _, c := range g.Controllers {
		box(&b, left-130, from[c], "#fef3c7", c)
	}
	for _, k := range g.Kinds {
		box(&b, right, to[ID(k)], "#eef2ff", k.Kind)
	}
	for how, words := range legend {
		fmt.Fprintf(&b, `<text x="20" y="%d" fill="%s">%s</text>`+"\n", height-(len(legend)-how)*18, colours[how], words)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// line draws one edge; those of one pair lie beside each other.
func line(b *strings.Builder, y1, y2 int, how How) {
	shift := int(how)*6 - 9
	y1, y2 = y1+boxHeight/2+shift, y2+boxHeight/2+shift
	fmt.Fprintf(b, `<path d="M%d %d C %d %d, %d %d, %d %d" fill="none" stroke="%s" stroke-width="1.4"><title>%s</title></path>`+"\n",
		left, y1, (left+right)/2, y1, (left+right)/2, y2, right, y2, colours[how], legend[how])
}

func box(b *strings.Builder, x, y int, fill, text string) {
	const width = 170
	w := width
	if x < left {
		w = left - x
	}
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" rx="5" fill="%s" stroke="#374151"/><text x="%d" y="%d">%s</text>`+"\n",
		x, y, w, boxHeight, fill, x+10, y+20, html.EscapeString(text))
}

// Text writes the graph as a table, a line for each controller and kind, and the
// hot spots below it.
func (g Graph) Text(w io.Writer) error {
	var b strings.Builder
	for _, c := range g.Controllers {
		fmt.Fprintf(&b, "%s\n", c)
		for _, k := range g.kindsOf(c, Triggers, Reads, Looks, Writes) {
			fmt.Fprintf(&b, "  %-20s %s\n", k.Kind, strings.Join(g.ways(c, k), ", "))
		}
	}
	b.WriteString("\nhot spots\n")
	for _, h := range g.Hotspots() {
		fmt.Fprintf(&b, "  %-18s %s %s: %s\n", h.Type, strings.Join(h.Controllers, ", "), h.Resource, h.Why)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ways says in words how a controller touches a kind.
func (g Graph) ways(controller string, kind schema.GroupVersionKind) []string {
	var out []string
	for _, a := range g.Accesses {
		if a.Controller != controller || a.Kind != kind {
			continue
		}
		way := legend[a.How]
		if a.Surface != "" {
			way += " (" + a.Surface + ")"
		}
		out = append(out, way)
	}
	return out
}
