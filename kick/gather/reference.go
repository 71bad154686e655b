package gather

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/workloads"
)

// IndexTemplate finds workloads by the one whose template they run, "<kind>/<name>".
const IndexTemplate = "kick.template"

// TemplateValues are the values of IndexTemplate.
func TemplateValues(k workloads.Referrer, obj client.Object) []string {
	ref, is := k.Reference(obj)
	if !is {
		return nil
	}
	return []string{ref.Kind + "/" + ref.Name}
}

// resolve gives a workload that runs the template of another one that template. Where
// the other does not exist it has none, and reads nothing.
func (g *Gatherer) resolve(ctx context.Context, from client.Reader, kind workloads.Kind, obj client.Object) (client.Object, error) {
	referrer, may := kind.(workloads.Referrer)
	if !may {
		return obj, nil
	}
	ref, is := referrer.Reference(obj)
	owner := g.Workloads.ByName(ref.Kind)
	if !is || owner == nil {
		return obj, nil
	}
	referenced := owner.New()
	found, err := get(ctx, from, ref, referenced)
	if err != nil || !found {
		return obj, err
	}
	return referrer.Resolve(obj, owner.Template(referenced), owner.Selector(referenced)), nil
}

// eachReferrer visits the workloads that run the template of another one. The cache
// finds them by its index, a live reader by looking through the namespace.
func (g *Gatherer) eachReferrer(ctx context.Context, f Freshness, id model.Key, visit func(workloads.Kind, client.Object)) error {
	for _, k := range g.Workloads {
		referrer, may := k.(workloads.Referrer)
		if !may || k.Name() == id.Kind {
			continue
		}
		from, options := g.Live, []client.ListOption{client.InNamespace(id.Namespace)}
		if f == FromCache {
			from, options = g.Cache, append(options, client.MatchingFields{IndexTemplate: id.Kind + "/" + id.Name})
		}
		list := k.NewList()
		if err := from.List(ctx, list, options...); err != nil {
			return fmt.Errorf("list %ss of %s: %w", k.Name(), id.Namespace, err)
		}
		for _, obj := range k.Objects(list) {
			if ref, is := referrer.Reference(obj); is && ref == id {
				visit(k, obj)
			}
		}
	}
	return nil
}

// runBy is the workload that runs the template of another one; zero: none does.
func (g *Gatherer) runBy(ctx context.Context, f Freshness, id model.Key) (model.Key, error) {
	var by model.Key
	err := g.eachReferrer(ctx, f, id, func(k workloads.Kind, obj client.Object) {
		by = model.Key{Kind: k.Name(), Namespace: obj.GetNamespace(), Name: obj.GetName()}
	})
	return by, err
}

// Touched are the workloads whose judgement depends on an object of a kind, which is one
// itself: besides it those that run its template, and the one whose template it runs.
func (g *Gatherer) Touched(ctx context.Context, kind workloads.Kind, obj client.Object) []model.Key {
	id := model.Key{Kind: kind.Name(), Namespace: obj.GetNamespace(), Name: obj.GetName()}
	keys := []model.Key{id}
	if referrer, may := kind.(workloads.Referrer); may {
		if ref, is := referrer.Reference(obj); is {
			keys = append(keys, ref)
		}
	}
	// A cache that cannot be read will be read by the next event.
	_ = g.eachReferrer(ctx, FromCache, id, func(k workloads.Kind, by client.Object) {
		keys = append(keys, model.Key{Kind: k.Name(), Namespace: by.GetNamespace(), Name: by.GetName()})
	})
	return keys
}
