package kargo_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/corewire/kick/kick/model/gitops/kargo"
)

func TestParseStages(t *testing.T) {
	tests := map[string]struct {
		want  []kargo.Ref
		wrong string
	}{
		"a:b":             {want: []kargo.Ref{{Project: "a", Name: "b"}}},
		" a : b ":         {want: []kargo.Ref{{Project: "a", Name: "b"}}},
		"a:b,":            {want: []kargo.Ref{{Project: "a", Name: "b"}}},
		",,a:b,,c:d,":     {want: []kargo.Ref{{Project: "a", Name: "b"}, {Project: "c", Name: "d"}}},
		"a:b,a:b":         {want: []kargo.Ref{{Project: "a", Name: "b"}}},
		"a:b:c":           {want: []kargo.Ref{{Project: "a", Name: "b:c"}}},
		"":                {},
		" , ,":            {},
		"a":               {wrong: `"a": want project:stage`},
		"a:":              {wrong: `"a:": want project:stage`},
		":b":              {wrong: `":b": want project:stage`},
		"a: ":             {wrong: `"a:": want project:stage`},
		"a:b,c":           {wrong: `"c": want project:stage`},
		"*:b":             {wrong: `"*:b": a star`},
		"a:b*":            {wrong: `"a:b*": a star`},
		"a:b,c:*,d:e":     {wrong: `"c:*": a star`},
		"a:b;c:d,nothing": {wrong: `"nothing"`},
	}
	for value, tt := range tests {
		t.Run(value, func(t *testing.T) {
			got, err := kargo.ParseStages(value)
			if tt.wrong == "" && err != nil || tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
				t.Fatalf("error %v, want %q", err, tt.wrong)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// FuzzStages: what is read is trimmed, whole and free of stars, or it is an error.
func FuzzStages(f *testing.F) {
	for _, seed := range []string{"a:b", " a:b ,c : d,", "*", ":", ",", "a:*", "\x00:\xff", strings.Repeat("a:b,", 50)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		refs, err := kargo.ParseStages(value)
		if err != nil && refs != nil {
			t.Error("an error and a result")
		}
		for i, r := range refs {
			if r.Project == "" || r.Name == "" || strings.TrimSpace(r.Project) != r.Project || strings.ContainsAny(r.Project+r.Name, "*,") || strings.Contains(r.Project, ":") {
				t.Errorf("%q was read as %q", value, r)
			}
			if slices.Contains(refs[:i], r) {
				t.Errorf("%q is there twice", r)
			}
		}
	})
}

// FuzzStageObject: whatever a Stage or Promotion holds, it is read or refused.
func FuzzStageObject(f *testing.F) {
	for _, seed := range []string{`{}`, `{"status":{"currentPromotion":{}}}`, `{"status":{"currentPromotion":7,"lastPromotion":[]}}`, `{"spec":{"stage":7},"status":{"phase":[]}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var object map[string]any
		if json.Unmarshal([]byte(text), &object) != nil {
			t.Skip()
		}
		ref := kargo.Ref{Project: "p", Name: "s"}
		if _, err := kargo.ReadStage(ref, object); err != nil && !strings.HasPrefix(err.Error(), "Stage p/s: ") {
			t.Errorf("the error does not name the object: %v", err)
		}
		if _, running, err := kargo.ReadPromotion(ref, "x", object); err == nil && running && text == "{}" {
			t.Error("nothing runs")
		}
	})
}
