package argocd_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/gitops/argocd"
)

// Proves: KICK-FEAT-009.
func TestParseTrackingID(t *testing.T) {
	tests := []struct {
		id     string
		app    argocd.Ref
		object gitops.Object
		wrong  string // part of the error
	}{
		{id: "shop:apps/Deployment:shop/web", app: argocd.Ref{Namespace: "argocd", Name: "shop"}, object: gitops.Object{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}},
		{id: "teamns_app:apps/Deployment:ns/x", app: argocd.Ref{Namespace: "teamns", Name: "app"}, object: gitops.Object{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "x"}},
		{id: "my-app:/ConfigMap:ns/name", app: argocd.Ref{Namespace: "argocd", Name: "my-app"}, object: gitops.Object{Kind: "ConfigMap", Namespace: "ns", Name: "name"}},
		{id: "a:rbac.authorization.k8s.io/ClusterRole:ns/system:x:y", app: argocd.Ref{Namespace: "argocd", Name: "a"}, object: gitops.Object{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Namespace: "ns", Name: "system:x:y"}},
		{id: "a:/Namespace:/shop", app: argocd.Ref{Namespace: "argocd", Name: "a"}, object: gitops.Object{Kind: "Namespace", Name: "shop"}},
		{id: "a_b_c:apps/Deployment:ns/x", app: argocd.Ref{Namespace: "a", Name: "b_c"}, object: gitops.Object{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "x"}},
		{id: "", wrong: `"": want application:group/Kind:namespace/name`},
		{id: "shop", wrong: `"shop": want application:group/Kind:namespace/name`},
		{id: "shop:apps/Deployment", wrong: "want application:group/Kind:namespace/name"},
		{id: "shop:Deployment:shop/web", wrong: `"Deployment": want group/Kind`},
		{id: "shop:apps/v1/Deployment:shop/web", wrong: `"apps/v1/Deployment": want group/Kind`},
		{id: "shop:apps/:shop/web", wrong: `"apps/": want group/Kind`},
		{id: "shop:apps/Deployment:web", wrong: `"web": want namespace/name`},
		{id: "shop:apps/Deployment:a/b/c", wrong: `"a/b/c": want namespace/name`},
		{id: "shop:apps/Deployment:shop/", wrong: `"shop/": want namespace/name`},
		{id: ":apps/Deployment:shop/web", wrong: `"": want application or namespace_application`},
		{id: "ns_:apps/Deployment:shop/web", wrong: `"ns_": want application`},
		{id: "_app:apps/Deployment:shop/web", wrong: `"_app": want application`},
	}
	for _, tt := range tests {
		t.Run(tt.id, func(t *testing.T) {
			app, object, err := argocd.ParseTrackingID(tt.id, "argocd")
			switch {
			case tt.wrong == "" && err != nil:
				t.Fatal(err)
			case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
				t.Fatalf("error %v, want %q", err, tt.wrong)
			}
			if app != tt.app || object != tt.object {
				t.Errorf("%v %v, want %v %v", app, object, tt.app, tt.object)
			}
		})
	}
}

// FuzzTrackingID: what is read is what was written, and nothing panics.
func FuzzTrackingID(f *testing.F) {
	for _, seed := range []string{"shop:apps/Deployment:shop/web", "a_b:/ConfigMap:n/x:y", "::", ":/:/", "_:/K:/n", "a:b/c:d/e/f", "\x00:\xff/K:/n", strings.Repeat("a:", 100)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		app, o, err := argocd.ParseTrackingID(id, "argocd")
		if err != nil {
			if app != (argocd.Ref{}) || o != (gitops.Object{}) {
				t.Errorf("an error and a result: %v %v", app, o)
			}
			return
		}
		instance, _, _ := strings.Cut(id, ":")
		if instance != app.Name && instance != app.Namespace+"_"+app.Name {
			t.Errorf("%q names %v", id, app)
		}
		if want := instance + ":" + o.Group + "/" + o.Kind + ":" + o.Namespace + "/" + o.Name; want != id {
			t.Errorf("%q was read as %q", id, want)
		}
	})
}

// FuzzSettings: whatever stands in argocd-cm, there is an answer.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{
		"", "- projectName: a\n  labelSelector: {matchLabels: {a: b}}", "- {projectName: a, labelSelector: {matchExpressions: [{operator: X}]}}",
		"a: b", "[[", "- projectName: [1]", "&a [*a]", "- labelSelector: 7", "!!binary x", "- null",
	} {
		f.Add(seed, "180s", "60s")
	}
	f.Add("", "-1h", "x")
	f.Add("", "2562047h", "2562047h")
	f.Fuzz(func(t *testing.T, globals, every, jitter string) {
		s := argocd.ReadSettings("ConfigMap argocd/argocd-cm", map[string]string{
			"globalProjects": globals, "timeout.reconciliation": every, "timeout.reconciliation.jitter": jitter,
		})
		if s.Refresh < 0 || s.Refresh > math.MaxInt64/100 {
			t.Errorf("refresh %v", s.Refresh)
		}
		if _, err := s.GlobalsOf(&argocd.Project{Name: "a", Labels: map[string]string{"a": "b"}}); err != nil && !strings.Contains(err.Error(), "data.globalProjects") {
			t.Errorf("the error does not name the field: %v", err)
		}
	})
}

// FuzzObjects: whatever an Application or AppProject holds, it is read or refused.
func FuzzObjects(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"spec":{"project":7}}`, `{"status":{"resources":[{"group":"apps"},null,7]}}`, `{"status":{"reconciledAt":"x"}}`,
		`{"status":{"sync":{"comparedTo":[]}},"spec":{"sources":[null]}}`, `{"metadata":{"annotations":{"kargo.akuity.io/authorized-stage":7}}}`,
		`{"spec":{"syncWindows":[{"kind":[]}],"sourceNamespaces":["/(/","[a"]},"metadata":{"labels":{"a":7}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var object map[string]any
		if json.Unmarshal([]byte(text), &object) != nil {
			t.Skip()
		}
		workload := gitops.Object{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
		if app, err := argocd.ReadApplication(argocd.Ref{Namespace: "a", Name: "b"}, object, workload); err == nil && app.Project == "" {
			t.Error("an Application without a project")
		}
		if _, err := argocd.ReadProject("argocd", "p", object); err != nil && !strings.HasPrefix(err.Error(), "AppProject argocd/p: ") {
			t.Errorf("the error does not name the object: %v", err)
		}
	})
}

func TestGlobalsOf(t *testing.T) {
	s := argocd.ReadSettings("x", map[string]string{"globalProjects": "[{projectName: a}, {projectName: b, labelSelector: {matchLabels: {tier: x}}}, {projectName: c}]"})
	for name, want := range map[string]string{"a": "b c", "b": "a c", "d": "a b c"} {
		if got, err := s.GlobalsOf(&argocd.Project{Name: name, Labels: map[string]string{"tier": "x"}}); err != nil || strings.Join(got, " ") != want {
			t.Errorf("global projects of %s: %q, %v, want %q", name, got, err, want)
		}
	}
	if got, err := s.GlobalsOf(&argocd.Project{Name: "d"}); err != nil || strings.Join(got, " ") != "a c" {
		t.Errorf("without labels: %q, %v", got, err)
	}
}
