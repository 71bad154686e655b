package gatestest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corewire/kick/kick/gates"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// Now is the instant at which every question is asked.
var Now = time.Date(2026, 3, 2, 12, 0, 0, 500_000_000, time.UTC)

// Deployment is a question about shop/web.
func Deployment() gates.Question {
	return gates.Question{
		Now: Now, Annotations: map[string]string{},
		Workload: &model.Workload{ID: model.Key{Kind: "Deployment", Namespace: "shop", Name: "web"}, APIVersion: "apps/v1", Labels: map[string]string{}},
	}
}

// Tool is a provider and a world in which it lets shop/web be restarted.
type Tool struct {
	Provider gates.Provider
	World    func() *World
	Question func() gates.Question
	// Owner is the "Kind namespace/name" of the object that owns shop/web.
	Owner string
	// Kinds are those without which nothing can be said.
	Kinds []string
	Cases []Case
}

// Case is one thing that shuts the gate, or with reason Allowed does not.
type Case struct {
	Name   string
	Change func(w *World, q *gates.Question)
	Reason request.Reason
	Says   []string // parts of the message: the object, the field, the value
	WakeAt string   // RFC 3339; empty: not asked
}

// Contract holds a provider to what the port promises.
func Contract(t *testing.T, tool Tool) {
	t.Run("open", tool.open)
	t.Run("cases", tool.cases)
	t.Run("not installed", tool.notInstalled)
	t.Run("forbidden", tool.forbidden)
	t.Run("broken", tool.broken)
	t.Run("owner gone", tool.ownerGone)
	t.Run("nobody's workload", tool.nobodys)
	t.Run("nonsense in any field", tool.nonsense)
}

// ask asks, and checks what goes for every answer.
func (tool *Tool) ask(t *testing.T, w *World, q gates.Question) model.Gate {
	t.Helper()
	before := w.Copy()
	gate, err := tool.Provider.Ask(t.Context(), w.Readers(), q)
	if err != nil {
		t.Fatalf("an error instead of a gate: %v", err)
	}
	if diff := cmp.Diff(before.objects, w.objects); diff != "" {
		t.Errorf("the question changed what was read (-before +after):\n%s", diff)
	}
	again, err := tool.Provider.Ask(t.Context(), w.Readers(), q)
	if diff := cmp.Diff(gate, again); diff != "" || err != nil {
		t.Errorf("asked twice, answered differently (%v):\n%s", err, diff)
	}
	for _, problem := range Problems(gate, q.Now) {
		t.Errorf("%s, in %+v", problem, gate)
	}
	return gate
}

// Problems are what is wrong with an answer whatever the question was.
func Problems(g model.Gate, now time.Time) []string {
	var all []string
	add := func(wrong bool, what string) {
		if wrong {
			all = append(all, what)
		}
	}
	add(g.Open != (g.Reason == request.Allowed), "open and the reason do not agree")
	if g.Open {
		return all
	}
	add(g.Reason == "", "no reason")
	add(g.Detail == "", "no message")
	add(g.WakeAt.IsZero() && len(g.WakeOn) == 0, "nothing wakes it")
	add(!strings.Contains(g.Detail, "looks again "), "the message does not say when it looks again")
	add(!g.WakeAt.IsZero() && !g.WakeAt.After(now), "it wakes in the past")
	add(g.Reason == request.ProviderUnavailable && !g.WakeAt.IsZero() && g.WakeAt.Sub(now) < 30*time.Second, "it polls too often")
	add(g.WakeAt.Year() > 9999, "the API server takes no such time")
	add(!g.WakeAt.Equal(g.WakeAt.Truncate(time.Microsecond)), "KICK's clock cannot show the time it wakes at")
	return all
}

func (tool *Tool) open(t *testing.T) {
	if gate := tool.ask(t, tool.World(), tool.Question()); !gate.Open {
		t.Errorf("closed: %+v", gate)
	}
}

