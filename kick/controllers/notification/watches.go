package notification

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/notify"
	"github.com/corewire/kick/kick/model/request"
)

// itself wakes a policy whenever it changes: after a status write, for what is next.
func itself(_ context.Context, e controllers.Event) []model.Key {
	o := e.Object()
	return []model.Key{{Kind: notify.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}}
}

// moved leads from a request that reached a phase to the policies of its namespace.
func (r *reconciler) moved(ctx context.Context, e controllers.Event) []model.Key {
	now, there := e.New.(*v1alpha1.KickRequest)
	if !there || newest(now) == "" {
		return nil
	}
	before, there := e.Old.(*v1alpha1.KickRequest)
	if there && newest(before) == newest(now) && maps.Equal(before.Labels, now.Labels) {
		return nil
	}
	return r.Gather.NotificationKeys(ctx, now.Namespace, func(*v1alpha1.NotificationPolicy) bool { return true })
}

// newest identifies the last transition of a request; empty: there is none.
func newest(r *v1alpha1.KickRequest) string {
	n := len(r.Status.Transitions)
	if n == 0 {
		return ""
	}
	t := &r.Status.Transitions[n-1]
	return notify.Mark{UID: string(r.UID), Phase: request.Phase(t.Phase), At: t.At.Time}.Key()
}

// secrets leads from a Secret that appeared or changed to the policies that refer to it.
func (r *reconciler) secrets() controllers.Watch {
	return controllers.Watch{Object: &corev1.Secret{}, Keys: func(ctx context.Context, e controllers.Event) []model.Key {
		o := e.Object()
		return r.Gather.NotificationKeys(ctx, o.GetNamespace(), func(p *v1alpha1.NotificationPolicy) bool { return gather.RefersTo(p, o.GetName()) })
	}}
}
