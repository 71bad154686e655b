package gather

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/gates"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/workloads"
)

// provider asks the GitOps tool of the one policy that applies. It reads live, so it is
// asked only where the answer counts: nothing else needs to know.
func (g *Gatherer) provider(ctx context.Context, s *model.Snapshot, now time.Time) error {
	name, question := gates.None{}.Name(), gates.Question{Workload: s.Workload, Annotations: s.Workload.Annotations, Now: now}
	if decide.NeedProvider(s) {
		name, question.Unreconciled = s.Policies[0].Provider, s.Policies[0].Unreconciled
	}
	var err error
	s.Provider, err = g.Providers.Ask(ctx, gates.Readers{Cache: g.Cache, Live: g.Live}, name, question)
	return err
}

// Indexed are the workloads that an index finds for a value, in all namespaces.
func (g *Gatherer) Indexed(ctx context.Context, index, value string) ([]model.Key, error) {
	var keys []model.Key
	err := g.eachWorkload(ctx, "", func(k workloads.Kind, obj client.Object) {
		keys = append(keys, model.Key{Kind: k.Name(), Namespace: obj.GetNamespace(), Name: obj.GetName()})
	}, client.MatchingFields{index: value})
	return keys, err
}

// Requested are the workloads that have a request, as often as they have one. Which of
// them wait, and for what, the cache may not show yet.
func (g *Gatherer) Requested(ctx context.Context) ([]model.Key, error) {
	var list v1alpha1.KickRequestList
	if err := g.Cache.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list requests: %w", err)
	}
	keys := make([]model.Key, 0, len(list.Items))
	for i := range list.Items {
		keys = append(keys, TargetOf(&list.Items[i]))
	}
	return keys, nil
}