func (tool *Tool) cases(t *testing.T) {
	for _, c := range tool.Cases {
		t.Run(c.Name, func(t *testing.T) {
			w, q := tool.World(), tool.Question()
			c.Change(w, &q)
			gate := tool.ask(t, w, q)
			if gate.Reason != c.Reason {
				t.Fatalf("%s: %s, want %s", gate.Reason, gate.Detail, c.Reason)
			}
			for _, part := range c.Says {
				if !strings.Contains(gate.Detail, part) {
					t.Errorf("%q does not say %q", gate.Detail, part)
				}
			}
			if c.WakeAt != "" && gate.WakeAt.Format(time.RFC3339Nano) != c.WakeAt {
				t.Errorf("wakes at %s, want %s", gate.WakeAt.Format(time.RFC3339Nano), c.WakeAt)
			}
		})
	}
}

func (tool *Tool) notInstalled(t *testing.T) {
	for _, kind := range tool.Kinds {
		w := tool.World()
		w.Missing = map[string]bool{kind: true}
		if gate := tool.ask(t, w, tool.Question()); gate.Reason != request.ProviderUnavailable || !strings.Contains(gate.Detail, kind) {
			t.Errorf("without %s: %+v", kind, gate)
		}
	}
}

func (tool *Tool) forbidden(t *testing.T) {
	for _, kind := range tool.Kinds {
		w := tool.World()
		w.Forbidden = map[string]bool{kind: true}
		if gate := tool.ask(t, w, tool.Question()); gate.Reason != request.ProviderUnavailable || !strings.Contains(gate.Detail, kind) {
			t.Errorf("without a right to %s: %+v", kind, gate)
		}
	}
}

// broken: an API server that does not answer is tried again, and never taken for an
// open gate.
func (tool *Tool) broken(t *testing.T) {
	w := tool.World()
	w.Broken = errors.New("the API server does not answer")
	gate, err := tool.Provider.Ask(t.Context(), w.Readers(), tool.Question())
	if !errors.Is(err, w.Broken) || gate.Open {
		t.Errorf("error %v, open %v", err, gate.Open)
	}
}

func (tool *Tool) ownerGone(t *testing.T) {
	w := tool.World()
	w.Remove(tool.Owner)
	if gate := tool.ask(t, w, tool.Question()); gate.Reason != request.OwnerUnknown || !strings.Contains(gate.Detail, "shop/web") {
		t.Errorf("%+v", gate)
	}
}

func (tool *Tool) nobodys(t *testing.T) {
	q := tool.Question()
	other := *q.Workload
	other.ID.Name, other.Labels = "other", nil
	q.Workload, q.Annotations = &other, nil
	if gate := tool.ask(t, tool.World(), q); gate.Reason != request.OwnerUnknown || !strings.Contains(gate.Detail, "shop/other") {
		t.Errorf("%+v", gate)
	}
}

// nonsense puts something else into each field of each object, one at a time. There is
// always an answer.
func (tool *Tool) nonsense(t *testing.T) {
	tried := 0
	for _, o := range tool.World().objects {
		for _, path := range paths(o.Object, "") {
			if strings.HasPrefix(path, "apiVersion") || strings.HasPrefix(path, "kind") || path == "metadata" || strings.HasPrefix(path, "metadata name") {
				continue
			}
			for _, value := range []any{int64(7), "nonsense", "a%b/c", "9999-12-31T23:59:59.9999999Z", "", true, []any{int64(7)}, []any{"nonsense"}, map[string]any{"x": int64(7)}, []any{map[string]any{"name": int64(7)}}, nil} {
				w := tool.World()
				w.Set(idOf(o), path, value)
				tried++
				if !t.Run(fmt.Sprintf("%s %s %v", idOf(o), path, value), func(t *testing.T) { tool.ask(t, w, tool.Question()) }) {
					return
				}
			}
		}
	}
	if tried == 0 {
		t.Error("no field was tried")
	}
	t.Logf("%d fields tried", tried)
}

// paths are those of all fields of an object, through maps.
func paths(object map[string]any, prefix string) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(object)) {
		path := strings.TrimSpace(prefix + " " + key)
		all = append(all, path)
		if inner, ok := object[key].(map[string]any); ok {
			all = append(all, paths(inner, path)...)
		}
	}
	return all
}
