package gather

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// TargetOf is the workload a request is about.
func TargetOf(r *v1alpha1.KickRequest) model.Key {
	return model.Key{Kind: string(r.Spec.TargetRef.Kind), Namespace: r.Namespace, Name: r.Spec.TargetRef.Name}
}

// request picks the one request of a target that this pass is about, or the name
// for one that has to be made. KICK keeps a
// single one under a fixed name; people may add theirs under any name, and then
// they are served one after the other: the oldest unfinished first, those of a time
// to come last, else KICK's own, else the newest finished.
func (g *Gatherer) request(ctx context.Context, s *model.Snapshot, now time.Time, f Freshness) error {
	target := s.Target
	s.RequestName = model.ObjectName(target)
	var list v1alpha1.KickRequestList
	where := client.MatchingFields{IndexTarget: target.Kind + "/" + target.Name}
	if err := g.Cache.List(ctx, &list, client.InNamespace(target.Namespace), where); err != nil {
		return fmt.Errorf("list requests for %s: %w", target, err)
	}
	chosen := choose(list.Items, s.RequestName, now)
	s.LastEnded = lastEnded(list.Items)
	s.NextTurn = nextTurn(list.Items, now)
	if f == FromCache {
		s.Request = chosen
		return nil
	}
	id := model.Key{Kind: "KickRequest", Namespace: target.Namespace, Name: s.RequestName}
	if chosen != nil {
		id = chosen.ID
	}
	var r v1alpha1.KickRequest
	found, err := get(ctx, g.Live, id, &r)
	switch {
	case err != nil || !found:
		return err
	case TargetOf(&r) != target: // somebody gave his request the name KICK would have used
		mark.Hit(mark.RequestNameTaken)
		s.RequestName = model.OtherName(target)
		return nil
	}
	s.Request = Request(&r)
	return nil
}

