package run

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"

	"github.com/corewire/kick/kick/api/argorollouts"
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
		return requestWords(e, o), true
	case *v1alpha1.SourceObservation:
		if ev.Type == cluster.Deleted {
			return "no longer remembers " + string(o.Spec.Source.Kind) + " " + ev.Key.Namespace + "/" + o.Spec.Source.Name + " (record deleted)", true
		}
		return "remembers " + string(o.Spec.Source.Kind) + " " + ev.Key.Namespace + "/" + o.Spec.Source.Name + " (" + happened(ev) + ")", true
	case *v1alpha1.KickPolicy:
		if e.actor == actorKick {
			return "status written", false
		}
		return happened(ev), true
	case *appsv1.Deployment, *appsv1.StatefulSet, *appsv1.DaemonSet, *argorollouts.Rollout:
		return workloadWords(e), ev.Sub == ""
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

func requestWords(e entry, r *v1alpha1.KickRequest) string {
	ev := e.event
	old, _ := ev.Old.(*v1alpha1.KickRequest)
	if ev.Type == cluster.Added && e.actor == actorUser {
		return "created by hand, for " + string(r.Spec.TargetRef.Kind) + " " + ev.Key.Namespace + "/" + r.Spec.TargetRef.Name
	}
	if ev.Type != cluster.Modified || old == nil {
		return happened(ev)
	}
	from, to := old.Status.Phase, r.Status.Phase
	wait := waits(ev, r)
	if from == to && wait == "" {
		return happened(ev)
	}
	if from == "" {
		from = v1alpha1.PhasePending
	}
	if wait != "" {
		wait = " (" + wait + because(e) + ")"
	}
	if from == to {
		return string(to) + wait
	}
	return string(from) + " -> " + string(to) + wait
}

// waits is the reason of a wait that begins with a write, or of one that goes on for
// another reason; empty for all others.
func waits(ev *cluster.Event, r *v1alpha1.KickRequest) string {
	old, _ := ev.Old.(*v1alpha1.KickRequest)
	gate := r.Status.Gate
	switch {
	case ev.Type != cluster.Modified || old == nil || gate == nil || r.Status.Phase != v1alpha1.PhaseWaitingForGate:
		return ""
	case old.Status.Phase == r.Status.Phase && old.Status.Gate != nil && old.Status.Gate.Reason == gate.Reason:
		return ""
	}
	return gate.Reason
}

// says is the sentence that a request's status gives with another phase or reason: the one
// that events, kubectl kick and the timeline give.
func says(ev *cluster.Event) string {
	now, is := ev.Object.(*v1alpha1.KickRequest)
	old, _ := ev.Old.(*v1alpha1.KickRequest)
	if !is || ev.Type != cluster.Modified || now.Status.Gate == nil {
		return ""
	}
	if old.Status.Gate != nil && old.Status.Phase == now.Status.Phase && old.Status.Gate.Reason == now.Status.Gate.Reason {
		return ""
	}
	return now.Status.Gate.Message
}

// because is what decides, behind a colon.
func because(e entry) string {
	if e.cause == "" {
		return ""
	}
	return ": " + e.cause
}

// restarts reports a write that sets another stamp.
func restarts(ev *cluster.Event) bool {
	stamp := stampOf(ev.Object)
	return ev.Type == cluster.Modified && stamp != "" && stamp != stampOf(ev.Old)
}

// decides reports that a write is one of those that most failures are about: a restart, or the
// cause of a wait.
func decides(e entry) bool {
	_, request := e.event.Object.(*v1alpha1.KickRequest)
	return request && e.cause != "" || restarts(e.event)
}

func workloadWords(e entry) string {
	ev := e.event
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
	return "restarted, restartedAt " + stamp + because(e)
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
	case *argorollouts.Rollout:
		return argorollout.Kind{}.Stamp(o)
	default:
		return ""
	}
}
