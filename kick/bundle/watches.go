package bundle

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/bundle"
)

func (r *reconciler) watches() []controllers.Watch {
	return []controllers.Watch{
		{Object: &v1alpha1.ConfigBundle{}, Keys: r.declared},
		{Object: &corev1.ConfigMap{}, Keys: r.managed},
	}
}

// declared lets through what may change a declaration, and any status but the one that was
// judged right last: somebody edited it, or a write that timed out has landed after all.
func (r *reconciler) declared(_ context.Context, e controllers.Event) []model.Key {
	id := named(e)
	if e.SameSpec() && maps.Equal(e.Old.GetLabels(), e.New.GetLabels()) && maps.Equal(e.Old.GetAnnotations(), e.New.GetAnnotations()) {
		b, ok := e.New.(*v1alpha1.ConfigBundle)
		if ok && r.said.is(id, gather.BundleStatus(&b.Status)) {
			return nil
		}
	}
	return []model.Key{id}
}

// managed leads from a ConfigMap to the bundle of its name. One that the cache does not
// show yet comes by its own event.
func (r *reconciler) managed(ctx context.Context, e controllers.Event) []model.Key {
	id := named(e)
	if !r.Gather.HasBundle(ctx, id) {
		return nil
	}
	return []model.Key{id}
}

func named(e controllers.Event) model.Key {
	o := e.Object()
	return model.Key{Kind: bundle.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}