// nextTurn is when the time of a request comes that a person wants to be done later. It is
// served in its turn from then on, which no event tells; zero: there is none.
func nextTurn(items []v1alpha1.KickRequest, now time.Time) time.Time {
	var next time.Time
	for i := range items {
		if at := Request(&items[i]).Ahead(now); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

func choose(items []v1alpha1.KickRequest, own string, now time.Time) *model.Request {
	if len(items) == 0 {
		return nil
	}
	slices.SortFunc(items, func(a, b v1alpha1.KickRequest) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	pick := len(items) - 1
	if i := slices.IndexFunc(items, func(r v1alpha1.KickRequest) bool { return r.Name == own }); i >= 0 {
		pick = i
	}
	var later *model.Request
	for _, waits := range []func(*model.Request) bool{unfinished, func(r *model.Request) bool { return asksAgain(r, now) }} {
		for i := range items {
			r := Request(&items[i])
			switch {
			case items[i].DeletionTimestamp != nil || !waits(r):
			case !waitsForItsTime(r, now):
				return r
			case later == nil || r.ChangeTime().Before(later.ChangeTime()):
				later = r
			}
		}
	}
	if later != nil {
		return later
	}
	return Request(&items[pick])
}

// lastEnded is the request that ended last, whoever made it, which is what people ask for
// when none is open; nil: none has ended.
func lastEnded(items []v1alpha1.KickRequest) *model.Request {
	var last *v1alpha1.KickRequest
	for i := range items {
		r := &items[i]
		if request.Phase(r.Status.Phase).Terminal() && (last == nil || micro(r.Status.CompletedAt).After(micro(last.Status.CompletedAt))) {
			last = r
		}
	}
	if last == nil {
		return nil
	}
	return Request(last)
}

// waitsForItsTime reports whether a person asked for a restart that is not to be made
// yet. Whoever asks for one sooner comes before; one that is under way is seen through.
func waitsForItsTime(r *model.Request, now time.Time) bool {
	return !r.Ahead(now).IsZero() && r.Status.Phase != request.Executing
}

// unfinished reports whether a request waits for something to be done about it.
func unfinished(r *model.Request) bool { return !r.Status.Phase.Terminal() }

// asksAgain reports whether a person moved the time of a finished request on. It
// comes after those that are not finished, since nothing may come of it for as long
// as its workload is missing, and they would wait for ever.
func asksAgain(r *model.Request, now time.Time) bool {
	return r.Manual && r.ChangeTime().After(r.Status.LatestChange) && r.Ahead(now).IsZero()
}

// Request is a KickRequest in plain values.
func Request(r *v1alpha1.KickRequest) *model.Request {
	st := &r.Status
	m := &model.Request{
		ID:         model.Key{Kind: "KickRequest", Namespace: r.Namespace, Name: r.Name},
		UID:        string(r.UID),
		Version:    r.ResourceVersion,
		Generation: r.Generation,
		Created:    r.CreationTimestamp.UTC(),
		Manual:     r.Spec.Trigger != v1alpha1.TriggerDependency,
		ChangedAt:  micro(r.Spec.ChangedAt),
		Status: model.RequestStatus{
			Phase:        request.Phase(st.Phase),
			OpenedAt:     micro(st.OpenedAt),
			CompletedAt:  micro(st.CompletedAt),
			LatestChange: micro(st.LatestObservedDependencyChange),
			Traceparent:  st.Traceparent,
		},
	}
	if o := r.Spec.GateOverride; o != nil {
		m.Override = model.Override{Until: o.Until.UTC(), Reason: o.Reason}
	}
	if c := meta.FindStatusCondition(st.Conditions, v1alpha1.ConditionGateOverridden); c != nil {
		m.Status.Overridden, m.Status.OverriddenAt = c.Message, c.LastTransitionTime.UTC()
	}
	if st.Gate != nil {
		m.Status.Reason, m.Status.Message = request.Reason(st.Gate.Reason), st.Gate.Message
		m.Status.RequeueAt = micro(st.Gate.RequeueAt)
	}
	if st.CurrentRollout != nil {
		m.Status.RolloutStart = st.CurrentRollout.StartedAt.UTC()
		m.Status.RolloutRev = st.CurrentRollout.ReplicaSet
		m.Status.RolloutGen = st.CurrentRollout.Generation
	}
	for _, c := range st.Causes {
		m.Status.Causes = append(m.Status.Causes, model.Cause{
			Source:    model.Key{Kind: string(c.Kind), Namespace: r.Namespace, Name: c.Name},
			ChangedAt: c.ChangedAt.UTC(),
		})
	}
	m.Status.Transitions = transitions(st)
	return m
}

func transitions(st *v1alpha1.KickRequestStatus) []model.Transition {
	all := make([]model.Transition, 0, len(st.Transitions))
	for _, t := range st.Transitions {
		all = append(all, model.Transition{Phase: request.Phase(t.Phase), At: t.At.UTC(), Reason: request.Reason(t.Reason), Message: t.Message})
	}
	return all
}

func micro(t *metav1.MicroTime) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// Finished reads one request that has ended, with what stands around its target;
// nil if it is gone or has not ended.
func (g *Gatherer) Finished(ctx context.Context, id model.Key, now time.Time) (*model.Snapshot, error) {
	var r v1alpha1.KickRequest
	found, err := get(ctx, g.Cache, id, &r)
	if err != nil || !found || r.DeletionTimestamp != nil {
		return nil, err
	}
	m := Request(&r)
	if !m.Status.Phase.Terminal() {
		return nil, nil
	}
	s := &model.Snapshot{Target: TargetOf(&r), Settings: g.Settings, Request: m}
	if m.Status.Phase != request.Failed {
		return s, nil
	}
	if s, err = g.Workload(ctx, TargetOf(&r), now, FromCache); err != nil {
		return nil, err
	}
	s.Request = m
	return s, nil
}
