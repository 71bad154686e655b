package gather

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/freshness"
	"github.com/corewire/kick/kick/model/request"
	"github.com/corewire/kick/kick/sources"
	"github.com/corewire/kick/kick/workloads"
)

// Workload reads everything about one workload: itself, its policies, the sources
// its template refers to, their records, its request, its revisions, and its pods
// when the judgement depends on them.
func (g *Gatherer) Workload(ctx context.Context, target model.Key, now time.Time, f Freshness) (*model.Snapshot, error) {
	s := &model.Snapshot{Target: target, Settings: g.Settings, ServerNow: g.Server()}
	if err := g.request(ctx, s, now, f); err != nil {
		return nil, err
	}
	kind := g.Workloads.ByName(target.Kind)
	if kind == nil {
		return s, nil
	}
	obj, found, err := g.target(ctx, kind, target, s.Request, f)
	if err != nil || !found {
		return s, err
	}
	w := workloads.Model(kind, obj)
	s.Workload = &w
	if obj, err = g.resolve(ctx, g.reader(f), kind, obj); err != nil {
		return nil, err
	}
	if s.Workload.RunBy, err = g.runBy(ctx, FromCache, target); err != nil {
		return nil, err
	}
	if err := g.describe(ctx, s, kind, obj, now); err != nil {
		return nil, err
	}
	return s, nil
}

// target reads the workload itself: from the cache, or live after a conflict and from
// then on until the cache has caught up. A judgement of an older state than the one
// before would only be taken back by the next, and so on with each event.
func (g *Gatherer) target(ctx context.Context, kind workloads.Kind, id model.Key, r *model.Request, f Freshness) (client.Object, bool, error) {
	if f == ReadLive {
		g.lagging.set(id, true)
		live := kind.New()
		found, err := get(ctx, g.Live, id, live)
		return live, found, err
	}
	cached := kind.New()
	found, err := get(ctx, g.Cache, id, cached)
	if err != nil || !g.lagging.has(id) && !beforeRestart(cached, r) {
		return cached, found, err
	}
	mark.Hit(mark.StaleCacheDoubted)
	live := kind.New()
	stands, err := get(ctx, g.Live, id, live)
	if err == nil && stands == found && live.GetResourceVersion() == cached.GetResourceVersion() {
		g.lagging.set(id, false)
	}
	return live, stands, err
}

// beforeRestart reports whether a workload is older than the restart that its request
// tells of: without the stamp it would look as if somebody had taken that away.
func beforeRestart(obj client.Object, r *model.Request) bool {
	return r != nil && r.Status.Phase == request.Executing && obj.GetGeneration() < r.Status.RolloutGen
}

// describe fills in what surrounds an existing workload.
func (g *Gatherer) describe(ctx context.Context, s *model.Snapshot, kind workloads.Kind, obj client.Object, now time.Time) error {
	selecting, scopes, err := policies(ctx, g.Cache, s.Workload)
	if err != nil {
		return err
	}
	s.Policies = selecting
	if len(selecting) == 0 && s.Request == nil {
		return nil // nobody asks about it
	}
	if err := g.dependencies(ctx, s, g.Cache, kind.Template(obj), scopes); err != nil {
		return err
	}
	revisions, err := revisions(ctx, g.Cache, kind, obj)
	if err != nil {
		return err
	}
	s.Revisions = kind.Describe(obj, revisions)
	if outrun(s, now) {
		mark.Hit(mark.RecordsReadLive)
		if err := g.dependencies(ctx, s, g.Live, kind.Template(obj), scopes); err != nil {
			return err
		}
	}
	if err := g.provider(ctx, s, now); err != nil {
		return err
	}
	return g.describeAsNeeded(ctx, s, kind, obj, now)
}

// describeAsNeeded reads what only some judgements depend on.
func (g *Gatherer) describeAsNeeded(ctx context.Context, s *model.Snapshot, kind workloads.Kind, obj client.Object, now time.Time) error {
	if decide.NeedPods(s, now) {
		if err := g.pods(ctx, s, kind, obj); err != nil {
			return err
		}
	}
	if decide.NeedRestarts(s, now) {
		return g.restarts(ctx, s, now, 0)
	}
	return nil
}

// dependencies are all sources of the template; those outside the policy's scope
// are marked, because a missing one still keeps new pods from starting.
func (g *Gatherer) dependencies(ctx context.Context, s *model.Snapshot, from client.Reader, t *corev1.PodTemplateSpec, scopes []labels.Selector) error {
	s.Dependencies = nil
	for _, d := range g.Sources.Dependencies(&t.Spec) {
		id := model.Key{Kind: d.Kind, Namespace: s.Target.Namespace, Name: d.Name}
		source, err := g.source(ctx, from, id)
		if err != nil {
			return err
		}
		record, err := g.record(ctx, from, id)
		if err != nil {
			return err
		}
		unrecorded, err := g.unrecorded(ctx, record, source)
		if err != nil {
			return err
		}
		s.Dependencies = append(s.Dependencies, model.Dependency{
			Dependency: d, Source: source, Record: record,
			InScope:    inScope(scopes, source, record),
			Unrecorded: unrecorded,
			SeenLive:   g.Sightings.Live(id),
		})
	}
	return nil
}

// unrecorded reports whether a record says another thing than what stands. Where status
// objects tell, a restart answers also what is not on record yet. It takes the
// installation key: whoever judged without it would not be woken when it is at hand.
func (g *Gatherer) unrecorded(ctx context.Context, record *model.Record, source model.Source) (bool, error) {
	if _, told := g.Sources.ByName(source.ID.Kind).(sources.Mounted); told || record == nil {
		return false, nil
	}
	_, err := g.HoldKey(ctx)
	return !g.Keys.Holds(record, source), err
}

