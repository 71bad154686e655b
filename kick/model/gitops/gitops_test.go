package gitops_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/request"
)

var object = map[string]any{
	"text": "a", "number": int64(7), "yes": true, "null": nil, "time": "2026-03-02T12:00:00+01:00", "late": "soon",
	"texts": []any{"a", "b"}, "mixed": []any{"a", int64(7)},
	"deep":    map[string]any{"er": map[string]any{"text": "b"}},
	"objects": []any{map[string]any{"name": "x"}, map[string]any{"name": int64(8)}},
	"broken":  []any{map[string]any{"name": "x"}, "y"},
}

func TestFields(t *testing.T) {
	f := gitops.Read("Thing a/b", object)
	if f.String("text") != "a" || f.Int("number") != 7 || !f.Bool("yes") || f.String("deep", "er", "text") != "b" {
		t.Error("a value is not what it is")
	}
	if f.String("null") != "" || f.String("nowhere", "at", "all") != "" || f.Has("null") || !f.Has("deep", "er") {
		t.Error("what is missing is there")
	}
	if got := f.Time("time"); !got.Equal(time.Date(2026, 3, 2, 11, 0, 0, 0, time.UTC)) || got.Location() != time.UTC {
		t.Errorf("time %v", got)
	}
	if got := f.Strings("texts"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("texts %v", got)
	}
	if f.Err() != nil {
		t.Error(f.Err())
	}
}

func TestFieldsSayWhatIsWrong(t *testing.T) {
	tests := map[string]struct {
		read func(*gitops.Fields)
		want string
	}{
		"text":    {func(f *gitops.Fields) { f.String("number") }, `Thing a/b: number "7": want a text`},
		"number":  {func(f *gitops.Fields) { f.Int("text") }, `Thing a/b: text "a": want a whole number`},
		"bool":    {func(f *gitops.Fields) { f.Bool("text") }, `want true or false`},
		"time":    {func(f *gitops.Fields) { f.Time("late") }, `Thing a/b: late "soon": want a time`},
		"list":    {func(f *gitops.Fields) { f.Strings("text") }, `want a list`},
		"element": {func(f *gitops.Fields) { f.Strings("mixed") }, `Thing a/b: mixed[1] "7": want a text`},
		"path":    {func(f *gitops.Fields) { f.String("text", "below") }, `Thing a/b: text "a": want an object`},
		"inner":   {func(f *gitops.Fields) { f.Each(func(e *gitops.Fields) { e.String("name") }, "objects") }, `Thing a/b: objects[1].name "8": want a text`},
		"object":  {func(f *gitops.Fields) { f.Each(func(*gitops.Fields) {}, "broken") }, `Thing a/b: broken[1] "y": want an object`},
		"first":   {func(f *gitops.Fields) { f.String("number"); f.Int("text") }, "number"},
		"long":    {func(f *gitops.Fields) { f.Wrong(strings.Repeat("x", 1000), "less", "p") }, strings.Repeat("x", 80) + `": want less`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := gitops.Read("Thing a/b", object)
			tt.read(f)
			if f.Err() == nil || !strings.Contains(f.Err().Error(), tt.want) {
				t.Errorf("error %v, want %q", f.Err(), tt.want)
			}
		})
	}
}

func TestClosedSaysWhenItLooksAgain(t *testing.T) {
	at := time.Date(2026, 3, 2, 12, 0, 0, 1, time.UTC)
	gate := gitops.ClosedUntil(request.OutsideSchedule, "shut", at, gitops.WakeOnProject, gitops.WakeOnOwner)
	if want := "shut; looks again at 2026-03-02T12:00:00Z or when the project or Argo CD's settings change or when its owner changes"; gate.Detail != want {
		t.Errorf("%q, want %q", gate.Detail, want)
	}
	if want := at.Add(999 * time.Nanosecond); !gate.WakeAt.Equal(want) || gate.Open {
		t.Errorf("wakes at %v, want %v", gate.WakeAt, want)
	}
	if gate := gitops.Closed(request.OwnerUnknown, "shut", model.WakeOnPolicy); !gate.WakeAt.IsZero() || gate.Detail != "shut; looks again when the policy changes" {
		t.Errorf("%+v", gate)
	}
}

func TestObjectOf(t *testing.T) {
	id := model.Key{Kind: "Deployment", Namespace: "shop", Name: "web"}
	if got := gitops.ObjectOf(&model.Workload{ID: id, APIVersion: "apps/v1"}); got != (gitops.Object{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}) {
		t.Errorf("%v", got)
	}
	if got := gitops.ObjectOf(&model.Workload{ID: id, APIVersion: "v1"}); got.Group != "" {
		t.Errorf("group %q", got.Group)
	}
}

func TestListing(t *testing.T) {
	web := gitops.Object{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	role := gitops.Object{Group: "rbac.authorization.k8s.io", Kind: "Role", Namespace: "desk", Name: "system:x/y"}
	core := gitops.Object{Kind: "ConfigMap", Namespace: "shop", Name: "web"}
	packed := gitops.Pack([]gitops.Object{web, role, core, web, {Name: "a\nb"}})
	if got := gitops.Unpack(packed); !slices.Equal(got, []gitops.Object{core, web, role}) {
		t.Errorf("%v", got)
	}
	for _, o := range []gitops.Object{web, role, core} {
		if !gitops.Packed(packed, o) {
			t.Errorf("%v is lost", o)
		}
	}
	for _, o := range []gitops.Object{{}, {Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "we"}, {Kind: "Deployment", Namespace: "shop", Name: "web"}} {
		if gitops.Packed(packed, o) {
			t.Errorf("%v was not packed", o)
		}
	}
	if got := gitops.Namespaces(packed); !slices.Equal(got, []string{"desk", "shop"}) {
		t.Errorf("namespaces %v", got)
	}
	if gitops.Namespaces(gitops.Pack(nil)) != nil {
		t.Error("nothing is somewhere")
	}
}

func TestListingOfManyNamespaces(t *testing.T) {
	var all []gitops.Object
	for i := range 501 {
		all = append(all, gitops.Object{Kind: "K", Namespace: strings.Repeat("n", i+1), Name: "x"})
	}
	if got := gitops.Namespaces(gitops.Pack(all)); !slices.Equal(got, []string{gitops.Everywhere}) {
		t.Errorf("%d index values", len(got))
	}
	if got := gitops.Namespaces(gitops.Pack(all[:500])); len(got) != 500 {
		t.Errorf("%d index values, want 500", len(got))
	}
}
