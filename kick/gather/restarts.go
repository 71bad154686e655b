package gather

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
	"github.com/corewire/kick/kick/workloads"
)

// Names of the indexes by which restarts are found, and what they hold.
const (
	IndexRestarting = "kick.restarting" // workloads whose stamp is KICK's and whose rollout is not complete
	IndexHolds      = "kick.holds"      // requests by what they mean to the others

	Restarting = "yes"       // of IndexRestarting
	Executes   = "executing" // of IndexHolds: it watches a restart
	Queues     = "queued"    // of IndexHolds: it waits for restarts of others to end
)

// lateLanding is how long after a restart that got no answer it may still land.
const lateLanding = 30 * time.Second

// RestartingValues are the values of IndexRestarting.
func RestartingValues(k workloads.Kind, obj client.Object) []string {
	if k.Stamp(obj) == "" {
		return nil
	}
	if w := workloads.Model(k, obj); !w.Stamp.ByKick() || w.Rollout.Observed && w.Rollout.Complete {
		return nil
	}
	return []string{Restarting}
}

// HoldsValues are the values of IndexHolds.
func HoldsValues(r *v1alpha1.KickRequest) []string {
	switch {
	case r.Status.Phase == v1alpha1.PhaseExecuting:
		return []string{Executes}
	case Queued(r):
		return []string{Queues}
	}
	return nil
}

// Queued reports whether a request waits for restarts of other workloads to end.
func Queued(r *v1alpha1.KickRequest) bool {
	return r.Status.Gate != nil && r.Status.Gate.Reason == string(request.ConcurrencyLimited) && request.Phase(r.Status.Phase).Waiting()
}

// restarts fills in which other workloads are, or may be, under way, as it stood when
// the turn was taken; 0: now.
func (g *Gatherer) restarts(ctx context.Context, s *model.Snapshot, now time.Time, turn uint64) error {
	if err := g.seed(ctx, s); err != nil {
		return err
	}
	found := map[model.Key]model.Restart{}
	owned := map[model.Key]labels.Set{}
	err := g.eachWorkload(ctx, metav1.NamespaceAll, func(k workloads.Kind, obj client.Object) {
		w := workloads.Model(k, obj)
		found[w.ID], owned[w.ID] = model.Restart{Target: w.ID, At: w.Stamp.At, InPlace: w.Rollout.InPlace != nil}, w.Labels
	}, client.MatchingFields{IndexRestarting: Restarting})
	if err != nil {
		return err
	}
	if err := g.executing(ctx, found, owned); err != nil {
		return err
	}
	for id, what := range g.reserved.before(turn) {
		w, err := g.cached(ctx, id)
		if err != nil {
			return err
		}
		if what.over(w, now) {
			g.reserved.end(id, what)
			continue
		}
		found[id], owned[id] = model.Restart{Target: id, Reserved: true}, w.Labels
	}
	delete(found, s.Target)
	return g.describeRestarts(ctx, s, found, owned)
}

// executing adds the workloads whose request watches a restart.
func (g *Gatherer) executing(ctx context.Context, found map[model.Key]model.Restart, owned map[model.Key]labels.Set) error {
	var list v1alpha1.KickRequestList
	if err := g.Cache.List(ctx, &list, client.MatchingFields{IndexHolds: Executes}); err != nil {
		return fmt.Errorf("list requests that execute: %w", err)
	}
	for i := range list.Items {
		id := TargetOf(&list.Items[i])
		r := found[id]
		r.Target, r.Executing = id, true
		if r.At.IsZero() {
			w, err := g.cached(ctx, id)
			if err != nil {
				return err
			}
			if w == nil {
				continue // it is gone, and its rollout with it
			}
			r.At, owned[id] = w.Stamp.At, w.Labels
		}
		found[id] = r
	}
	return nil
}

