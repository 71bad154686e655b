package check

import (
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/cluster"
)

var rolloutKind = schema.GroupKind{Group: "argoproj.io", Kind: "Rollout"}

// rolloutOf views a Rollout. Its pods are those of all its ReplicaSets, so that it is
// not counted whether one has too many.
func rolloutOf(o *argorollouts.Rollout) workload {
	w := workload{
		Object: o, kind: rolloutKind.Kind, template: &o.Spec.Template, desired: replicas(o.Spec.Replicas), rollout: o,
		paused:  o.Spec.Paused || len(o.Status.PauseConditions) > 0 || o.Status.ControllerPause,
		updated: o.Status.UpdatedReplicas, ready: o.Status.ReadyReplicas, available: o.Status.AvailableReplicas, total: o.Status.UpdatedReplicas,
	}
	w.observed, _ = strconv.ParseInt(o.Status.ObservedGeneration, 10, 64)
	return w
}

// restartAt is spec.restartAt as text.
func (w workload) restartAt() string {
	if w.rollout.Spec.RestartAt == nil {
		return ""
	}
	return w.rollout.Spec.RestartAt.UTC().Format(time.RFC3339)
}

// stampField is where KICK's stamp is, in words.
func (w workload) stampField() string {
	if w.rollout != nil {
		return "its spec.restartAt"
	}
	return "the annotation " + Stamp + " of its template"
}

// updating reports that a Rollout is between two templates, or gave up in between.
func (w workload) updating() bool {
	st := &w.rollout.Status
	return st.StableRS != st.CurrentPodHash || st.Abort
}

// settled reports that a Rollout's controller has seen all there is, and has nothing left
// to do.
func (w workload) settled() bool {
	at := w.rollout.Spec.RestartAt
	return w.observed >= w.GetGeneration() && !w.updating() && w.updated >= w.desired && (at == nil || at.Equal(w.rollout.Status.RestartedAt))
}

// resolved gives a Rollout the template that it runs.
func (c *Context) resolved(w workload) workload {
	if w.rollout == nil || w.rollout.Spec.WorkloadRef == nil {
		return w
	}
	key := types.NamespacedName{Namespace: w.GetNamespace(), Name: w.rollout.Spec.WorkloadRef.Name}
	if d, ok := c.API.Get(groupKindOf("Deployment"), key).(*appsv1.Deployment); ok {
		w.template = &d.Spec.Template
	}
	return w
}

// dropped reports that pods run which the last restart of a Rollout has not reached,
// although its controller says that it has dealt with it.
func (c *Context) dropped(w workload) bool {
	if w.rollout == nil || w.rollout.Spec.RestartAt == nil || !w.rollout.Spec.RestartAt.Equal(w.rollout.Status.RestartedAt) {
		return false
	}
	for _, pod := range c.Truth.Pods(w.GetNamespace(), w.kind, w.GetName()) {
		if pod.Created.Before(w.rollout.Spec.RestartAt.Time) {
			return true
		}
	}
	return false
}

// madeAgain reports that a request tells of a restart that KICK made because the
// controller had dropped the one before.
func (c *Context) madeAgain(r *v1alpha1.KickRequest) bool {
	id := r.Namespace + "/" + string(r.Spec.TargetRef.Kind) + "/" + r.Spec.TargetRef.Name
	return c.redone[id] != "" && c.redone[id] == r.Status.CurrentRollout.StartedAt.UTC().Format(time.RFC3339)
}

// restartTold is the restart that a request tells of, by KICK's clock. A Rollout's is whole
// seconds of the API server's clock: it was made then or within the second after it.
func (c *Context) restartTold(r *v1alpha1.KickRequest) time.Time {
	at := r.Status.CurrentRollout.StartedAt.Time
	if string(r.Spec.TargetRef.Kind) != rolloutKind.Kind {
		return at
	}
	return at.Add(c.KickNow().Sub(c.now(clock.APIServer)))
}

// runByRollout: a Rollout runs the template of the Deployment.
func (b blockCase) runByRollout() bool {
	for _, o := range b.API.List(rolloutKind, b.w.GetNamespace()) {
		if ref := o.(*argorollouts.Rollout).Spec.WorkloadRef; ref != nil && ref.Kind == b.w.kind && ref.Name == b.w.GetName() {
			return true
		}
	}
	return false
}

// scheduled: somebody asked for a restart that is still to come.
func (b blockCase) scheduled() bool {
	return b.w.rollout != nil && b.w.rollout.Spec.RestartAt != nil && b.w.rollout.Spec.RestartAt.After(b.now(clock.APIServer))
}

const lawRestartAt = "restartAt is neither early nor late"

// restartAt judges the time that KICK asks a Rollout's pods to be newer than.
type restartAt struct{}

// OnKick reports a restart of the future, which Argo Rollouts would put off, and one of a
// Deployment whose template a Rollout runs, which would be a canary.
func (restartAt) OnKick(c *Context, ev cluster.Event) {
	w, ok := c.restarted(ev)
	if !ok {
		return
	}
	if w.rollout == nil {
		if (blockCase{Context: c, w: w}).runByRollout() {
			c.report(lawRestartAt, "%s was restarted, though a Rollout runs its template", w.id())
		}
		return
	}
	at := w.rollout.Spec.RestartAt
	if at != nil && at.After(c.now(clock.APIServer)) {
		c.report(lawRestartAt, "restart of %s at %s with restartAt %s, which the API server's clock does not show yet", w.id(), clockTime(c.Loop.Now()), w.stamp())
	}
	if at == nil {
		return
	}
	for _, r := range refsOf(w.GetNamespace(), w.template) {
		if !r.source.isClass() && c.leaves(*at, r) {
			c.report(lawRestartAt, "restart of %s with restartAt %s, which leaves pods alone that were created in the second of the change of %s", w.id(), w.stamp(), r.source)
		}
	}
}

// leaves reports whether pods of the second of a source's change are older than a restart at that time. A change
// before the first record that no date shows is nobody's to know, and the return of what stood before is none for pods
// that wait for it.
func (c *Context) leaves(at metav1.Time, r ref) bool {
	h := c.sources.of(r.source)
	last, known := h.last()
	if r.required {
		last, known = h.origin(true)
	}
	recorded, seen := h.firstRecord()
	return known && last.timed() && seen && recorded.at.After(last.at) && !at.After(last.written.Truncate(time.Second)) && !last.gone
}
