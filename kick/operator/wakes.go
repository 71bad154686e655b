package operator

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/gates/argocd"
	"github.com/corewire/kick/kick/gates/flux"
	"github.com/corewire/kick/kick/gates/kargo"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/gitops"
)

// waker leads from objects of GitOps tools to the workloads that may wait for them, by
// the indexes of the cache. A cache that cannot be read will be read by the next event.
type waker struct {
	cache    client.Reader
	gather   *gather.Gatherer
	settings types.NamespacedName // Argo CD's
}

// wakes leads from one state of an object to workloads.
type wakes func(*waker, context.Context, client.Object) []model.Key

// Watches back what the gates' answers wait for (package gitops) with events.
func (i *Integrations) Watches(cache client.Reader, g *gather.Gatherer) []controllers.Watch {
	w := &waker{cache: cache, gather: g, settings: i.settings}
	var all []controllers.Watch
	for _, k := range i.kinds {
		all = append(all, controllers.Watch{Object: object(k.GroupVersionKind), Keys: w.both(k.wakes)})
	}
	if w.settings.Name != "" {
		all = append(all, controllers.Watch{Object: &corev1.ConfigMap{}, Keys: w.both((*waker).configured)})
	}
	return all
}

// both leads from the state before and the state after an event.
func (w *waker) both(of wakes) func(context.Context, controllers.Event) []model.Key {
	return func(ctx context.Context, e controllers.Event) []model.Key {
		var keys []model.Key
		if e.Old != nil {
			keys = of(w, ctx, e.Old)
		}
		if e.New != nil {
			keys = append(keys, of(w, ctx, e.New)...)
		}
		return unique(keys)
	}
}

func unique(keys []model.Key) []model.Key {
	seen, out := map[model.Key]bool{}, keys[:0]
	for _, k := range keys {
		if !seen[k] {
			seen[k], out = true, append(out, k)
		}
	}
	return out
}

// application: what it lists, and what says that it is its.
func (w *waker) application(ctx context.Context, o client.Object) []model.Key {
	keys := w.indexed(ctx, argocd.WorkloadIndex, o.GetNamespace()+"/"+o.GetName())
	return append(keys, w.workloads(argocd.Workloads(o))...)
}

// fluxOwner: what it lists and what says that it is its, and the same of the
// HelmReleases it applies.
func (w *waker) fluxOwner(ctx context.Context, o client.Object) []model.Key {
	kind := o.GetObjectKind().GroupVersionKind().Kind
	keys := w.indexed(ctx, flux.WorkloadIndex, kind+"/"+o.GetNamespace()+"/"+o.GetName())
	listed := flux.Workloads(o)
	keys = append(keys, w.workloads(listed)...)
	for _, r := range listed {
		if r.Kind != flux.HelmRelease.Kind || r.Group != flux.HelmRelease.Group || kind == r.Kind {
			continue
		}
		release := object(flux.HelmRelease)
		if w.cache.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: r.Name}, release) == nil {
			keys = append(keys, w.fluxOwner(ctx, release)...)
		}
	}
	return keys
}

// stage: what the Applications that name it own.
func (w *waker) stage(ctx context.Context, o client.Object) []model.Key {
	return w.named(ctx, o.GetNamespace(), o.GetName())
}

// promotion: the same of its Stage.
func (w *waker) promotion(ctx context.Context, o client.Object) []model.Key {
	var keys []model.Key
	for _, stage := range kargo.IndexValues(o) {
		keys = append(keys, w.named(ctx, o.GetNamespace(), stage)...)
	}
	return keys
}

func (w *waker) named(ctx context.Context, project, stage string) []model.Key {
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(argocd.Application.GroupVersion().WithKind(argocd.Application.Kind + "List"))
	if err := w.cache.List(ctx, &list, client.MatchingFields{kargo.StageIndex: project + "/" + stage}); err != nil {
		return nil
	}
	var keys []model.Key
	for i := range list.Items {
		keys = append(keys, w.application(ctx, &list.Items[i])...)
	}
	return keys
}

// everyone: whoever waits, for which of these objects is not known without reading it.
func (w *waker) everyone(ctx context.Context, _ client.Object) []model.Key {
	keys, err := w.gather.Requested(ctx)
	if err != nil {
		return nil
	}
	return keys
}

// configured: everyone, if these are Argo CD's settings.
func (w *waker) configured(ctx context.Context, o client.Object) []model.Key {
	if client.ObjectKeyFromObject(o) != w.settings {
		return nil
	}
	return w.everyone(ctx, o)
}

func (w *waker) indexed(ctx context.Context, index, value string) []model.Key {
	keys, err := w.gather.Indexed(ctx, index, value)
	if err != nil {
		return nil
	}
	return keys
}

// workloads are those of a listing that KICK restarts.
func (w *waker) workloads(listed []gitops.Object) []model.Key {
	var keys []model.Key
	for _, o := range listed {
		if w.gather.Workloads.ByName(o.Kind) != nil {
			keys = append(keys, model.Key{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
		}
	}
	return keys
}
