package gather

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/notify"
	"github.com/corewire/kick/kick/model/request"
	"github.com/corewire/kick/kick/workloads"
)

// Reading is a gatherer that reads the same cache, and live by another reader. It is for
// a controller that judges no workload: what is remembered of these stays behind.
func (g *Gatherer) Reading(live client.Reader) *Gatherer {
	return &Gatherer{
		Cache: g.Cache, Live: live, Watched: g.Watched, Workloads: g.Workloads, Sources: g.Sources, Providers: g.Providers,
		Sightings: g.Sightings, Keys: g.Keys, Own: g.Own, Settings: g.Settings, ServerNow: g.ServerNow,
	}
}

// NotificationLook is what a pass over a policy reads.
type NotificationLook struct {
	notify.Snapshot

	webhook v1alpha1.Webhook
}

// Notification reads one policy and the requests it selects. These come from the cache,
// which shows what there is to tell late, but never wrongly; what was told must not come
// from there.
func (g *Gatherer) Notification(ctx context.Context, id model.Key, f Freshness) (*NotificationLook, error) {
	s := &NotificationLook{Snapshot: notify.Snapshot{Allowance: g.Settings.ClockAllowance}}
	var p v1alpha1.NotificationPolicy
	found, err := get(ctx, g.reader(f), id, &p)
	if err != nil || !found || p.DeletionTimestamp != nil {
		return s, err
	}
	s.Policy, s.webhook = notificationPolicy(&p), p.Spec.Webhook
	if s.Policy.Lacks, err = g.lacks(ctx, &p); err != nil {
		return nil, err
	}
	wanted, err := selector(p.Spec.WorkloadSelector)
	if err != nil {
		s.Policy.Lacks = "spec.workloadSelector: " + err.Error()
		return s, nil
	}
	var list v1alpha1.KickRequestList
	if err := g.Cache.List(ctx, &list, client.InNamespace(id.Namespace)); err != nil {
		return nil, fmt.Errorf("list requests of %s: %w", id.Namespace, err)
	}
	for i := range list.Items {
		r := &list.Items[i]
		if !wanted.Matches(labels.Set(r.Labels)) {
			continue
		}
		for _, t := range transitions(&r.Status) {
			s.Transitions = append(s.Transitions, notify.Transition{
				Transition: t, UID: string(r.UID), Target: TargetOf(r),
				Request: model.Key{Kind: "KickRequest", Namespace: r.Namespace, Name: r.Name},
			})
		}
	}
	return s, nil
}

func notificationPolicy(p *v1alpha1.NotificationPolicy) *notify.Policy {
	m := &notify.Policy{
		ID:  model.Key{Kind: notify.Kind, Namespace: p.Namespace, Name: p.Name},
		UID: string(p.UID), Version: p.ResourceVersion, Generation: p.Generation,
		Suspended: p.Spec.Suspend, Phases: notify.Terminal(), Status: notificationStatus(&p.Status),
	}
	if len(p.Spec.Phases) > 0 {
		m.Phases = nil
		for _, phase := range p.Spec.Phases {
			m.Phases = append(m.Phases, request.Phase(phase))
		}
	}
	return m
}

func notificationStatus(o *v1alpha1.NotificationPolicyStatus) notify.Status {
	st := notify.Status{
		Generation: o.ObservedGeneration, Since: micro(o.Since), LastDelivery: whole(o.LastDeliveryTime), LastFailure: whole(o.LastFailureTime),
		LastError: o.LastError, Delivered: o.Delivered, Failed: o.Failed, Dropped: o.Dropped,
	}
	for _, m := range o.Settled {
		st.Settled = append(st.Settled, notify.Mark{UID: m.UID, Phase: request.Phase(m.Phase), At: m.At.UTC()})
	}
	if c := meta.FindStatusCondition(o.Conditions, v1alpha1.ConditionReady); c != nil {
		st.Ready = notify.Condition{Reason: notify.Reason(c.Reason), Message: c.Message, Since: c.LastTransitionTime.UTC()}
	}
	return st
}