// describeRestarts puts the restarts in order and says what their requests and the
// policy of the judged workload have to do with them.
func (g *Gatherer) describeRestarts(ctx context.Context, s *model.Snapshot, found map[model.Key]model.Restart, owned map[model.Key]labels.Set) error {
	mine, err := selectorOf(s)
	if err != nil {
		return err
	}
	ids := slices.SortedFunc(maps.Keys(found), func(a, b model.Key) int { return cmp.Compare(a.String(), b.String()) })
	s.Restarts = make([]model.Restart, 0, len(ids))
	for _, id := range ids {
		r := found[id]
		r.Mine = id.Namespace == s.Target.Namespace && mine.Matches(owned[id])
		if !r.Executing && !r.Reserved {
			if r.Told, err = g.told(ctx, id, r.At); err != nil {
				return err
			}
		}
		s.Restarts = append(s.Restarts, r)
	}
	return nil
}

// selectorOf is the workloadSelector of the one policy that selects the judged workload.
func selectorOf(s *model.Snapshot) (labels.Selector, error) {
	if len(s.Policies) != 1 {
		return labels.Nothing(), nil
	}
	return labels.Parse(s.Policies[0].Selector)
}

// told reports whether any request of a workload tells of a restart.
func (g *Gatherer) told(ctx context.Context, target model.Key, stamp time.Time) (bool, error) {
	var list v1alpha1.KickRequestList
	where := client.MatchingFields{IndexTarget: target.Kind + "/" + target.Name}
	if err := g.Cache.List(ctx, &list, client.InNamespace(target.Namespace), where); err != nil {
		return false, fmt.Errorf("list requests for %s: %w", target, err)
	}
	return slices.ContainsFunc(list.Items, func(r v1alpha1.KickRequest) bool {
		return r.Status.CurrentRollout != nil && !r.Status.CurrentRollout.StartedAt.Time.Before(stamp)
	}), nil
}

// cached is a workload as the cache shows it; nil: it does not.
func (g *Gatherer) cached(ctx context.Context, id model.Key) (*model.Workload, error) {
	kind := g.Workloads.ByName(id.Kind)
	if kind == nil {
		return nil, nil
	}
	obj := kind.New()
	found, err := get(ctx, g.Cache, id, obj)
	if err != nil || !found {
		return nil, err
	}
	w := workloads.Model(kind, obj)
	return &w, nil
}

// seed notes, once in the life of a process, what the one before it left: its cache may
// be older than that. As long as there are fewer workloads than may be restarted at a
// time, nothing has to be known of them.
func (g *Gatherer) seed(ctx context.Context, s *model.Snapshot) error {
	g.reserved.mu.Lock()
	seeded := g.reserved.seeded
	g.reserved.mu.Unlock()
	if seeded {
		return nil
	}
	if few, err := g.fewer(ctx, limitOf(s)); few || err != nil {
		return err
	}
	mark.Hit(mark.RestartsReadLive)
	left, err := g.left(ctx)
	if err != nil {
		return err
	}
	g.reserved.seed(left)
	return nil
}

// left are the restarts whose rollout is not complete, live, as reservations that are over as soon
// as the cache shows as much.
func (g *Gatherer) left(ctx context.Context) (map[model.Key]reservation, error) {
	left := map[model.Key]reservation{}
	for _, namespace := range g.namespaces() {
		for _, k := range g.Workloads {
			list := k.NewList()
			if err := g.Live.List(ctx, list, client.InNamespace(namespace)); err != nil {
				return nil, fmt.Errorf("list %ss: %w", k.Name(), err)
			}
			for _, obj := range k.Objects(list) {
				if w := workloads.Model(k, obj); len(RestartingValues(k, obj)) > 0 {
					left[w.ID] = reservation{generation: w.Generation, uid: w.UID, made: true}
				}
			}
		}
	}
	return left, nil
}

func (g *Gatherer) namespaces() []string {
	if len(g.Watched) == 0 {
		return []string{metav1.NamespaceAll}
	}
	return g.Watched
}

// limitOf is the lowest limit that a snapshot has; 0: none.
func limitOf(s *model.Snapshot) int {
	limit := s.Settings.MaxConcurrent
	for i := range s.Policies {
		if own := s.Policies[i].MaxConcurrent; own > 0 && (limit == 0 || own < limit) {
			limit = own
		}
	}
	return limit
}

