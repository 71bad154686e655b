package check

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawServed = "a request knows its restart"

// served holds what a request says against the restart that stands: it has succeeded
// once the rollout of its own was complete, it waits for no rollout that KICK began for
// it, and its restart fails only of what can have happened.
type served struct {
	complete map[types.UID]string           // the stamp whose rollout was complete at some time
	moving   map[types.UID]time.Time        // when a workload was last seen not to be complete
	alone    map[types.UID]lone             // the restart whose rollout is the only one for long
	known    map[types.NamespacedName]Known // what KICK knew when it last sent what a request says
}

// lone is a restart of which no other rollout can be taken for its own.
type lone struct {
	stamp string
	at    time.Time
}

// OnCall notes what KICK knew when it sent what a request says.
func (s *served) OnCall(_ *Context, w Write) {
	if w.Kind != requestKind || w.Sub != "status" || w.Done {
		return
	}
	if s.known == nil {
		s.known = map[types.NamespacedName]Known{}
	}
	s.known[w.Key] = w.Known
}

// calm is how long a workload must have been complete for nobody to take an earlier
// rollout of it for the one that runs.
const calm = time.Minute

// OnWrite notes how rollouts go.
func (s *served) OnWrite(c *Context, ev cluster.Event) {
	w, ok := workloadOf(ev.Object)
	if !ok || ev.Type == cluster.Deleted {
		return
	}
	if s.complete == nil {
		s.complete, s.moving, s.alone = map[types.UID]string{}, map[types.UID]time.Time{}, map[types.UID]lone{}
	}
	if _, stamped := c.restarted(ev); stamped && c.Loop.Now().Sub(s.moving[w.GetUID()]) > calm {
		s.alone[w.GetUID()] = lone{w.stamp(), c.Loop.Now()}
	}
	switch {
	case !w.complete():
		s.moving[w.GetUID()] = c.Loop.Now()
	case w.stamp() == c.stamps[w.id()]:
		s.complete[w.GetUID()] = w.stamp()
	}
}

func (s *served) fork() Law {
	return &served{complete: maps.Clone(s.complete), moving: maps.Clone(s.moving), alone: maps.Clone(s.alone), known: maps.Clone(s.known)}
}

// OnKick judges what a request says anew.
func (s *served) OnKick(c *Context, ev cluster.Event) {
	r, ok := ev.Object.(*v1alpha1.KickRequest)
	if !ok || ev.Type != cluster.Modified || ev.Old.(*v1alpha1.KickRequest).Status.Phase == r.Status.Phase {
		return
	}
	w, stamp, ok := c.restartOf(r)
	if !ok {
		return
	}
	if rollout := r.Status.CurrentRollout; rollout != nil && rollout.StartedAt.Time.Equal(stamp) {
		s.own(c, r, w)
	} else if reasonOf(r) == "RolloutInProgress" && s.knewOf(ev.Key, w) && answers(stamp, r) {
		c.report(lawServed, "request %s waits for a rollout of %s, which is that of the restart KICK made for it at %s", ev.Key, w.id(), clockTime(stamp))
	}
}

// knewOf reports whether the rollout that runs is that of the stamp alone, and what a request
// says was judged by a cache that showed it.
func (s *served) knewOf(request types.NamespacedName, w workload) bool {
	alone := s.alone[w.GetUID()]
	return alone.stamp == w.stamp() && showed(s.known[request].Workloads, alone.at)
}

// restartOf is the workload of a request, and when KICK restarted it; false if no
// restart of KICK's stands.
func (c *Context) restartOf(r *v1alpha1.KickRequest) (workload, time.Time, bool) {
	w, ok := c.workload(r.Namespace, string(r.Spec.TargetRef.Kind), r.Spec.TargetRef.Name)
	if !ok || w.stamp() != c.stamps[w.id()] || !stampedBy(w, Manager) {
		return workload{}, time.Time{}, false
	}
	stamp, err := time.Parse(time.RFC3339Nano, w.stamp())
	return w, stamp, err == nil
}

// own judges a request that tells of the restart that stands.
func (s *served) own(c *Context, r *v1alpha1.KickRequest, w workload) {
	why := impossible[reasonOf(r)]
	switch {
	case r.Status.Phase == v1alpha1.PhaseSucceeded && s.complete[w.GetUID()] != w.stamp() && !w.onDelete:
		c.report(lawServed, "request %s/%s succeeded, but the rollout of its restart of %s at %s was never complete", r.Namespace, r.Name, w.id(), micro(&r.Status.CurrentRollout.StartedAt))
	case r.Status.Phase == v1alpha1.PhaseFailed && why != nil && why(w) != "":
		c.report(lawServed, "request %s/%s failed (%s), but the restart of %s %s", r.Namespace, r.Name, reasonOf(r), w.id(), why(w))
	}
}

// impossible says why a restart that stands cannot have failed for a reason; empty:
// it can.
var impossible = map[string]func(workload) string{
	"Reverted": func(workload) string { return "stands" },
	"RolloutTimeout": func(w workload) string {
		if w.onDelete {
			return "waits for whoever deletes its pods"
		}
		return ""
	},
}

// answers reports whether a restart of KICK's can only have been made for a request.
func answers(stamp time.Time, r *v1alpha1.KickRequest) bool {
	opened, changed := r.Status.OpenedAt, r.Status.LatestObservedDependencyChange
	return r.Spec.Trigger != v1alpha1.TriggerManual && opened != nil && stamp.After(opened.Time) && (changed == nil || !stamp.Before(changed.Time))
}
