package gather

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/workloads"
)

// Standing is what is on record about one workload. All of it comes from caches, so it
// may lag, and nothing of it may be acted on: it is for people to look at.
type Standing struct {
	Workload model.Workload
	Policies []model.Policy     // those that select it, by name
	Sources  []model.Dependency // what its template refers to; Unrecorded and SeenLive are not filled in
	Request  *model.Request     // the open one its next pass is about, else the one that ended last; nil: none
	Rollouts []Rolled           // the revisions that are kept of it, oldest first
	Told     []Told             // the events that are kept about its requests, oldest first
}

// Rolled is a revision of a workload, and so a rollout that was.
type Rolled struct {
	Revision string
	Created  time.Time
	Stamp    time.Time // restartedAt of its template; zero: it has none
}

// Told is an event about a request.
type Told struct {
	At      time.Time // first seen
	Reason  string
	Warning bool
	Note    string
}

// Standings are those of the workloads that a policy selects or a request is about, in
// order; an empty namespace means all of them. Only what keep accepts is looked at.
func (g *Gatherer) Standings(ctx context.Context, namespace string, now time.Time, keep func(model.Key) bool) ([]Standing, error) {
	shelf, err := g.shelf(ctx, namespace)
	if err != nil {
		return nil, err
	}
	var out []Standing
	var failed error
	err = g.eachWorkload(ctx, namespace, func(k workloads.Kind, obj client.Object) {
		id := model.Key{Kind: k.Name(), Namespace: obj.GetNamespace(), Name: obj.GetName()}
		if failed != nil || !keep(id) {
			return
		}
		s, ok, err := g.standing(ctx, shelf, k, obj, now)
		if failed = err; ok {
			out = append(out, s)
		}
	})
	slices.SortFunc(out, func(a, b Standing) int { return compareKeys(a.Workload.ID, b.Workload.ID) })
	return out, cmp.Or(err, failed)
}

func compareKeys(a, b model.Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
}

func (g *Gatherer) standing(ctx context.Context, on *shelf, k workloads.Kind, obj client.Object, now time.Time) (Standing, bool, error) {
	s := Standing{Workload: workloads.Model(k, obj)}
	id := s.Workload.ID
	if s.Request = choose(on.requests[id], model.ObjectName(id), now); s.Request != nil && s.Request.Status.Phase.Terminal() {
		s.Request = lastEnded(on.requests[id])
	}
	var scopes []labels.Selector
	for _, p := range on.policies[id.Namespace] {
		if p.workloads.Matches(labels.Set(s.Workload.Labels)) {
			s.Policies, scopes = append(s.Policies, p.model), append(scopes, p.scope)
		}
	}
	if len(s.Policies) == 0 && s.Request == nil {
		return s, false, nil
	}
	for _, d := range g.Sources.Dependencies(&k.Template(obj).Spec) {
		source, err := g.source(ctx, g.Cache, model.Key{Kind: d.Kind, Namespace: id.Namespace, Name: d.Name})
		if err != nil {
			return s, false, err
		}
		record := on.record(source.ID)
		s.Sources = append(s.Sources, model.Dependency{Dependency: d, Source: source, Record: record, InScope: inScope(scopes, source, record)})
	}
	s.Rollouts, s.Told = rolled(on.revisions[obj.GetUID()]), told(on.events[id])
	return s, true, nil
}

// rolled are revisions in plain values, oldest first.
func rolled(all []client.Object) []Rolled {
	out := make([]Rolled, 0, len(all))
	for _, obj := range all {
		r := Rolled{Revision: obj.GetName(), Created: obj.GetCreationTimestamp().UTC()}
		r.Stamp, _ = time.Parse(time.RFC3339Nano, workloads.NotedStamp(obj)) // what is no time is no stamp
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Rolled) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Revision, b.Revision))
	})
	return out
}

// told are events in plain values, oldest first.
func told(all []*eventsv1.Event) []Told {
	out := make([]Told, 0, len(all))
	for _, e := range all {
		at := e.EventTime.UTC()
		if e.EventTime.IsZero() {
			at = e.CreationTimestamp.UTC()
		}
		out = append(out, Told{At: at, Reason: e.Reason, Warning: e.Type == corev1.EventTypeWarning, Note: e.Note})
	}
	slices.SortStableFunc(out, func(a, b Told) int { return a.At.Compare(b.At) })
	return out
}

