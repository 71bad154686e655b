// Package policy keeps the status of each KickPolicy: whether it is in force, and
// how many workloads it selects and holds back.
package policy

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/benbjohnson/clock"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/apply"
	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
)

// Reasons of the Ready condition.
const (
	Validated          = "Validated"          // the policy is in force
	ConfigurationError = "ConfigurationError" // a field cannot be read; the gate stays closed for this policy

	// The GitOps tool it names cannot be asked; its gate stays closed.
	IntegrationKindNotInstalled = "IntegrationKindNotInstalled" // a kind of the tool is not installed
	IntegrationDisabled         = "IntegrationDisabled"         // the flag of the integration is off
)

// pace is the shortest time between two status writes that only move counts, so
// that a rollout of many workloads is not a flood of them.
const pace = 5 * time.Second

// Deps is what the controller works with.
type Deps struct {
	Clock  clock.Clock
	Gather *gather.Gatherer
	Apply  *apply.Applier
}

type reconciler struct {
	Deps
	counted map[model.Key]time.Time // last write that only moved counts; one worker, so no lock
}

// New returns the controller.
func New(d Deps) controllers.Controller {
	r := &reconciler{Deps: d, counted: map[model.Key]time.Time{}}
	c := controllers.Controller{Name: "policy", Reconcile: r.reconcile}
	c.Watches = []controllers.Watch{
		{Object: &v1alpha1.KickPolicy{}, Keys: itself},
		{Object: &v1alpha1.KickRequest{}, Keys: r.moved},
	}
	for _, k := range d.Gather.Workloads {
		c.Watches = append(c.Watches, controllers.Watch{Object: k.New(), Keys: r.relabelled})
	}
	return c
}

func (r *reconciler) reconcile(ctx context.Context, id model.Key) (controllers.Result, error) {
	result, err := r.pass(ctx, id, gather.FromCache)
	if apply.Outdated(err) {
		result, err = r.pass(ctx, id, gather.ReadLive)
	}
	return result, err
}

func (r *reconciler) pass(ctx context.Context, id model.Key, f gather.Freshness) (controllers.Result, error) {
	look, err := r.Gather.Policy(ctx, id, f)
	if err != nil {
		return controllers.Result{}, err
	}
	if look.Object == nil {
		delete(r.counted, id)
		return controllers.Result{}, nil
	}
	now := gather.Now(r.Clock)
	want := status(look, now)
	result := atEdge(want.Schedule, now)
	if equality.Semantic.DeepEqual(want, look.Object.Status) {
		return result, nil
	}
	if sameVerdict(want, look.Object.Status) {
		if wait := pace - now.Sub(r.counted[id]); wait > 0 && wait <= pace {
			mark.Hit(mark.CountsPaced)
			return result.Within(wait), nil
		}
		r.counted[id] = now
	}
	p := look.Object.DeepCopy()
	p.Status = want
	return result, r.Apply.PolicyStatus(ctx, p)
}

// atEdge is a look when the windows open or shut, which nothing else tells.
func atEdge(s *v1alpha1.ScheduleStatus, now time.Time) controllers.Result {
	if s == nil || s.NextEdge == nil {
		return controllers.Result{}
	}
	return controllers.Result{After: max(s.NextEdge.Sub(now), time.Millisecond), Routine: true}
}

// status is what the policy's status has to say.
func status(look *gather.PolicyLook, now time.Time) v1alpha1.KickPolicyStatus {
	p := look.Object
	ready := metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, ObservedGeneration: p.Generation,
		Reason: Validated, Message: "The policy is in force.", LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
	}
	why, stays := look.Model.Invalid, ". The gate stays closed for this policy; others are not affected."
	switch {
	case why != "":
		ready.Reason = ConfigurationError
	case look.Lacks != "":
		ready.Reason, why = IntegrationKindNotInstalled, fmt.Sprintf("spec.gitOps.provider is %s: %s", p.Spec.GitOps.Provider, look.Lacks)
		if look.Off {
			ready.Reason = IntegrationDisabled
		}
	case len(look.Lacking) > 0:
		ready.Reason, why, stays = IntegrationKindNotInstalled, strings.Join(look.Lacking, "; "), ". All else is restarted as ever."
	}
	if why != "" {
		ready.Status, ready.Message = metav1.ConditionFalse, apply.Cut(why+stays)
	}
	st := *p.Status.DeepCopy()
	st.ObservedGeneration, st.MatchedWorkloads, st.BlockedWorkloads = p.Generation, look.Matched, look.Blocked
	st.Schedule = scheduled(look, now)
	meta.SetStatusCondition(&st.Conditions, ready)
	return st
}

// scheduled is what the windows say; nil: there are none that can be read.
func scheduled(look *gather.PolicyLook, now time.Time) *v1alpha1.ScheduleStatus {
	if look.Model.Invalid != "" || len(look.Object.Spec.Schedule.Windows) == 0 {
		return nil
	}
	state := look.Model.Schedule.At(now)
	st := &v1alpha1.ScheduleStatus{Open: state.Open}
	if !state.Until.IsZero() {
		edge := metav1.NewTime(state.Until.Add(time.Second - 1).UTC().Truncate(time.Second)) // as it is stored
		st.NextEdge = &edge
	}
	return st
}

// sameVerdict reports whether two statuses differ in counts only.
func sameVerdict(a, b v1alpha1.KickPolicyStatus) bool {
	return a.ObservedGeneration == b.ObservedGeneration && equality.Semantic.DeepEqual(a.Conditions, b.Conditions)
}

func itself(_ context.Context, e controllers.Event) []model.Key {
	o := e.Object()
	return []model.Key{{Kind: "KickPolicy", Namespace: o.GetNamespace(), Name: o.GetName()}}
}

// moved leads from a request that began or ceased to wait to the policies of its
// namespace. One that was made again under its name may wait for another workload.
func (r *reconciler) moved(ctx context.Context, e controllers.Event) []model.Key {
	if waits(e.Old) == waits(e.New) && len(e.Keys(target)) == 1 {
		return nil
	}
	return r.all(ctx, e.Object().GetNamespace())
}

func target(o client.Object) model.Key { return gather.TargetOf(o.(*v1alpha1.KickRequest)) }

func waits(o client.Object) bool {
	k, ok := o.(*v1alpha1.KickRequest)
	return ok && k != nil && gather.Blocked(k)
}

// relabelled leads from a workload that came, went or changed its labels to the
// policies of its namespace.
func (r *reconciler) relabelled(ctx context.Context, e controllers.Event) []model.Key {
	if e.Old != nil && e.New != nil && equality.Semantic.DeepEqual(e.Old.GetLabels(), e.New.GetLabels()) {
		return nil
	}
	return r.all(ctx, e.Object().GetNamespace())
}

func (r *reconciler) all(ctx context.Context, namespace string) []model.Key {
	keys, err := r.Gather.PolicyKeys(ctx, namespace)
	if err != nil { // a cache that cannot be read will be read by the next event
		return nil
	}
	return keys
}
