package apply

import (
	"context"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// maxMessage is how long a message in a status may be; the CRD says the same.
const maxMessage = 1024

// Status writes the status of a request that is still the one that was judged.
func (a *Applier) Status(ctx context.Context, r *model.Request, st model.RequestStatus) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	return wrap("update status of", r.ID, a.Client.Status().Update(ctx, withStatus(r, st), owner))
}

// withStatus is the object to send: nothing but identity and status, since the
// status subresource ignores the rest.
func withStatus(r *model.Request, st model.RequestStatus) *v1alpha1.KickRequest {
	return &v1alpha1.KickRequest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.ID.Namespace, Name: r.ID.Name, UID: types.UID(r.UID), ResourceVersion: r.Version,
		},
		Status: requestStatus(r, st),
	}
}

func requestStatus(r *model.Request, st model.RequestStatus) v1alpha1.KickRequestStatus {
	out := v1alpha1.KickRequestStatus{
		ObservedGeneration:             r.Generation,
		Phase:                          v1alpha1.Phase(st.Phase),
		OpenedAt:                       micro(st.OpenedAt),
		CompletedAt:                    micro(st.CompletedAt),
		LatestObservedDependencyChange: micro(st.LatestChange),
		Traceparent:                    st.Traceparent,
		Gate: &v1alpha1.GateStatus{
			Reason: string(st.Reason), Message: Cut(st.Message), RequeueAt: micro(st.RequeueAt),
		},
		Conditions: []metav1.Condition{completed(r, st)},
	}
	if st.Overridden != "" {
		out.Conditions = append(out.Conditions, metav1.Condition{
			Type: v1alpha1.ConditionGateOverridden, Status: metav1.ConditionTrue, ObservedGeneration: r.Generation,
			LastTransitionTime: metav1.NewTime(st.OverriddenAt), Reason: v1alpha1.ConditionGateOverridden, Message: Cut(st.Overridden),
		})
	}
	for _, c := range st.Causes {
		out.Causes = append(out.Causes, v1alpha1.Cause{
			Kind: v1alpha1.SourceKind(c.Source.Kind), Name: c.Source.Name, ChangedAt: metav1.NewMicroTime(c.ChangedAt),
		})
	}
	if !st.RolloutStart.IsZero() {
		out.CurrentRollout = &v1alpha1.RolloutStatus{
			ReplicaSet: st.RolloutRev, StartedAt: metav1.NewMicroTime(st.RolloutStart), Generation: st.RolloutGen,
		}
	}
	for _, t := range st.Transitions {
		out.Transitions = append(out.Transitions, v1alpha1.PhaseTransition{
			Phase: v1alpha1.Phase(t.Phase), At: metav1.NewMicroTime(t.At), Reason: string(t.Reason), Message: t.Message,
		})
	}
	return out
}

// completed is the summary condition. Its transition time follows from the
// request's own times, so the same status is always the same bytes.
func completed(r *model.Request, st model.RequestStatus) metav1.Condition {
	c := metav1.Condition{
		Type: v1alpha1.ConditionCompleted, Status: metav1.ConditionUnknown, ObservedGeneration: r.Generation,
		LastTransitionTime: metav1.NewTime(st.OpenedAt), Reason: string(st.Reason), Message: Cut(st.Message),
	}
	if st.Phase.Terminal() {
		c.Status, c.LastTransitionTime = metav1.ConditionTrue, metav1.NewTime(st.CompletedAt)
	}
	if st.Phase == request.Failed {
		c.Status = metav1.ConditionFalse
	}
	c.LastTransitionTime = c.LastTransitionTime.Rfc3339Copy()
	return c
}

// Cut keeps a message within what a status can hold.
func Cut(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage-3], "") + "..."
}

func micro(t time.Time) *metav1.MicroTime {
	if t.IsZero() {
		return nil
	}
	m := metav1.NewMicroTime(t)
	return &m
}
