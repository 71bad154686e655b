package gather

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
	"github.com/corewire/kick/kick/model/schedule"
	"github.com/corewire/kick/kick/workloads"
)

// Defaults of a policy's fields, for objects that were stored without the CRD's
// own defaulting.
const (
	DefaultSettleDelay = time.Second
	DefaultMinInterval = 30 * time.Second
)

// policies are those of the namespace that select the workload, by name, and the
// selectors that bound their scope.
func policies(ctx context.Context, r client.Reader, w *model.Workload) ([]model.Policy, []labels.Selector, error) {
	var list v1alpha1.KickPolicyList
	if err := r.List(ctx, &list, client.InNamespace(w.ID.Namespace)); err != nil {
		return nil, nil, fmt.Errorf("list policies of %s: %w", w.ID.Namespace, err)
	}
	items := list.Items
	slices.SortFunc(items, func(a, b v1alpha1.KickPolicy) int { return cmp.Compare(a.Name, b.Name) })
	var selecting []model.Policy
	var scopes []labels.Selector
	for i := range items {
		p := &items[i]
		workload, err := selector(p.Spec.Discovery.WorkloadSelector)
		if err != nil || !workload.Matches(labels.Set(w.Labels)) {
			continue // a selector that cannot be read selects nothing; its policy says so
		}
		scope, err := selector(p.Spec.Discovery.DependencySelector)
		m := Policy(p)
		m.Selector = workload.String()
		if err != nil {
			m.Invalid = "spec.discovery.dependencySelector: " + err.Error()
			scope = labels.Nothing()
		}
		selecting, scopes = append(selecting, m), append(scopes, scope)
	}
	return selecting, scopes, nil
}

// Stands reports whether a workload is, live, still the object of the snapshot. A
// request made for one that was replaced would be collected as garbage, and made
// again, for as long as the cache lags.
func (g *Gatherer) Stands(ctx context.Context, s *model.Snapshot) (bool, error) {
	obj := g.Workloads.ByName(s.Target.Kind).New()
	found, err := get(ctx, g.Live, s.Target, obj)
	return found && string(obj.GetUID()) == s.Workload.UID, err
}

// HasOther reports whether a workload has, live, a request under the other name, which
// KICK takes while somebody else's has its own: the cache may show neither yet.
func (g *Gatherer) HasOther(ctx context.Context, s *model.Snapshot) (bool, error) {
	other := model.OtherName(s.Target)
	if s.RequestName == other {
		return false, nil
	}
	var r v1alpha1.KickRequest
	found, err := get(ctx, g.Live, model.Key{Kind: "KickRequest", Namespace: s.Target.Namespace, Name: other}, &r)
	return found && TargetOf(&r) == s.Target, err
}

// Confirm reads the policies of a snapshot anew, live, then the sources, and with them
// what is in scope and what the GitOps tool says. The precondition of a restart covers the
// workload and nothing else, so what opens the gate must not come from a cache; and what
// was put back before a policy was resumed must not be found after it.
func (g *Gatherer) Confirm(ctx context.Context, s *model.Snapshot, now time.Time) (*model.Snapshot, error) {
	selecting, scopes, err := policies(ctx, g.Live, s.Workload)
	if err != nil {
		return nil, err
	}
	confirmed, w := *s, *s.Workload
	if w.RunBy, err = g.runBy(ctx, ReadLive, w.ID); err != nil {
		return nil, err
	}
	confirmed.Workload = &w
	confirmed.Policies, confirmed.Dependencies = selecting, slices.Clone(s.Dependencies)
	for i := range confirmed.Dependencies {
		d := &confirmed.Dependencies[i]
		if d.Source, err = g.source(ctx, g.Live, d.Source.ID); err != nil {
			return nil, err
		}
		if d.Unrecorded, err = g.unrecorded(ctx, d.Record, d.Source); err != nil {
			return nil, err
		}
		d.InScope = inScope(scopes, d.Source, d.Record)
	}
	return &confirmed, g.provider(ctx, &confirmed, now)
}

// inScope reports whether a source is the business of any of the policies. Without
// a policy nothing is judged by it.
func inScope(scopes []labels.Selector, source model.Source, record *model.Record) bool {
	own := labelsOf(source, record)
	return len(scopes) == 0 || slices.ContainsFunc(scopes, func(s labels.Selector) bool { return s.Matches(own) })
}

