package flux_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/corewire/kick/kick/gates/flux"
	"github.com/corewire/kick/kick/model/gitops"
)

func TestStrip(t *testing.T) {
	shared := &unstructured.Unstructured{Object: world(kustomized)().Object(kustomization)}
	shared.Object["status"].(map[string]any)["inventory"].(map[string]any)["entries"] = entries("shop_web_apps_Deployment", "nonsense", "shop_web__Service", "shop_web_helm.toolkit.fluxcd.io_HelmRelease")
	before, mine := shared.DeepCopy(), *shared
	flux.Strip("apps/Deployment")(&mine)
	if diff := cmp.Diff(before.Object, shared.Object); diff != "" {
		t.Errorf("the shared object is changed:\n%s", diff)
	}
	want := []gitops.Object{
		{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
		{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "shop", Name: "web"},
	}
	for range 2 {
		if got := flux.Workloads(&mine); !slices.Equal(got, want) {
			t.Errorf("lists %v, want %v", got, want)
		}
		if got := flux.IndexValues(&mine); !slices.Equal(got, []string{"shop"}) {
			t.Errorf("index %v", got)
		}
		flux.Strip("apps/Deployment")(&mine)
	}
	if _, has := mine.Object["spec"]; has {
		t.Error("the spec is kept")
	}
}

func TestWorkloadIndex(t *testing.T) {
	for name, test := range map[string]struct{ labels, want []string }{
		"none":          {},
		"half":          {labels: []string{"kustomize.toolkit.fluxcd.io/name", "a"}},
		"kustomization": {[]string{"kustomize.toolkit.fluxcd.io/name", "a", "kustomize.toolkit.fluxcd.io/namespace", "b"}, []string{"Kustomization/b/a"}},
		"both": {
			[]string{"kustomize.toolkit.fluxcd.io/name", "a", "kustomize.toolkit.fluxcd.io/namespace", "b", "helm.toolkit.fluxcd.io/name", "c", "helm.toolkit.fluxcd.io/namespace", "d"},
			[]string{"Kustomization/b/a", "HelmRelease/d/c"},
		},
	} {
		labels := map[string]string{}
		for pair := range slices.Chunk(test.labels, 2) {
			labels[pair[0]] = pair[1]
		}
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetLabels(labels)
		if got := flux.WorkloadIndexValues(o); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
