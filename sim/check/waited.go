package check

import (
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/cluster"
)

const lawWaited = "a running rollout is waited for"

// waited knows when each workload was given the template that stands, if it is one that it
// had not had before: that a former one comes back no object dates. A restart is bound to the very version of the
// workload that KICK judged, so what that version says KICK knew.
type waited struct {
	began map[types.UID]time.Time
	had   map[types.UID][]*corev1.PodTemplateSpec
}

// OnWrite notes new templates.
func (r *waited) OnWrite(c *Context, ev cluster.Event) {
	w, ok := workloadOf(ev.Object)
	if !ok || ev.Type == cluster.Deleted {
		return
	}
	if _, stamped := c.restarted(ev); stamped && ev.Manager == Manager {
		r.judge(c, ev, w)
	}
	if before, known := workloadOf(ev.Old); known && ev.Type == cluster.Modified && equality.Semantic.DeepEqual(before.template, w.template) {
		return
	}
	if r.began == nil {
		r.began, r.had = map[types.UID]time.Time{}, map[types.UID][]*corev1.PodTemplateSpec{}
	}
	uid := w.GetUID()
	if slices.ContainsFunc(r.had[uid], func(t *corev1.PodTemplateSpec) bool { return equality.Semantic.DeepEqual(t, w.template) }) {
		delete(r.began, uid)
		return
	}
	r.began[uid], r.had[uid] = c.Loop.Now(), append(slices.Clip(r.had[uid]), w.template)
}

func (r *waited) fork() Law { return &waited{began: maps.Clone(r.began), had: maps.Clone(r.had)} }

// judge reports a restart in the middle of a rollout that neither failed nor had its
// time (DESIGN section 5).
func (r *waited) judge(c *Context, ev cluster.Event, w workload) {
	before, _ := workloadOf(ev.Old)
	if before.rollout != nil && (before.updating() || before.paused) {
		c.report(lawWaited, "restart of %s at %s, in the middle of an update", w.id(), clockTime(c.Loop.Now()))
		return
	}
	began, known := r.began[w.GetUID()]
	if !known || !before.rolls() || before.failed() || before.onDelete || c.stepped() {
		return
	}
	if ran := c.Loop.Now().Sub(began); ran < c.rolloutTimeout(w)-time.Second { // its revision's date has whole seconds
		c.report(lawWaited, "restart of %s at %s, in the middle of a rollout that began %s before", w.id(), clockTime(c.Loop.Now()), ran)
	}
}

// rolls reports that a workload has yet to see its newest template through.
func (w workload) rolls() bool {
	return w.observed < w.GetGeneration() || w.updated < w.desired-w.partition || w.kind == "Deployment" && w.total > w.updated
}

// failed reports that a Deployment has given its rollout up.
func (w workload) failed() bool {
	d, ok := w.Object.(*appsv1.Deployment)
	if !ok {
		return false
	}
	for _, condition := range d.Status.Conditions {
		if condition.Type == appsv1.DeploymentProgressing && condition.Reason == "ProgressDeadlineExceeded" {
			return true
		}
	}
	return false
}
