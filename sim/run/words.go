package run

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/workloads/argorollout"
	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/cluster"
)

// words says what a write did, and whether that can be the cause of anything.
func words(e entry) (string, bool) {
	ev := e.event
	switch o := ev.Object.(type) {
	case *corev1.Secret, *corev1.ConfigMap:
		return sourceWords(e), e.actor == actorUser
	case *v1alpha1.KickRequest:
		return requestWords(ev, o), true
	case *v1alpha1.SourceObservation:
		return "remembers " + string(o.Spec.Source.Kind) + " " + ev.Key.Namespace + "/" + o.Spec.Source.Name + " (" + happened(ev) + ")", true
	case *v1alpha1.KickPolicy:
		if e.actor == actorKick {
			return "status written", false
		}
		return happened(ev), true
	case *appsv1.Deployment, *appsv1.StatefulSet, *appsv1.DaemonSet, *argorollout.Rollout:
		return workloadWords(ev), ev.Sub == ""
	case *corev1.Event:
		return o.Reason + " " + o.Message, false
	case *eventsv1.Event:
		return o.Reason + " " + o.Note, false
	default:
		return happened(ev), false
	}
}

// happened is the write in one word.
func happened(ev *cluster.Event) string {
	switch {
	case ev.Type == cluster.Added:
		return "created"
	case ev.Type == cluster.Deleted:
		return "deleted"
	case ev.Object.GetDeletionTimestamp() != nil && ev.Old.GetDeletionTimestamp() == nil:
		return "is being deleted"
	case ev.Sub != "":
		return ev.Sub + " changed"
	default:
		return "changed"
	}
}

func sourceWords(e entry) string {
	switch {
	case e.event.Type == cluster.Deleted:
		return "deleted, content was " + e.before
	case e.event.Type == cluster.Added:
		return "created with content " + e.after
	case e.before == e.after:
		return "written, content still " + e.after
	default:
		return "content " + e.before + " -> " + e.after
	}
}

func requestWords(ev *cluster.Event, r *v1alpha1.KickRequest) string {
	old, _ := ev.Old.(*v1alpha1.KickRequest)
	if ev.Type != cluster.Modified || old == nil {
		return happened(ev)
	}
	from, to := old.Status.Phase, r.Status.Phase
	if from == to {
		return happened(ev)
	}
	if from == "" {
		from = v1alpha1.PhasePending
	}
	reason := ""
	if gate := r.Status.Gate; gate != nil && to == v1alpha1.PhaseWaitingForGate {
		reason = " (" + gate.Reason + ")"
	}
	return string(from) + " -> " + string(to) + reason
}

func workloadWords(ev *cluster.Event) string {
	stamp := stampOf(ev.Object)
	if ev.Type != cluster.Modified || stamp == stampOf(ev.Old) {
		return happened(ev)
	}
	if stamp == "" {
		return "restartedAt removed"
	}
	if t, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
		stamp = t.UTC().Format("15:04:05.000000Z")
	}
	return "restarted, restartedAt " + stamp
}

// stampOf is the restart stamp of a workload.
func stampOf(object client.Object) string {
	switch o := object.(type) {
	case *appsv1.Deployment:
		return o.Spec.Template.Annotations[check.Stamp]
	case *appsv1.StatefulSet:
		return o.Spec.Template.Annotations[check.Stamp]
	case *appsv1.DaemonSet:
		return o.Spec.Template.Annotations[check.Stamp]
	case *argorollout.Rollout:
		return argorollout.Kind{}.Stamp(o)
	default:
		return ""
	}
}
