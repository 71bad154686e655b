package operator_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/secretsstore"
	"github.com/corewire/kick/kick/operator"
)

// TestIntegrate: which tools can be asked, and what is said of the others.
//
// Proves: KICK-FEAT-039.
func TestIntegrate(t *testing.T) {
	all := func(schema.GroupVersionKind) bool { return true }
	none := func(schema.GroupVersionKind) bool { return false }
	tests := map[string]struct {
		change  func(*operator.Options)
		served  operator.Served
		asked   []string
		off     []string
		skipped []string // parts of what is logged, one a line
	}{
		"everything":      {func(o *operator.Options) { o.EnableKargo = true }, all, []string{"None", "ArgoCD", "Flux", "Kargo"}, nil, nil},
		"by default":      {func(*operator.Options) {}, all, []string{"None", "ArgoCD", "Flux"}, []string{"Kargo"}, nil},
		"a plain cluster": {func(*operator.Options) {}, none, []string{"None"}, []string{"Kargo"}, []string{"Application of argoproj.io/v1alpha1", "Kustomization of kustomize.toolkit.fluxcd.io/v1"}},
		"all off": {func(o *operator.Options) { o.EnableArgoCD, o.EnableFlux = false, false }, all,
			[]string{"None"}, []string{"ArgoCD", "Flux", "Kargo"}, nil},
		"Flux without Helm": {func(o *operator.Options) { o.EnableArgoCD = false }, func(k schema.GroupVersionKind) bool { return k.Kind != "HelmRelease" },
			[]string{"None", "Flux"}, []string{"ArgoCD", "Kargo"}, []string{"HelmRelease of helm.toolkit.fluxcd.io/v2"}},
		"a driver that is not installed": {func(o *operator.Options) { o.EnableArgoCD, o.EnableFlux, o.EnableCSI = false, false, true }, none,
			[]string{"None"}, []string{"ArgoCD", "Flux", "Kargo"}, []string{"SecretProviderClass of secrets-store.csi.x-k8s.io/v1"}},
		"Kargo without Argo CD": {func(o *operator.Options) { o.EnableKargo = true }, func(k schema.GroupVersionKind) bool { return k.Group == "kargo.akuity.io" },
			[]string{"None"}, nil, []string{"argoproj.io", "fluxcd.io"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := operator.NewOptions()
			tt.change(&o)
			i := operator.Integrate(&o, tt.served)
			var asked, off []string
			for _, p := range i.Registry.Providers {
				asked = append(asked, p.Name())
			}
			for tool := range i.Registry.Off {
				off = append(off, tool)
			}
			slices.Sort(off)
			if !slices.Equal(asked, tt.asked) || !slices.Equal(off, tt.off) {
				t.Errorf("asks %v, off %v; want %v and %v", asked, off, tt.asked, tt.off)
			}
			if len(i.Skipped) != len(tt.skipped) {
				t.Fatalf("says %q", i.Skipped)
			}
			for n, part := range tt.skipped {
				if !strings.Contains(i.Skipped[n], part) || !strings.Contains(i.Skipped[n], "--enable-") || !strings.Contains(i.Skipped[n], "integrations.") {
					t.Errorf("%q does not name %q, the flag and the chart value", i.Skipped[n], part)
				}
			}
			for _, tool := range []string{"ArgoCD", "Flux", "Kargo"} {
				if why, _ := i.Registry.Lacks(tool); (why == "") != slices.Contains(asked, tool) {
					t.Errorf("%s: %q", tool, why)
				}
			}
		})
	}
}

// TestWhatDriversBring: the kinds of the Secrets Store CSI driver are followed where the
// flag is on and all of them are installed.
//
// Proves: KICK-FEAT-026.
func TestWhatDriversBring(t *testing.T) {
	half := func(k schema.GroupVersionKind) bool { return k.Kind == "SecretProviderClass" }
	for name, tt := range map[string]struct {
		on       bool
		served   operator.Served
		followed bool
	}{
		"on": {true, func(schema.GroupVersionKind) bool { return true }, true}, "off": {false, func(schema.GroupVersionKind) bool { return true }, false},
		"only half of it installed": {true, half, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := operator.NewOptions()
			o.EnableCSI = tt.on
			i := operator.Integrate(&o, tt.served)
			if followed := i.Sources().ByName("SecretProviderClass") != nil; followed != tt.followed {
				t.Errorf("followed: %t, want %t", followed, tt.followed)
			}
			cached := 0
			for _, transform := range i.Transforms() {
				switch transform.Object.(type) {
				case *secretsstore.SecretProviderClass, *secretsstore.SecretProviderClassPodStatus:
					cached++
				}
			}
			if (cached == 2) != tt.followed || (cached == 0) == tt.followed {
				t.Errorf("%d of its kinds are cached", cached)
			}
		})
	}
}

func TestGitOpsOptions(t *testing.T) {
	o := operator.NewOptions()
	o.EnableArgoCD, o.EnableKargo, o.ArgoCD.Namespace = false, true, ""
	err := o.Validate()
	for _, part := range []string{"--enable-kargo needs --enable-argocd", "--argocd-namespace must not be empty"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
}

// TestGitOpsNamespaces: objects of tools are cached in all namespaces, or in those that
// are named, whatever is watched.
func TestGitOpsNamespaces(t *testing.T) {
	tests := map[string]struct {
		named []string
		holds map[string]bool
	}{
		"everywhere": {nil, map[string]bool{"argocd": true, "flux-system": true, "shop": true}},
		"some":       {[]string{"argocd"}, map[string]bool{"argocd": true, "flux-system": false, "shop": false}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := operator.NewOptions()
			o.GitOpsNamespaces = tt.named
			all := operator.Integrate(&o, func(schema.GroupVersionKind) bool { return true }).Transforms()
			if len(all) == 0 {
				t.Fatal("no kind is cached")
			}
			for i := range all {
				for namespace, want := range tt.holds {
					if got := all[i].Holds(types.NamespacedName{Namespace: namespace, Name: "x"}, []string{"shop"}); got != want {
						t.Errorf("%v of %s: cached %t, want %t", all[i].Object.GetObjectKind().GroupVersionKind().Kind, namespace, got, want)
					}
				}
			}
		})
	}
}
