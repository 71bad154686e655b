package graph

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The kinds of hot spot, named as kamera names them.
const (
	MultiWriter    = "multi_writer"
	FeedbackCycle  = "feedback_cycle"
	MissingTrigger = "missing_trigger"
	Reducer        = "reducer_controller"
)

// many is how many kinds wake a controller before it counts as a reducer.
const many = 3

// Hotspot is a place where the structure alone asks for care.
type Hotspot struct {
	Type        string   `json:"type"`
	Controllers []string `json:"controllers"`
	Resource    string   `json:"resource,omitempty"`
	Why         string   `json:"why"`
}

// Hotspots finds where the graph asks for care: kinds with several writers,
// controllers that wake themselves, reads of kinds that do not wake the reader,
// and controllers that bring many kinds together.
func (g Graph) Hotspots() []Hotspot {
	var out []Hotspot
	for _, k := range g.Kinds {
		out = append(out, g.writers(k)...)
	}
	for _, c := range g.Controllers {
		out = append(out, g.feedback(c)...)
		if woken := g.kindsOf(c, Triggers); len(woken) >= many {
			out = append(out, Hotspot{Type: Reducer, Controllers: []string{c}, Why: fmt.Sprintf("%d kinds wake it; their events come in any order", len(woken))})
		}
		for _, k := range g.Unwatched(c) {
			out = append(out, Hotspot{Type: MissingTrigger, Controllers: []string{c}, Resource: ID(k), Why: "it reads the kind, but a change of it does not wake it"})
		}
	}
	return out
}

// Unwatched lists the kinds a controller reads, from the cache or live, although
// no change of them wakes it.
func (g Graph) Unwatched(controller string) []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	for _, k := range g.kindsOf(controller, Reads, Looks) {
		if !g.has(controller, k, Triggers) {
			out = append(out, k)
		}
	}
	return out
}

// writers finds surfaces of a kind that more than one controller writes.
func (g Graph) writers(kind schema.GroupVersionKind) []Hotspot {
	bySurface := map[string][]string{}
	var surfaces []string
	for _, a := range g.Accesses {
		if a.Kind != kind || a.How != Writes {
			continue
		}
		if bySurface[a.Surface] == nil {
			surfaces = append(surfaces, a.Surface)
		}
		bySurface[a.Surface] = append(bySurface[a.Surface], a.Controller)
	}
	var out []Hotspot
	for _, s := range surfaces {
		if writers := bySurface[s]; len(writers) > 1 {
			out = append(out, Hotspot{
				Type: MultiWriter, Controllers: writers, Resource: ID(kind),
				Why: fmt.Sprintf("%s write its %s: each write needs a precondition", strings.Join(writers, " and "), surface(s)),
			})
		}
	}
	return out
}

// feedback finds kinds whose change wakes a controller that writes them.
func (g Graph) feedback(controller string) []Hotspot {
	var out []Hotspot
	for _, k := range g.kindsOf(controller, Writes) {
		if g.has(controller, k, Triggers) {
			out = append(out, Hotspot{Type: FeedbackCycle, Controllers: []string{controller}, Resource: ID(k), Why: "its own write wakes it: a pass that always writes would never end"})
		}
	}
	return out
}

func surface(s string) string {
	if s == "" {
		return "spec"
	}
	return s
}
