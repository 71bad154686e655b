// Package kargo asks Kargo, and then Argo CD, whether a workload may be restarted. It
// reads the Stages that the Application names and leaves the judgement to
// kick/model/gitops/kargo.
package kargo

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/gates"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/gitops/argocd"
	"github.com/corewire/kick/kick/model/gitops/kargo"
)

// The kinds that are read.
var (
	Stage     = schema.GroupVersionKind{Group: "kargo.akuity.io", Version: "v1alpha1", Kind: "Stage"}
	Promotion = schema.GroupVersionKind{Group: "kargo.akuity.io", Version: "v1alpha1", Kind: "Promotion"}
)

// ArgoCD is what Kargo needs of Argo CD's provider, which whoever puts the two together
// hands in: the children of a port do not import each other.
type ArgoCD interface {
	// Owner is a question with the one Application that owns the workload; the error is
	// a gates.Shut if there is none.
	Owner(context.Context, gates.Readers, gates.Question) (*argocd.Question, error)
	// Judge answers it.
	Judge(context.Context, gates.Readers, *argocd.Question) (model.Gate, error)
}

// Provider asks Kargo. It is not detectable: nothing about a workload shows Kargo.
type Provider struct {
	Argo ArgoCD
	// Tolerant takes a Stage that an Application names and that does not exist for idle.
	// By default it shuts the gate, since it may be a slip of the pen.
	Tolerant bool
}

var _ gates.Provider = (*Provider)(nil)

// Name is "Kargo".
func (*Provider) Name() string { return "Kargo" }

// Ask waits for the Stages of the workload's Application, and then for Argo CD.
func (p *Provider) Ask(ctx context.Context, r gates.Readers, q gates.Question) (model.Gate, error) {
	gate, err := p.judge(ctx, r, q)
	return gates.Settle(gate, err, q.Now)
}

func (p *Provider) judge(ctx context.Context, r gates.Readers, q gates.Question) (model.Gate, error) {
	owned, err := p.Argo.Owner(ctx, r, q)
	if err != nil {
		return model.Gate{}, err
	}
	refs, err := kargo.ParseStages(owned.App.Annotations[argocd.StagesAnnotation])
	if err != nil {
		return kargo.Unnamed(owned.App.Ref, err.Error()), nil
	}
	asked := &kargo.Question{App: owned.App.Ref, Tolerant: p.Tolerant}
	for _, ref := range refs {
		stage, err := stage(ctx, r, ref)
		if err != nil {
			return model.Gate{}, err
		}
		asked.Stages = append(asked.Stages, stage)
	}
	gate, last, what := kargo.Judge(asked)
	if gate.Reason != "" {
		return gate, nil
	}
	owned.After, owned.AfterWhat = last, what
	return p.Argo.Judge(ctx, r, owned)
}

// stage reads a Stage live, and what runs for it from the cache: a Promotion runs only
// once the Stage names it, so that the Stage is the one that must not be old.
func stage(ctx context.Context, r gates.Readers, ref kargo.Ref) (*kargo.Stage, error) {
	object, err := gates.Get(ctx, r.Live, Stage, ref.Project, ref.Name)
	if err != nil {
		return nil, err
	}
	if object == nil {
		return &kargo.Stage{Ref: ref, Missing: true}, nil
	}
	stage, err := kargo.ReadStage(ref, object)
	if err != nil {
		return nil, gates.Malformed(err, gitops.WakeOnPromotion)
	}
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(Promotion.GroupVersion().WithKind(Promotion.Kind + "List"))
	if err := r.Cache.List(ctx, &list, client.InNamespace(ref.Project), client.MatchingFields{Index: ref.Name}); err != nil {
		return nil, fmt.Errorf("list Promotions of %s: %w", ref, err)
	}
	for i := range list.Items {
		promotion, running, err := kargo.ReadPromotion(ref, list.Items[i].GetName(), list.Items[i].Object)
		if err != nil {
			return nil, gates.Malformed(err, gitops.WakeOnPromotion)
		}
		if running {
			stage.Running = append(stage.Running, promotion)
		}
	}
	return stage, nil
}
