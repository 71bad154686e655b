package request

import (
	"context"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/sources"
	"github.com/corewire/kick/kick/workloads"
)

// watches back every model.WakeOn with an event that ends the wait.
func (r *reconciler) watches() []controllers.Watch {
	all := []controllers.Watch{
		{Object: &v1alpha1.KickRequest{}, Keys: target},            // WakeOnRequest
		{Object: &v1alpha1.KickRequest{}, Keys: r.queued},          // WakeOnRestart
		{Object: &v1alpha1.SourceObservation{}, Keys: r.consumers}, // WakeOnLedger
		{Object: &v1alpha1.KickPolicy{}, Keys: r.everyone},         // WakeOnPolicy
	}
	for _, k := range r.Gather.Workloads { // WakeOnWorkload
		all = append(all, controllers.Watch{Object: k.New(), Keys: r.touched(k)})
	}
	for _, k := range r.Gather.Sources { // WakeOnSource
		all = append(all, controllers.Watch{Object: k.New(), Keys: r.existence(k)})
	}
	return append(all, r.Watches...)
}

// target leads from a request to its workload.
func target(_ context.Context, e controllers.Event) []model.Key {
	return e.Keys(func(o client.Object) model.Key { return gather.TargetOf(o.(*v1alpha1.KickRequest)) })
}

// touched leads from a workload to itself, and to those it has its template in common
// with, now or before.
func (r *reconciler) touched(k workloads.Kind) func(context.Context, controllers.Event) []model.Key {
	return func(ctx context.Context, e controllers.Event) []model.Key {
		keys := r.Gather.Touched(ctx, k, e.Object())
		if e.Old == nil || e.New == nil || e.SameSpec() {
			return keys
		}
		for _, before := range r.Gather.Touched(ctx, k, e.Old) {
			if !slices.Contains(keys, before) {
				keys = append(keys, before)
			}
		}
		return keys
	}
}

// queued leads from a request that ceased to watch a restart to those that wait for
// that. One that waited and does not any more passes it on: it may not have taken the
// turn it was given.
func (r *reconciler) queued(ctx context.Context, e controllers.Event) []model.Key {
	before, _ := e.Old.(*v1alpha1.KickRequest)
	after, _ := e.New.(*v1alpha1.KickRequest)
	if before == nil || !ceased(before, after, executes) && !ceased(before, after, gather.Queued) {
		return nil
	}
	keys, err := r.Gather.NextQueued(ctx)
	if err != nil { // a cache that cannot be read will be read by the next event
		return nil
	}
	return keys
}

func executes(r *v1alpha1.KickRequest) bool { return r.Status.Phase == v1alpha1.PhaseExecuting }

// ceased reports whether something was so before and is not any more.
func ceased(before, after *v1alpha1.KickRequest, is func(*v1alpha1.KickRequest) bool) bool {
	return is(before) && (after == nil || !is(after))
}

// consumers leads from a record to the workloads that read its source.
func (r *reconciler) consumers(ctx context.Context, e controllers.Event) []model.Key {
	var keys []model.Key
	for _, source := range e.Keys(func(o client.Object) model.Key { return ledger.SourceOf(o.(*v1alpha1.SourceObservation)) }) {
		keys = append(keys, r.of(ctx, source)...)
	}
	return keys
}

// everyone leads from a policy to all workloads of its namespace: which of them it
// selects, and selected before, is for the pass to see.
func (r *reconciler) everyone(ctx context.Context, e controllers.Event) []model.Key {
	if e.SameSpec() {
		return nil // its status
	}
	keys, err := r.Gather.WorkloadKeys(ctx, e.Object().GetNamespace())
	if err != nil { // a cache that cannot be read will be read by the next event
		return nil
	}
	return keys
}

// existence lets a missing source or key wake those that wait for it, and a label
// those whose scope it decides. Content comes through the ledger, but for one that is
// on record already: whoever takes the record for older than the source waits for
// this cache to catch up with it.
func (r *reconciler) existence(k sources.Kind) func(context.Context, controllers.Event) []model.Key {
	return func(ctx context.Context, e controllers.Event) []model.Key {
		same := e.Old != nil && e.New != nil && sameKeys(k, e) && maps.Equal(e.Old.GetLabels(), e.New.GetLabels())
		if same && (sources.Digest(e.Old) == sources.Digest(e.New) || !r.Gather.OnRecord(ctx, k, e.New)) {
			return nil
		}
		o := e.Object()
		return r.of(ctx, model.Key{Kind: k.Name(), Namespace: o.GetNamespace(), Name: o.GetName()})
	}
}

func sameKeys(k sources.Kind, e controllers.Event) bool { return names(k, e.Old) == names(k, e.New) }

// names joins the key names; a slash cannot stand in one.
func names(k sources.Kind, o client.Object) string {
	all := k.KeyNames(o)
	slices.Sort(all)
	return strings.Join(all, "/")
}

func (r *reconciler) of(ctx context.Context, source model.Key) []model.Key {
	keys, err := r.Gather.Consumers(ctx, source)
	if err != nil { // a cache that cannot be read will be read by the next event
		return nil
	}
	return keys
}