func whole(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// secretKey is a key of a Secret that a policy refers to, and where it does.
type secretKey struct{ field, name, key string }

// secretKeys are all that a policy refers to, in the order of its fields.
func secretKeys(w *v1alpha1.Webhook) []secretKey {
	var all []secretKey
	add := func(field string, r *v1alpha1.SecretKeyReference) {
		if r != nil {
			all = append(all, secretKey{"spec.webhook." + field, r.Name, r.Key})
		}
	}
	for i := range w.Headers {
		add(fmt.Sprintf("headers[%d].valueFrom", i), w.Headers[i].ValueFrom)
	}
	if w.Auth != nil {
		add("auth.bearerToken", w.Auth.BearerToken)
		if b := w.Auth.Basic; b != nil {
			add("auth.basic.username", &b.Username)
			add("auth.basic.password", &b.Password)
		}
	}
	if w.TLS != nil {
		add("tls.caBundle", w.TLS.CABundle)
		if c := w.TLS.ClientCertificate; c != nil {
			add("tls.clientCertificate", &v1alpha1.SecretKeyReference{Name: c.Name, Key: corev1.TLSCertKey})
			add("tls.clientCertificate", &v1alpha1.SecretKeyReference{Name: c.Name, Key: corev1.TLSPrivateKeyKey})
		}
	}
	return all
}

// RefersTo reports whether a policy needs a Secret of its namespace.
func RefersTo(p *v1alpha1.NotificationPolicy, secret string) bool {
	for _, k := range secretKeys(&p.Spec.Webhook) {
		if k.name == secret {
			return true
		}
	}
	return false
}

// lacks is the first Secret or key that a policy refers to and the cache does not show;
// empty: none.
func (g *Gatherer) lacks(ctx context.Context, p *v1alpha1.NotificationPolicy) (string, error) {
	for _, k := range secretKeys(&p.Spec.Webhook) {
		var s corev1.Secret
		found, err := get(ctx, g.Cache, model.Key{Kind: "Secret", Namespace: p.Namespace, Name: k.name}, &s)
		if err != nil {
			return "", err
		}
		if _, has := s.Data[k.key]; !has {
			return missing(k, found), nil
		}
	}
	return "", nil
}

func missing(k secretKey, found bool) string {
	if !found {
		return fmt.Sprintf("%s: there is no Secret %s; create it", k.field, k.name)
	}
	return fmt.Sprintf("%s: Secret %s has no key %s; add it", k.field, k.name, k.key)
}

// NotificationKeys are the policies of a namespace that the cache shows and the caller
// wants.
func (g *Gatherer) NotificationKeys(ctx context.Context, namespace string, wants func(*v1alpha1.NotificationPolicy) bool) []model.Key {
	var list v1alpha1.NotificationPolicyList
	if err := g.Cache.List(ctx, &list, client.InNamespace(namespace)); err != nil { // it will be read by the next event
		return nil
	}
	var keys []model.Key
	for i := range list.Items {
		if p := &list.Items[i]; wants(p) {
			keys = append(keys, model.Key{Kind: notify.Kind, Namespace: p.Namespace, Name: p.Name})
		}
	}
	return keys
}

// ProviderOf is the GitOps tool that the one policy of a workload asks; empty: none.
func (g *Gatherer) ProviderOf(ctx context.Context, target model.Key) (string, error) {
	kind := g.Workloads.ByName(target.Kind)
	if kind == nil {
		return "", nil
	}
	obj := kind.New()
	found, err := get(ctx, g.Cache, target, obj)
	if err != nil || !found {
		return "", err
	}
	w := workloads.Model(kind, obj)
	selecting, _, err := policies(ctx, g.Cache, &w)
	if err != nil || len(selecting) != 1 {
		return "", err
	}
	return selecting[0].Provider, nil
}
