package argocd

import (
	"fmt"
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/gitops/syncwindow"
	"github.com/corewire/kick/kick/model/request"
)

// stuckAfter is how long an operation may run before the message says that it seems to
// hang: one that a window blocks runs on for ever.
const stuckAfter = time.Hour

// staleIntervals is how many refresh intervals a comparison may be old.
const staleIntervals = 5

// Question is everything the gate depends on.
type Question struct {
	Config   *Config
	Settings *Settings
	Workload gitops.Object
	Stamped  bool // the workload carries KICK's own stamp
	App      *Application
	Project  *Project // with the windows of global projects; nil: there is none of that name
	Now      time.Time

	// Unreconciled leaves out whether the Application is reconciled.
	Unreconciled bool
	// After, if set, is an instant that the last comparison has to be later than;
	// AfterWhat says in words what happened then.
	After     time.Time
	AfterWhat string
}

// rule objects to a restart with a shut gate; false: it has nothing against it.
type rule func(*Question) (model.Gate, bool)

// Judge is the answer of Argo CD for a workload whose owner is known.
func Judge(q *Question) model.Gate {
	rules := []rule{deleted, controlled, permitted}
	if !q.Unreconciled {
		rules = append(rules, frozen, operating, asked, comparedLast, conditions, synced, refreshed, listed, recent)
	}
	for _, r := range rules {
		if gate, shut := r(q); shut {
			return gate
		}
	}
	return windows(q)
}

func (a *Application) state(unreconciled bool) string {
	if unreconciled {
		return "not asked whether it is reconciled, and no sync window is shut"
	}
	return "Synced, and no sync window is shut"
}

// shut is a gate that stays shut until the Application changes.
func (q *Question) shut(reason request.Reason, format string, args ...any) (model.Gate, bool) {
	return gitops.Closed(reason, q.App.String()+": "+fmt.Sprintf(format, args...), gitops.WakeOnOwner), true
}

func pass() (model.Gate, bool) { return model.Gate{}, false }

// deleted: what it deployed may be on its way out.
func deleted(q *Question) (model.Gate, bool) {
	if q.App.Deleting {
		return q.shut(request.OwnerReconciling, "metadata.deletionTimestamp is set: it is being deleted")
	}
	return pass()
}

// controlled: the settings and the project were read where its controller does not
// look, if that is another one.
func controlled(q *Question) (model.Gate, bool) {
	if seen := q.App.ControllerNamespace; seen != "" && seen != q.Config.Namespace {
		return q.shut(request.ProviderUnavailable, "status.controllerNamespace is %s, and KICK is told that Argo CD's control plane is in %s", gitops.Quote(seen), gitops.Quote(q.Config.Namespace))
	}
	return pass()
}

// permitted: an Application outside the control plane's namespace that its project does
// not admit is never reconciled, and its status is whatever it was.
func permitted(q *Question) (model.Gate, bool) {
	project := fmt.Sprintf("AppProject %s/%s", q.Config.Namespace, q.App.Project)
	var detail string
	switch {
	case q.Project == nil:
		detail = fmt.Sprintf("%s, its spec.project, does not exist", project)
	case q.App.Namespace != q.Config.Namespace && !q.Project.admits(q.App.Namespace):
		detail = fmt.Sprintf("spec.sourceNamespaces of %s does not admit namespace %s", project, gitops.Quote(q.App.Namespace))
	default:
		return pass()
	}
	return gitops.Closed(request.ProjectUnknown, q.App.String()+": "+detail, gitops.WakeOnProject, gitops.WakeOnOwner), true
}

// frozen: its status says what once was.
func frozen(q *Question) (model.Gate, bool) {
	if q.App.frozen() {
		return q.shut(request.OwnerOutOfSync, "annotation %s is %s: its status is frozen", skipAnnotation, gitops.Quote(q.App.Annotations[skipAnnotation]))
	}
	return pass()
}

// operating: a sync is asked for or runs. One that failed and waits for its retry runs,
// though it has an end.
func operating(q *Question) (model.Gate, bool) {
	o := &q.App.Operation
	switch o.Phase {
	case "", "Succeeded", "Failed", "Error":
		if o.Requested {
			return q.shut(request.OwnerReconciling, "operation is set: a sync is about to run")
		}
		return pass()
	}
	detail := fmt.Sprintf("%s: status.operationState.phase is %s", q.App.Ref, gitops.Quote(o.Phase))
	if o.Started.IsZero() {
		return gitops.Closed(request.OwnerReconciling, detail, gitops.WakeOnOwner), true
	}
	detail += " since " + o.Started.Format(time.RFC3339)
	stuck := o.Started.Add(stuckAfter)
	if q.Now.Before(stuck) {
		return gitops.ClosedUntil(request.OwnerReconciling, detail, stuck, gitops.WakeOnOwner), true
	}
	detail += fmt.Sprintf(", for more than %s: it seems to hang, or a sync window blocks it; end it with argocd app terminate-op", stuckAfter)
	return gitops.Closed(request.OwnerReconciling, detail, gitops.WakeOnOwner), true
}

