package timeline

import (
	"context"

	eventsv1 "k8s.io/api/events/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/model"
)

// Listen has a hub hear of every change in the caches that may change what is shown.
func Listen(ctx context.Context, h *Hub, g *gather.Gatherer, from cache.Informers) error {
	hear := map[client.Object]func(client.Object){
		&v1alpha1.KickPolicy{}:  func(client.Object) { h.ChangedAll() },
		&v1alpha1.KickRequest{}: func(o client.Object) { h.Changed(gather.TargetOf(o.(*v1alpha1.KickRequest))) },
		&v1alpha1.SourceObservation{}: func(o client.Object) {
			if keys, err := g.Consumers(ctx, ledger.SourceOf(o.(*v1alpha1.SourceObservation))); err == nil {
				h.Changed(keys...)
			}
		},
		&eventsv1.Event{}: func(o client.Object) { h.Changed(gather.RelatedTo(o.(*eventsv1.Event))) },
	}
	for _, k := range g.Workloads {
		hear[k.New()] = func(o client.Object) {
			h.Changed(model.Key{Kind: k.Name(), Namespace: o.GetNamespace(), Name: o.GetName()})
		}
	}
	for obj, note := range hear {
		informer, err := from.GetInformer(ctx, obj, cache.BlockUntilSynced(false))
		if err != nil {
			return err
		}
		if _, err := informer.AddEventHandler(handler(note)); err != nil {
			return err
		}
	}
	return nil
}

func handler(note func(client.Object)) toolscache.ResourceEventHandler {
	told := func(o any) {
		if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
			o = gone.Obj
		}
		if obj, ok := o.(client.Object); ok {
			note(obj)
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: told, DeleteFunc: told,
		UpdateFunc: func(was, is any) {
			before, ok := was.(client.Object)
			if now, same := is.(client.Object); ok && same && before.GetResourceVersion() != now.GetResourceVersion() {
				note(now)
			}
		},
	}
}