// fewer reports whether the cache shows fewer workloads than a limit.
func (g *Gatherer) fewer(ctx context.Context, limit int) (bool, error) {
	n := 0
	err := g.eachWorkload(ctx, metav1.NamespaceAll, func(workloads.Kind, client.Object) { n++ })
	return n < limit, err
}

// Reserve takes a place among the restarts under way, where they are limited, and fills
// in those that were there before. Call Unstamped or Release if the restart is not made.
func (g *Gatherer) Reserve(ctx context.Context, s *model.Snapshot, now time.Time) error {
	if !decide.NeedRestarts(s, now) {
		return nil
	}
	err := g.restarts(ctx, s, now, g.reserved.make(s.Workload))
	if err != nil {
		g.Release(s.Target)
	}
	return err
}

// Unstamped notes that a restart which Confirm reserved was certainly not made (lost), or
// that nobody knows. One that was made is reserved until the cache shows it.
func (g *Gatherer) Unstamped(target model.Key, now time.Time, lost bool) {
	if lost {
		g.Release(target)
		return
	}
	g.reserved.change(target, func(r *reservation) { r.until = now.Add(lateLanding) })
}

// Stamped notes that the restart which Confirm reserved was made.
func (g *Gatherer) Stamped(target model.Key) {
	g.reserved.change(target, func(r *reservation) { r.made = true })
}

// Release gives back what Confirm reserved.
func (g *Gatherer) Release(target model.Key) { g.reserved.drop(target) }

// NextQueued are the workloads that may be restarted now that a restart has ended: of
// each policy the one whose change waits the longest.
func (g *Gatherer) NextQueued(ctx context.Context) ([]model.Key, error) {
	var list v1alpha1.KickRequestList
	if err := g.Cache.List(ctx, &list, client.MatchingFields{IndexHolds: Queues}); err != nil {
		return nil, fmt.Errorf("list requests that wait for restarts to end: %w", err)
	}
	waiting := workloads.Pointers(list.Items)
	slices.SortFunc(waiting, func(a, b client.Object) int {
		x, y := a.(*v1alpha1.KickRequest), b.(*v1alpha1.KickRequest)
		return cmp.Or(micro(x.Status.OpenedAt).Compare(micro(y.Status.OpenedAt)), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	var next []model.Key
	unserved := map[string][]labels.Selector{} // by namespace
	for _, r := range waiting {
		left, known := unserved[r.GetNamespace()]
		if !known {
			var err error
			if left, err = g.policySelectors(ctx, r.GetNamespace()); err != nil {
				return nil, err
			}
			unserved[r.GetNamespace()] = left
		}
		if len(left) == 0 { // as it is soon: hundreds may wait, and each end of a restart asks
			continue
		}
		id := TargetOf(r.(*v1alpha1.KickRequest))
		w, err := g.cached(ctx, id)
		if err != nil {
			return nil, err
		}
		if w == nil {
			continue
		}
		if i := slices.IndexFunc(left, func(s labels.Selector) bool { return s.Matches(labels.Set(w.Labels)) }); i >= 0 {
			unserved[r.GetNamespace()] = slices.Delete(left, i, i+1)
			next = append(next, id)
		}
	}
	return next, nil
}

// policySelectors are the workloadSelectors of a namespace's policies, by their names.
func (g *Gatherer) policySelectors(ctx context.Context, namespace string) ([]labels.Selector, error) {
	var list v1alpha1.KickPolicyList
	if err := g.Cache.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list policies of %s: %w", namespace, err)
	}
	slices.SortFunc(list.Items, func(a, b v1alpha1.KickPolicy) int { return cmp.Compare(a.Name, b.Name) })
	var all []labels.Selector
	for i := range list.Items {
		if s, err := selector(list.Items[i].Spec.Discovery.WorkloadSelector); err == nil { // one that cannot be read selects nothing
			all = append(all, s)
		}
	}
	return all, nil
}
