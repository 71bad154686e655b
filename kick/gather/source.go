package gather

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/sources"
	"github.com/corewire/kick/kick/workloads"
)

// SourceLook is what the source controller needs to keep one record.
type SourceLook struct {
	Source      model.Source
	Record      *model.Record // nil: not on record
	Consumers   []model.Key   // workloads whose template refers to it
	Managed     bool          // the namespace has a policy
	PolicySince time.Time     // creation of the newest policy of the namespace
	NewestStamp time.Time     // newest stamp KICK left on any consumer
	ServerNow   time.Time     // the API server's clock; zero: not known
	Told        bool          // status objects tell of its content
	Mounted     []model.Mounted
}

// Wanted reports whether the source belongs on record.
func (l *SourceLook) Wanted() bool { return l.Managed && len(l.Consumers) > 0 }

// Source looks at one source, its record and who refers to it.
func (g *Gatherer) Source(ctx context.Context, id model.Key, f Freshness) (*SourceLook, error) {
	look := &SourceLook{ServerNow: g.Server()}
	record, err := g.record(ctx, g.reader(f), id)
	if err != nil {
		return nil, err
	}
	look.Record, look.Source = record, model.Source{ID: id}
	if g.Sources.ByName(id.Kind) == nil {
		return look, nil // of an integration that is off: nobody reads it
	}
	if look.Managed, look.PolicySince, err = g.managed(ctx, id.Namespace); err != nil {
		return nil, err
	}
	if err := g.eachConsumer(ctx, id, func(k workloads.Kind, obj client.Object) { look.readBy(workloads.Model(k, obj)) }); err != nil {
		return nil, err
	}
	if look.Source, err = g.source(ctx, g.Cache, id); err != nil {
		return nil, err
	}
	if err := g.mounted(ctx, look); err != nil || look.Told {
		return look, err
	}
	if doubtful(look) {
		mark.Hit(mark.StaleCacheDoubted)
		look.Source, err = g.source(ctx, g.Live, id)
	}
	return look, err
}

// readBy notes a workload that reads the source.
func (l *SourceLook) readBy(w model.Workload) {
	l.Consumers = append(l.Consumers, w.ID)
	if w.Rollout.InPlace != nil {
		return // its stamp is the API server's clock
	}
	if w.Stamp.ByKick() && w.Stamp.At.After(l.NewestStamp) {
		l.NewestStamp = w.Stamp.At
	}
}

// doubtful reports whether the cache may be older than the record: after a restart
// it can show what the previous life of this process had already seen replaced. A
// source may also have reached the API server before its consumer did and this
// cache after it; to record it as absent would make its arrival a change.
func doubtful(l *SourceLook) bool {
	switch {
	case !l.Wanted():
		return false
	case !l.Source.Present:
		return l.Record == nil || !l.Record.Current().Absent()
	case l.Record == nil:
		return false
	case l.Record.SourceVersion == "":
		return false
	}
	order, err := resourceversion.CompareResourceVersion(l.Source.ResourceVersion, l.Record.SourceVersion)
	return err != nil || order < 0
}

// record reads the record of a source; nil if there is none.
func (g *Gatherer) record(ctx context.Context, r client.Reader, id model.Key) (*model.Record, error) {
	var o v1alpha1.SourceObservation
	found, err := get(ctx, r, model.Key{Kind: "SourceObservation", Namespace: id.Namespace, Name: ledger.Name(id)}, &o)
	if err != nil || !found || len(o.Spec.History) == 0 {
		return nil, err
	}
	if about := ledger.SourceOf(&o); about != id {
		return nil, fmt.Errorf("SourceObservation %s/%s is about %s and keeps the record of %s from being made; delete it", o.Namespace, o.Name, about, id)
	}
	return ledger.Record(&o), nil
}

// OnRecord reports whether the cache shows a record that says what an object holds.
func (g *Gatherer) OnRecord(ctx context.Context, k sources.Kind, obj client.Object) bool {
	source := sources.Model(k, obj)
	record, err := g.record(ctx, g.Cache, source.ID)
	return err == nil && record != nil && g.Keys.Holds(record, source)
}

// managed reports whether a namespace has a policy, and since when its newest.
func (g *Gatherer) managed(ctx context.Context, namespace string) (bool, time.Time, error) {
	var list v1alpha1.KickPolicyList
	if err := g.Cache.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return false, time.Time{}, fmt.Errorf("list policies of %s: %w", namespace, err)
	}
	newest := time.Time{}
	for i := range list.Items {
		if at := list.Items[i].CreationTimestamp.UTC(); at.After(newest) {
			newest = at
		}
	}
	return len(list.Items) > 0, newest, nil
}

// Consumers are the workloads whose template refers to a source.
func (g *Gatherer) Consumers(ctx context.Context, source model.Key) ([]model.Key, error) {
	var keys []model.Key
	err := g.eachConsumer(ctx, source, func(k workloads.Kind, obj client.Object) {
		keys = append(keys, model.Key{Kind: k.Name(), Namespace: obj.GetNamespace(), Name: obj.GetName()})
	})
	return keys, err
}

func (g *Gatherer) eachConsumer(ctx context.Context, source model.Key, visit func(workloads.Kind, client.Object)) error {
	where := client.MatchingFields{IndexSources: source.Kind + "/" + source.Name}
	var named []model.Key
	if err := g.eachWorkload(ctx, source.Namespace, func(k workloads.Kind, obj client.Object) {
		visit(k, obj)
		named = append(named, model.Key{Kind: k.Name(), Namespace: obj.GetNamespace(), Name: obj.GetName()})
	}, where); err != nil {
		return err
	}
	for _, id := range named {
		if err := g.eachReferrer(ctx, FromCache, id, visit); err != nil {
			return err
		}
	}
	return nil
}

// WorkloadKeys are all workloads of a namespace.
func (g *Gatherer) WorkloadKeys(ctx context.Context, namespace string) ([]model.Key, error) {
	var keys []model.Key
	err := g.eachWorkload(ctx, namespace, func(k workloads.Kind, obj client.Object) {
		keys = append(keys, model.Key{Kind: k.Name(), Namespace: obj.GetNamespace(), Name: obj.GetName()})
	})
	return keys, err
}

func (g *Gatherer) eachWorkload(ctx context.Context, namespace string, visit func(workloads.Kind, client.Object), where ...client.ListOption) error {
	options := append([]client.ListOption{client.InNamespace(namespace)}, where...)
	for _, k := range g.Workloads {
		list := k.NewList()
		if err := g.Cache.List(ctx, list, options...); err != nil {
			return fmt.Errorf("list %ss of %s: %w", k.Name(), namespace, err)
		}
		for _, obj := range k.Objects(list) {
			visit(k, obj)
		}
	}
	return nil
}

// References are the sources that any workload of a namespace refers to.
func (g *Gatherer) References(ctx context.Context, namespace string) ([]model.Key, error) {
	seen := map[discover.Ref]bool{}
	var keys []model.Key
	err := g.eachWorkload(ctx, namespace, func(k workloads.Kind, obj client.Object) {
		for _, ref := range g.Sources.Refs(&k.Template(obj).Spec) {
			if !seen[ref] {
				seen[ref] = true
				keys = append(keys, model.Key{Kind: ref.Kind, Namespace: namespace, Name: ref.Name})
			}
		}
	})
	return keys, err
}
