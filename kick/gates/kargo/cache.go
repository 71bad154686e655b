package kargo

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/gates"
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
	gates.Keep(o, [][]string{{"spec", "stage"}, {"status", "phase"}})
}
