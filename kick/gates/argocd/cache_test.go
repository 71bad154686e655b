package argocd_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/corewire/kick/kick/gates/argocd"
	"github.com/corewire/kick/kick/model/gitops"
	core "github.com/corewire/kick/kick/model/gitops/argocd"
)

// large is an Application with as many Deployments as one can have, in one namespace
// each or in all the same.
func large(resources int, spread bool) *unstructured.Unstructured {
	var list []any
	for i := range resources {
		namespace := "shop"
		if spread {
			namespace = fmt.Sprintf("namespace-of-the-customer-%d", i)
		}
		list = append(list, map[string]any{
			"group": "apps", "version": "v1", "kind": "Deployment", "namespace": namespace, "status": "Synced",
			"name": fmt.Sprintf("a-workload-with-quite-a-long-name-of-its-own-%d", i), "health": map[string]any{"status": "Healthy"},
		})
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{
			"name": "shop", "namespace": "argocd", "uid": "u", "resourceVersion": "7", "labels": map[string]any{"a": "b"},
			"annotations":   map[string]any{"cached.kick.corewire.io/manages": "\napps/Deployment:shop/forged\n"},
			"managedFields": []any{map[string]any{"manager": strings.Repeat("m", 100_000)}},
		},
		"spec":   map[string]any{"source": map[string]any{"helm": map[string]any{"values": strings.Repeat("v", 100_000)}}},
		"status": map[string]any{"resources": list, "operationState": map[string]any{"syncResult": map[string]any{"resources": list}}},
	}}
}

func TestALargeApplicationIsSmallInTheCache(t *testing.T) {
	for _, spread := range []bool{false, true} {
		o := large(5_000, spread)
		argocd.Strip("apps/Deployment")(o)
		raw, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		// An index entry is a text and a set of one name.
		const indexEntry = 300
		size := len(raw) + indexEntry*len(argocd.IndexValues(o))
		if size > 1<<20 {
			t.Errorf("%d bytes, want less than 1 MB", size)
		}
		if got := len(argocd.Workloads(o)); got != 5_000 {
			t.Errorf("%d workloads are left", got)
		}
	}
}

func TestStrip(t *testing.T) {
	shared := large(3, false)
	before := shared.DeepCopy()
	mine := *shared
	argocd.Strip("apps/Deployment")(&mine)
	if diff := cmp.Diff(before.Object, shared.Object); diff != "" {
		t.Errorf("the shared object is changed:\n%s", diff)
	}
	if mine.GetName() != "shop" || mine.GetNamespace() != "argocd" || mine.GetUID() != "u" || mine.GetResourceVersion() != "7" || mine.GetLabels()["a"] != "b" {
		t.Errorf("metadata: %v", mine.Object["metadata"])
	}
	once := mine.DeepCopy()
	argocd.Strip("apps/Deployment")(&mine)
	if diff := cmp.Diff(once.Object, mine.Object); diff != "" {
		t.Errorf("stripped twice:\n%s", diff)
	}
	forged := gitops.Object{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "forged"}
	if slices.Contains(argocd.Workloads(shared), forged) || slices.Contains(argocd.Workloads(&mine), forged) {
		t.Error("somebody's annotation passes for a listing")
	}
}

func TestStripKeepsOnlyTheKinds(t *testing.T) {
	o := large(3, false)
	argocd.Strip("apps/StatefulSet")(o)
	if got := argocd.Workloads(o); len(got) != 0 {
		t.Errorf("kept %v", got)
	}
}

func TestStripOfNonsense(t *testing.T) {
	for _, status := range []any{nil, "x", map[string]any{"resources": "x"}, map[string]any{"resources": []any{7, nil, map[string]any{"kind": 7}}}} {
		o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}, "status": status}}
		argocd.Strip("apps/Deployment")(o)
		if got := argocd.IndexValues(o); len(got) != 0 {
			t.Errorf("%v is listed by %v", got, status)
		}
	}
}

func TestWorkloadIndex(t *testing.T) {
	for id, want := range map[string][]string{
		"shop:apps/Deployment:shop/web": {"control/shop"}, "a_b:apps/Deployment:shop/web": {"a/b"}, "": nil, "nonsense": nil,
	} {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetAnnotations(map[string]string{"argocd.argoproj.io/tracking-id": id})
		if got := argocd.New(core.Config{Namespace: "control"}).WorkloadIndexValues(o); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", id, got, want)
		}
	}
}