// Policy is a KickPolicy in plain values, its schedule parsed.
func Policy(p *v1alpha1.KickPolicy) model.Policy {
	m := model.Policy{
		ID:          model.Key{Kind: "KickPolicy", Namespace: p.Namespace, Name: p.Name},
		Suspended:   p.Spec.Suspend,
		DryRun:      p.Spec.DryRun,
		SettleDelay: durationOr(p.Spec.Restart.SettleDelay, DefaultSettleDelay),
		MinInterval: durationOr(p.Spec.Restart.MinInterval, DefaultMinInterval),
		Provider:    string(p.Spec.GitOps.Provider),

		RolloutTimeout: durationOr(p.Spec.Restart.RolloutTimeout, 0),
		Unreconciled:   p.Spec.GitOps.RequireReconciled != nil && !*p.Spec.GitOps.RequireReconciled,
	}
	if limit := p.Spec.Restart.MaxConcurrent; limit != nil {
		m.MaxConcurrent = int(*limit)
	}
	var err error
	if m.Schedule, err = schedule.Parse(Windows(p)); err != nil {
		m.Invalid = "spec.schedule." + err.Error()
	}
	return m
}

// Windows are the policy's windows in plain values.
func Windows(p *v1alpha1.KickPolicy) []schedule.Window {
	all := make([]schedule.Window, 0, len(p.Spec.Schedule.Windows))
	for _, w := range p.Spec.Schedule.Windows {
		all = append(all, schedule.Window{
			Deny: w.Type == v1alpha1.WindowDeny, Cron: w.Cron, Duration: w.Duration.Duration, TimeZone: w.TimeZone,
		})
	}
	return all
}

func durationOr(d *metav1.Duration, fallback time.Duration) time.Duration {
	if d == nil {
		return fallback
	}
	return d.Duration
}

// selector turns an omitted selector into one that matches everything.
func selector(s *metav1.LabelSelector) (labels.Selector, error) {
	if s == nil {
		return labels.Everything(), nil
	}
	return metav1.LabelSelectorAsSelector(s)
}

// PolicyLook is what the policy controller needs for one policy's status.
type PolicyLook struct {
	Object  *v1alpha1.KickPolicy // nil: it does not exist
	Model   model.Policy
	Matched int32
	Blocked int32 // matched workloads whose request waits
	// Lacks says why its GitOps tool cannot be asked; empty: it can, or there is none.
	Lacks string
	Off   bool // because its integration is off
	// Lacking says which kinds of workload and source are asked for and not installed.
	Lacking []string
}

// Policy counts what a policy selects and how much of it waits.
func (g *Gatherer) Policy(ctx context.Context, id model.Key, f Freshness) (*PolicyLook, error) {
	p := &v1alpha1.KickPolicy{}
	found, err := get(ctx, g.reader(f), id, p)
	if err != nil || !found {
		return &PolicyLook{}, err
	}
	look := &PolicyLook{Object: p, Model: Policy(p), Lacking: g.Lacking}
	look.Lacks, look.Off = g.Providers.Lacks(look.Model.Provider)
	workload, err := selector(p.Spec.Discovery.WorkloadSelector)
	if err != nil {
		look.Model.Invalid = "spec.discovery.workloadSelector: " + err.Error()
		return look, nil
	}
	if _, err := selector(p.Spec.Discovery.DependencySelector); err != nil {
		look.Model.Invalid = "spec.discovery.dependencySelector: " + err.Error()
	}
	waiting, err := g.waiting(ctx, id.Namespace)
	if err != nil {
		return nil, err
	}
	return look, g.eachWorkload(ctx, id.Namespace, func(k workloads.Kind, obj client.Object) {
		if !workload.Matches(labels.Set(obj.GetLabels())) {
			return
		}
		look.Matched++
		if waiting[model.Key{Kind: k.Name(), Namespace: obj.GetNamespace(), Name: obj.GetName()}] {
			look.Blocked++
		}
	})
}

// Blocked reports whether something holds a request back. Settling does not count:
// it is over in a moment and would move the counts with every change.
func Blocked(r *v1alpha1.KickRequest) bool {
	settling := r.Status.Gate != nil && r.Status.Gate.Reason == string(request.Settling)
	return request.Phase(r.Status.Phase).Waiting() && !settling
}

// waiting are the targets of requests that wait.
func (g *Gatherer) waiting(ctx context.Context, namespace string) (map[model.Key]bool, error) {
	var list v1alpha1.KickRequestList
	if err := g.Cache.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list requests of %s: %w", namespace, err)
	}
	waiting := map[model.Key]bool{}
	for i := range list.Items {
		if Blocked(&list.Items[i]) {
			waiting[TargetOf(&list.Items[i])] = true
		}
	}
	return waiting, nil
}

// PolicyKeys are the policies of a namespace.
func (g *Gatherer) PolicyKeys(ctx context.Context, namespace string) ([]model.Key, error) {
	var list v1alpha1.KickPolicyList
	if err := g.Cache.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list policies of %s: %w", namespace, err)
	}
	keys := make([]model.Key, 0, len(list.Items))
	for i := range list.Items {
		keys = append(keys, model.Key{Kind: "KickPolicy", Namespace: namespace, Name: list.Items[i].Name})
	}
	return keys, nil
}
