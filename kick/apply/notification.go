package apply

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/model/notify"
)

// NotificationStatus writes the status of a policy that is still the one that was
// judged.
func (a *Applier) NotificationStatus(ctx context.Context, p *notify.Policy, st notify.Status) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	o := &v1alpha1.NotificationPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.ID.Namespace, Name: p.ID.Name, UID: types.UID(p.UID), ResourceVersion: p.Version},
		Status:     notificationStatus(st),
	}
	return wrap("update status of", p.ID, a.Client.Status().Update(ctx, o, owner))
}

func notificationStatus(st notify.Status) v1alpha1.NotificationPolicyStatus {
	ready := metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, ObservedGeneration: st.Generation,
		LastTransitionTime: metav1.NewTime(st.Ready.Since), Reason: string(st.Ready.Reason), Message: Cut(st.Ready.Message),
	}
	if st.Ready.Ready() {
		ready.Status = metav1.ConditionTrue
	}
	out := v1alpha1.NotificationPolicyStatus{
		ObservedGeneration: st.Generation, Since: micro(st.Since), LastDeliveryTime: second(st.LastDelivery), LastFailureTime: second(st.LastFailure),
		LastError: Cut(st.LastError), Delivered: st.Delivered, Failed: st.Failed, Dropped: st.Dropped, Conditions: []metav1.Condition{ready},
	}
	for _, m := range st.Settled {
		out.Settled = append(out.Settled, v1alpha1.SettledNotification{UID: m.UID, Phase: v1alpha1.Phase(m.Phase), At: metav1.NewMicroTime(m.At)})
	}
	return out
}

func second(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	s := metav1.NewTime(t)
	return &s
}