// shelf is what is listed once for all workloads.
type shelf struct {
	policies  map[string][]shelved // by namespace
	requests  map[model.Key][]v1alpha1.KickRequest
	records   map[model.Key]*v1alpha1.SourceObservation
	revisions map[types.UID][]client.Object // by their owner
	events    map[model.Key][]*eventsv1.Event
}

// record is the record of a source; nil: there is none.
func (s *shelf) record(source model.Key) *model.Record {
	if o := s.records[source]; o != nil && len(o.Spec.History) > 0 {
		return ledger.Record(o)
	}
	return nil
}

type shelved struct {
	model            model.Policy
	workloads, scope labels.Selector
}

func (g *Gatherer) shelf(ctx context.Context, namespace string) (*shelf, error) {
	s := &shelf{
		policies: map[string][]shelved{}, requests: map[model.Key][]v1alpha1.KickRequest{},
		records: map[model.Key]*v1alpha1.SourceObservation{}, revisions: map[types.UID][]client.Object{}, events: map[model.Key][]*eventsv1.Event{},
	}
	for _, put := range []func(context.Context, *shelf, string) error{g.putPolicies, g.putRequests, g.putRecords, g.putRevisions, g.putEvents} {
		if err := put(ctx, s, namespace); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (g *Gatherer) putPolicies(ctx context.Context, s *shelf, namespace string) error {
	var list v1alpha1.KickPolicyList
	if err := g.Cache.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("list KickPolicies: %w", err)
	}
	for i := range list.Items {
		p := &list.Items[i]
		selecting, err := selector(p.Spec.Discovery.WorkloadSelector)
		if err != nil {
			selecting = labels.Nothing()
		}
		scope, err := selector(p.Spec.Discovery.DependencySelector)
		if err != nil {
			scope = labels.Nothing()
		}
		s.policies[p.Namespace] = append(s.policies[p.Namespace], shelved{Policy(p), selecting, scope})
	}
	for _, all := range s.policies {
		slices.SortFunc(all, func(a, b shelved) int { return cmp.Compare(a.model.ID.Name, b.model.ID.Name) })
	}
	return nil
}

func (g *Gatherer) putRequests(ctx context.Context, s *shelf, namespace string) error {
	var list v1alpha1.KickRequestList
	if err := g.Cache.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("list KickRequests: %w", err)
	}
	for i := range list.Items {
		target := TargetOf(&list.Items[i])
		s.requests[target] = append(s.requests[target], list.Items[i])
	}
	return nil
}

func (g *Gatherer) putRecords(ctx context.Context, s *shelf, namespace string) error {
	var list v1alpha1.SourceObservationList
	if err := g.Cache.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("list SourceObservations: %w", err)
	}
	for i := range list.Items {
		s.records[ledger.SourceOf(&list.Items[i])] = &list.Items[i]
	}
	return nil
}

func (g *Gatherer) putRevisions(ctx context.Context, s *shelf, namespace string) error {
	listed := map[string]bool{}
	for _, k := range g.Workloads {
		if listed[k.RevisionKind()] {
			continue
		}
		listed[k.RevisionKind()] = true
		list := k.NewRevisions()
		if err := g.Cache.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return fmt.Errorf("list %ss: %w", k.RevisionKind(), err)
		}
		for _, obj := range k.Items(list) {
			if owner := metav1.GetControllerOf(obj); owner != nil {
				s.revisions[owner.UID] = append(s.revisions[owner.UID], obj)
			}
		}
	}
	return nil
}

func (g *Gatherer) putEvents(ctx context.Context, s *shelf, namespace string) error {
	var list eventsv1.EventList
	if err := g.Cache.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("list Events: %w", err)
	}
	for i := range list.Items {
		if e := &list.Items[i]; e.Related != nil && e.Regarding.Kind == "KickRequest" {
			s.events[RelatedTo(e)] = append(s.events[RelatedTo(e)], e)
		}
	}
	return nil
}

// RelatedTo is the workload that an event of KICK's is about; zero: none.
func RelatedTo(e *eventsv1.Event) model.Key {
	if e.Related == nil {
		return model.Key{}
	}
	return model.Key{Kind: e.Related.Kind, Namespace: e.Namespace, Name: e.Related.Name}
}

// Managed are the namespaces that have a policy, in order.
func (g *Gatherer) Managed(ctx context.Context) ([]string, error) {
	var list v1alpha1.KickPolicyList
	if err := g.Cache.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list KickPolicies: %w", err)
	}
	var out []string
	for i := range list.Items {
		out = append(out, list.Items[i].Namespace)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