// asked: somebody wants it compared anew, and it has not been yet.
func asked(q *Question) (model.Gate, bool) {
	for _, key := range []string{refreshAnnotation, hydrateAnnotation} {
		if q.App.Annotations[key] != "" {
			return q.shut(request.OwnerReconciling, "annotation %s is set: it is about to be compared anew", key)
		}
	}
	if q.App.Hydrating {
		return q.shut(request.OwnerReconciling, "status.sourceHydrator.currentOperation.phase is Hydrating")
	}
	return pass()
}

// comparedLast: its status must speak of the spec it has now, and of now.
func comparedLast(q *Question) (model.Gate, bool) {
	switch a := q.App; {
	case a.Reconciled.IsZero():
		return q.shut(request.OwnerReconciling, "status.reconciledAt is not set: it has not been compared yet")
	case a.Compared != "":
		return q.shut(request.OwnerReconciling, "spec.%s is not status.sync.comparedTo.%s: the change has not been compared yet", a.Compared, a.Compared)
	}
	return pass()
}

// conditions that make the rest of the status worthless.
func conditions(q *Question) (model.Gate, bool) {
	for _, c := range q.App.Conditions {
		switch c.Type {
		case "ComparisonError", "InvalidSpecError", "UnknownError":
			return q.shut(request.OwnerOutOfSync, "status.conditions has %s", gitops.Quote(c.Type))
		}
	}
	return pass()
}

// synced: the cluster is what Git says.
func synced(q *Question) (model.Gate, bool) {
	if q.App.Sync != "Synced" {
		return q.shut(request.OwnerOutOfSync, "status.sync.status is %s%s", gitops.Quote(q.App.Sync), q.ownDoing())
	}
	return pass()
}

// refreshed: between the end of an operation and the comparison that follows, the sync
// status is still the one from before the operation. The same goes for what else
// happened to it.
func refreshed(q *Question) (model.Gate, bool) {
	a := q.App
	switch {
	case a.Reconciled.Before(a.Operation.Finished):
		return q.shut(request.OwnerReconciling, "status.reconciledAt %s is before status.operationState.finishedAt %s: the result of the sync has not been compared yet",
			a.Reconciled.Format(time.RFC3339), a.Operation.Finished.Format(time.RFC3339))
	case !q.After.IsZero() && !a.Reconciled.After(q.After):
		return q.shut(request.OwnerReconciling, "status.reconciledAt %s is not after %s, when %s", a.Reconciled.Format(time.RFC3339), q.After.Format(time.RFC3339), q.AfterWhat)
	}
	return pass()
}

// listed: the workload itself is one of its resources, and as Git says.
func listed(q *Question) (model.Gate, bool) {
	if !q.App.lists() {
		return q.shut(request.OwnerOutOfSync, "status.resources does not list %s as wanted", q.Workload)
	}
	for _, e := range q.App.Entries {
		if e.Status != "Synced" {
			return q.shut(request.OwnerOutOfSync, "status of %s in status.resources is %s%s", q.Workload, gitops.Quote(e.Status), q.ownDoing())
		}
	}
	return pass()
}

// ownDoing is a hint for the case in which KICK's own restart made the Application
// differ from Git.
func (q *Question) ownDoing() string {
	for _, e := range q.App.Entries {
		if q.Stamped && !e.Pruning && e.Status == "OutOfSync" {
			return fmt.Sprintf(". If KICK's annotation %s is the only difference, Git has spec.template.metadata.annotations empty or null, or the annotation itself; remove that from Git", model.StampAnnotation)
		}
	}
	return ""
}

// recent: while Git cannot be read, the old status stays in place.
func recent(q *Question) (model.Gate, bool) {
	limit := q.Config.StaleAfter
	if limit == 0 {
		limit = staleIntervals * q.Settings.Refresh
	}
	if limit > 0 && q.Now.Sub(q.App.Reconciled) > limit {
		return q.shut(request.OwnerOutOfSync, "status.reconciledAt %s is more than %s ago: nobody knows what Git says now", q.App.Reconciled.Format(time.RFC3339), limit)
	}
	return pass()
}

// windows: the sync windows of the project, as Argo CD evaluates them.
func windows(q *Question) model.Gate {
	state := syncwindow.At(q.Project.Windows, q.App.target(), q.Now)
	detail := fmt.Sprintf("%s: its sync windows are %s", q.App.Ref, state)
	switch {
	case state.Invalid != "":
		return gitops.Closed(request.ConfigurationError, detail, gitops.WakeOnProject, gitops.WakeOnOwner)
	case !state.Open:
		return gitops.ClosedUntil(request.OutsideSchedule, detail, state.Until, gitops.WakeOnProject, gitops.WakeOnOwner)
	}
	return gitops.OpenUntil(fmt.Sprintf("%s is %s", q.App.Ref, q.App.state(q.Unreconciled)), state.Until)
}
