package flux_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/gitops/flux"
)

func TestParseID(t *testing.T) {
	tests := map[string]struct {
		want gitops.Object
		ok   bool
	}{
		"shop_web_apps_Deployment":    {gitops.Object{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, true},
		"default_podinfo__Service":    {gitops.Object{Kind: "Service", Namespace: "default", Name: "podinfo"}, true},
		"_shop__Namespace":            {gitops.Object{Kind: "Namespace", Name: "shop"}, true},
		"n_a__b_rbac.x.io_Role":       {gitops.Object{Group: "rbac.x.io", Kind: "Role", Namespace: "n", Name: "a:b"}, true},
		"_system__a__b_rbac.x.io_X":   {gitops.Object{Group: "rbac.x.io", Kind: "X", Name: "system:a:b"}, true},
		"n_a___ServiceAccountOrOther": {gitops.Object{Kind: "ServiceAccountOrOther", Namespace: "n", Name: "a_"}, true},
		"":                            {},
		"nonsense":                    {},
		"a_b":                         {},
		"a_b_C":                       {},
		"a__b_C":                      {},
		"a_b_c_":                      {},
		"___":                         {},
	}
	for id, tt := range tests {
		t.Run(id, func(t *testing.T) {
			got, ok := flux.ParseID(id)
			if ok != tt.ok || ok && got != tt.want {
				t.Errorf("%+v %v, want %+v %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// FuzzID: an id that is read gives what was written.
func FuzzID(f *testing.F) {
	for _, seed := range []string{"shop_web_apps_Deployment", "_a__b__C", "____", "_", "\xff_\x00_a_b", strings.Repeat("_", 99)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		o, ok := flux.ParseID(id)
		if !ok {
			return
		}
		if strings.Contains(o.Namespace, "_") || strings.Contains(o.Kind, "_") || strings.Contains(o.Group, "_") || o.Name == "" || o.Kind == "" {
			t.Errorf("%q was read as %+v", id, o)
		}
		if back := o.Namespace + "_" + strings.ReplaceAll(o.Name, ":", "__") + "_" + o.Group + "_" + o.Kind; !strings.Contains(id, ":") && back != id {
			t.Errorf("%q was read as %q", id, back)
		}
	})
}

// FuzzOwner: whatever an owner holds, it is read or refused.
func FuzzOwner(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"status":{"inventory":{"entries":[{"id":7}]}}}`, `{"status":{"conditions":[null]}}`, `{"spec":{"interval":7,"sourceRef":"x"}}`,
		`{"metadata":{"labels":{"a":7},"generation":1.5}}`, `{"status":{"history":[{"status":"x"}],"inventory":{"entries":[{"id":"a_b"}]}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var object map[string]any
		if json.Unmarshal([]byte(text), &object) != nil {
			t.Skip()
		}
		for _, kind := range []string{flux.Kustomization, flux.HelmRelease} {
			o, err := flux.ReadOwner(flux.Ref{Kind: kind, Namespace: "a", Name: "b"}, object, gitops.Object{})
			if err != nil && !strings.HasPrefix(err.Error(), kind+" a/b: ") {
				t.Errorf("the error does not name the object: %v", err)
			}
			if err == nil && o.Holds {
				t.Error("an inventory holds an object without a name")
			}
		}
	})
}
