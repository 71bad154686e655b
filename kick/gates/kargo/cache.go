package kargo

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model/gitops/argocd"
	"github.com/corewire/kick/kick/model/gitops/kargo"
)

// Index is the name of the cache's index of Promotions by the name of their Stage. The
// label of that purpose is missing before Kargo 1.11, and shortened since.
const Index = "kick.kargo.stage"

// IndexValues are the values of a Promotion in Index.
func IndexValues(o client.Object) []string {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	stage, _, _ := unstructured.NestedString(u.Object, "spec", "stage")
	return []string{stage}
}

// StageIndex is the name of the cache's index of Applications by the Stages they name,
// each as "project/stage". It leads from an event of a Stage or a Promotion to the
// workloads that wait for it.
const StageIndex = "kick.kargo.applications"

// StageIndexValues are the values of a stripped Application in StageIndex.
func StageIndexValues(o client.Object) []string {
	refs, err := kargo.ParseStages(o.GetAnnotations()[argocd.StagesAnnotation])
	if err != nil {
		return nil // it waits for its annotation, not for a Stage
	}
	values := make([]string, len(refs))
	for i, r := range refs {
		values[i] = r.Project + "/" + r.Name
	}
	return values
}

// StripPromotion makes a cached Promotion small: it keeps which Stage it is for and its
// phase.
func StripPromotion(o client.Object) {
	keep(o, [][]string{{"spec", "stage"}, {"status", "phase"}})
}

// StripStage makes a cached Stage small: it is watched, and read live.
func StripStage(o client.Object) { keep(o, nil) }

// keep leaves of an object what names it, and some fields, whatever they hold. It
// changes only the struct it is given, and may be called again.
func keep(o client.Object, fields [][]string) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return
	}
	small := map[string]any{}
	names := []string{"name", "namespace", "uid", "resourceVersion", "generation"}
	for _, name := range names {
		fields = append(fields, []string{"metadata", name})
	}
	for _, path := range append(fields, []string{"apiVersion"}, []string{"kind"}) {
		value, found, err := unstructured.NestedFieldNoCopy(u.Object, path...)
		if !found || err != nil {
			continue
		}
		at := small
		for _, key := range path[:len(path)-1] {
			inner, ok := at[key].(map[string]any)
			if !ok {
				inner = map[string]any{}
				at[key] = inner
			}
			at = inner
		}
		at[path[len(path)-1]] = value
	}
	u.Object = small
}
