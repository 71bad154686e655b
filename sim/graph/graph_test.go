package graph

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	pods     = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	sets     = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}
	requests = schema.GroupVersionKind{Group: "kick.corewire.io", Version: "v1alpha1", Kind: "KickRequest"}
	records  = schema.GroupVersionKind{Group: "kick.corewire.io", Version: "v1alpha1", Kind: "SourceObservation"}
)

// sample has one hot spot of each type.
func sample() Graph {
	return New([]Access{
		{"request", requests, Writes, "status"},
		{"request", requests, Triggers, ""},
		{"request", records, Triggers, ""},
		{"request", sets, Triggers, ""},
		{"request", sets, Reads, ""},
		{"request", pods, Looks, ""},
		{"request", pods, Looks, ""},
		{"cleanup", requests, Writes, "status"},
	})
}

func TestHotspots(t *testing.T) {
	type spot struct{ typ, controllers, resource string }
	var got []spot
	for _, h := range sample().Hotspots() {
		if h.Why == "" {
			t.Errorf("%s on %s does not say why", h.Type, h.Resource)
		}
		got = append(got, spot{h.Type, strings.Join(h.Controllers, " "), h.Resource})
	}
	want := []spot{
		{MultiWriter, "cleanup request", "kick.corewire.io/v1alpha1/KickRequest"},
		{FeedbackCycle, "request", "kick.corewire.io/v1alpha1/KickRequest"},
		{Reducer, "request", ""},
		{MissingTrigger, "request", "core/v1/Pod"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(spot{})); diff != "" {
		t.Errorf("hot spots (-want +got):\n%s", diff)
	}
}

// TestOneWriterOfEachSurface: spec and status are different things to write.
func TestOneWriterOfEachSurface(t *testing.T) {
	g := New([]Access{{"a", requests, Writes, "status"}, {"b", requests, Writes, ""}})
	if spots := g.Hotspots(); len(spots) != 0 {
		t.Errorf("got %v", spots)
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := sample().JSON(&b); err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	wantNodes := []node{
		{Kind: "controller", ID: "cleanup"},
		{Kind: "controller", ID: "request"},
		{Kind: "resource", ID: "apps/v1/StatefulSet", GVK: "apps/v1/StatefulSet", Role: "builtin"},
		{Kind: "resource", ID: "core/v1/Pod", GVK: "core/v1/Pod", Role: "builtin"},
		{Kind: "resource", ID: "kick.corewire.io/v1alpha1/KickRequest", GVK: "kick.corewire.io/v1alpha1/KickRequest", Role: "user-facing"},
		{Kind: "resource", ID: "kick.corewire.io/v1alpha1/SourceObservation", GVK: "kick.corewire.io/v1alpha1/SourceObservation", Role: "user-facing"},
	}
	if diff := cmp.Diff(wantNodes, d.Nodes); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	wantEdges := []edge{
		{Kind: "writes", From: "cleanup", To: ID(requests), Surface: "status"},
		{Kind: "triggers", From: "request", To: ID(sets), Trigger: "secondary"},
		{Kind: "reads", From: "request", To: ID(sets), Surface: "any"},
		{Kind: "reads", From: "request", To: ID(pods), Surface: "any", Live: true},
		{Kind: "triggers", From: "request", To: ID(requests), Trigger: "primary"},
		{Kind: "writes", From: "request", To: ID(requests), Surface: "status"},
		{Kind: "triggers", From: "request", To: ID(records), Trigger: "secondary"},
	}
	if diff := cmp.Diff(wantEdges, d.Edges); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	var b bytes.Buffer
	if err := sample().SVG(&b); err != nil {
		t.Fatal(err)
	}
	paths := 0
	for d := xml.NewDecoder(&b); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "path" {
			paths++
		}
	}
	if want := len(sample().Accesses); paths != want {
		t.Errorf("%d lines, want %d", paths, want)
	}
}

func TestDOTAndText(t *testing.T) {
	var dot, text bytes.Buffer
	if err := errors.Join(sample().DOT(&dot), sample().Text(&text)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"apps/v1/StatefulSet" -> "request"`, `"request" -> "core/v1/Pod"`} {
		if !strings.Contains(dot.String(), want) {
			t.Errorf("no %s in\n%s", want, &dot)
		}
	}
	for _, want := range []string{"Pod                  read live", "KickRequest          wakes, written (status)", "missing_trigger"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
}