// outrun reports whether the request tells of a newer change than any record that was
// read: the cache is behind. A status written from it would be undone by whoever wrote
// this one, which would be undone in turn, and so on, as fast as two leaders can, or one
// that opens by its cache what it then judges live. A finished request is written only
// if the workload is not fresh.
func outrun(s *model.Snapshot, now time.Time) bool {
	if s.Request == nil || s.Request.Manual {
		return false
	}
	var newest time.Time
	for i := range s.Dependencies {
		if r := s.Dependencies[i].Record; r != nil {
			newest = model.Later(newest, r.Current().Observed)
		}
	}
	if !s.Request.Status.LatestChange.After(newest) {
		return false
	}
	return !s.Request.Status.Phase.Terminal() || freshness.Judge(s, now).State != freshness.Fresh
}

// labelsOf are the labels that put a source in or out of scope: its own, or while
// it does not exist those it last had.
func labelsOf(s model.Source, r *model.Record) labels.Set {
	if !s.Present && r != nil {
		return r.Labels
	}
	return s.Labels
}

// revisions are those the workload controls.
func revisions(ctx context.Context, r client.Reader, kind workloads.Kind, obj client.Object) ([]client.Object, error) {
	list := kind.NewRevisions()
	options, err := selected(kind, obj)
	if err != nil {
		return nil, err
	}
	if err := r.List(ctx, list, options...); err != nil {
		return nil, fmt.Errorf("list revisions of %s %s/%s: %w", kind.Name(), obj.GetNamespace(), obj.GetName(), err)
	}
	return workloads.Controlled(kind.Items(list), obj), nil
}

// pods lists the workload's pods live, and then its revisions: a cache of them that
// lags does not know the newest pods' one, and takes an old one for the wanted.
func (g *Gatherer) pods(ctx context.Context, s *model.Snapshot, kind workloads.Kind, obj client.Object) error {
	var list corev1.PodList
	options, err := selected(kind, obj)
	if err != nil {
		return err
	}
	if err := g.Live.List(ctx, &list, options...); err != nil {
		return fmt.Errorf("list pods of %s: %w", s.Target, err)
	}
	known, err := revisions(ctx, g.Live, kind, obj)
	if err != nil {
		return err
	}
	s.Revisions, s.PodsListed = kind.Describe(obj, known), true
	wanted := freshness.Wanted(s.Revisions)
	for i := range list.Items {
		p := &list.Items[i]
		if name, owned := kind.RevisionOf(p, obj, known); owned {
			m := pod(p, name)
			if wanted == nil || name != wanted.Name {
				m.Sources = g.sourcesOf(p)
			}
			s.Pods = append(s.Pods, m)
		}
	}
	return nil
}

// sourcesOf are the sources a pod itself refers to, never nil. One of an older template
// carries nothing of what that did not refer to.
func (g *Gatherer) sourcesOf(p *corev1.Pod) []model.Key {
	all := g.Sources.Dependencies(&p.Spec)
	out := make([]model.Key, 0, len(all))
	for _, d := range all {
		out = append(out, model.Key{Kind: d.Kind, Namespace: p.Namespace, Name: d.Name})
	}
	return out
}

func selected(kind workloads.Kind, obj client.Object) ([]client.ListOption, error) {
	s, err := metav1.LabelSelectorAsSelector(kind.Selector(obj))
	if err != nil {
		return nil, fmt.Errorf("%s %s/%s: spec.selector: %w", kind.Name(), obj.GetNamespace(), obj.GetName(), err)
	}
	return []client.ListOption{client.InNamespace(obj.GetNamespace()), client.MatchingLabelsSelector{Selector: s}}, nil
}

// pod is a Pod in plain values.
func pod(p *corev1.Pod, revision string) model.Pod {
	alive := p.DeletionTimestamp == nil
	m := model.Pod{
		Name:     p.Name,
		UID:      string(p.UID),
		Created:  p.CreationTimestamp.UTC(),
		Revision: revision,
		Ordinal:  workloads.Ordinal(p),
		Running:  alive && p.Status.Phase == corev1.PodRunning,
		Pending:  alive && (p.Status.Phase == corev1.PodPending || p.Status.Phase == ""),
	}
	if p.Status.StartTime != nil {
		m.Accepted = p.Status.StartTime.UTC()
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			m.ReadySince = c.LastTransitionTime.UTC()
		}
	}
	m.Containers = make([]model.Container, 0, len(p.Status.InitContainerStatuses)+len(p.Status.ContainerStatuses))
	for i := range p.Status.InitContainerStatuses {
		m.Containers = append(m.Containers, container(&p.Status.InitContainerStatuses[i]))
	}
	for i := range p.Status.ContainerStatuses {
		m.Containers = append(m.Containers, container(&p.Status.ContainerStatuses[i]))
	}
	return m
}

func container(c *corev1.ContainerStatus) model.Container {
	m := model.Container{Name: c.Name, Restarted: c.RestartCount > 0}
	switch {
	case c.State.Running != nil:
		m.StartedAt = c.State.Running.StartedAt.UTC()
	case c.State.Terminated != nil:
		m.StartedAt = c.State.Terminated.StartedAt.UTC()
	}
	if t := c.LastTerminationState.Terminated; t != nil {
		m.FinishedAt = t.FinishedAt.UTC()
	}
	return m
}
