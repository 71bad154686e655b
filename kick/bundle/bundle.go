// Package bundle keeps the ConfigMap of each ConfigBundle as it is declared: created
// with the bundle, brought up to date when the bundle changes, put right when somebody
// else changes or deletes it. Garbage collection removes it with the bundle.
package bundle

import (
	"context"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/corewire/kick/kick/apply"
	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/events"
	"github.com/corewire/kick/kick/explain"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/metrics"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/bundle"
)

// Name of the controller.
const Name = "bundle"

// retry is how long a ConfigMap that cannot be read, or is missing and cannot be
// created, is left alone.
const retry = 3 * time.Second

// retryRefused is how long a change that the API server refuses is left alone.
const retryRefused = 30 * time.Second

// Deps is what the controller works with.
type Deps struct {
	Clock   clock.Clock
	Gather  *gather.Gatherer
	Apply   *apply.Applier
	Events  events.Recorder
	Metrics *metrics.Metrics
	// Interval is how often a ConfigMap is looked at although nothing happened.
	Interval time.Duration
}

type reconciler struct {
	Deps
	pace *pace
	said *said
}

// New returns the controller, keyed by bundle.
func New(d Deps) controllers.Controller {
	r := &reconciler{Deps: d, pace: newPace(), said: newSaid()}
	return controllers.Controller{Name: Name, Workers: 4, Watches: r.watches(), Reconcile: r.reconcile}
}

// reconcile makes one pass. If what was judged turned out to be old, one more pass is
// made on a live bundle; the ConfigMap is always read live, and nothing is written for
// what only a cache says.
func (r *reconciler) reconcile(ctx context.Context, id model.Key) (controllers.Result, error) {
	result, err := r.pass(ctx, id, gather.FromCache)
	if apply.Outdated(err) {
		mark.Hit(mark.BundleJudgedLive)
		result, err = r.pass(ctx, id, gather.ReadLive)
	}
	return result, err
}

func (r *reconciler) pass(ctx context.Context, id model.Key, f gather.Freshness) (controllers.Result, error) {
	s, err := r.Gather.Bundle(ctx, id, f)
	if err != nil {
		return r.later(ctx, id, err), nil
	}
	now := gather.Now(r.Clock)
	v := bundle.Decide(s, now)
	if s.Bundle == nil {
		r.pace.forget(id)
		r.said.forget(id)
		return controllers.Result{}, nil
	}
	if f == gather.FromCache && heavy(s, &v) {
		if stands, err := r.Gather.BundleStands(ctx, s); err != nil {
			return r.later(ctx, id, err), nil
		} else if !stands {
			mark.Hit(mark.BundleJudgedLive)
			return r.pass(ctx, id, gather.ReadLive)
		}
	}
	switch v.Action {
	case bundle.None:
		r.said.note(id, s.Bundle.Status)
		return controllers.Result{}, nil
	case bundle.Report:
		return r.rest(&v, now), r.report(ctx, s, &v, v.Status, "")
	default:
		return r.act(ctx, s, &v, now)
	}
}

// heavy reports whether a verdict needs a bundle that stands: it writes, or it is the
// last one until the bundle changes, and a cache that lags may lag behind that change.
func heavy(s *bundle.Snapshot, v *bundle.Verdict) bool {
	return !s.Bundle.Deleting && (v.Final || v.Action != bundle.None && v.Action != bundle.Report)
}

// act writes what the verdict asks for, not more often than is good.
func (r *reconciler) act(ctx context.Context, s *bundle.Snapshot, v *bundle.Verdict, now time.Time) (controllers.Result, error) {
	if wait := r.pace.wait(s.Bundle, v, now); wait > 0 {
		mark.Hit(mark.BundlePaced)
		return controllers.Result{After: wait}, r.report(ctx, s, v, bundle.Unmended(s, *v, bundle.Differs, now), "")
	}
	if err := r.write(ctx, s, v); err != nil {
		return r.unwritten(ctx, s, v, now, err)
	}
	r.said.forget(s.Bundle.ID) // what there is to say now, the next look will tell
	r.tell(ctx, s, v)
	return r.again(v), nil
}

// write makes the one write that the verdict asks for.
func (r *reconciler) write(ctx context.Context, s *bundle.Snapshot, v *bundle.Verdict) error {
	switch v.Action {
	case bundle.Create, bundle.Apply:
		return r.Apply.ApplyBundle(ctx, s.Bundle, s.ConfigMap, v.Desired)
	case bundle.Prune:
		return r.Apply.PruneBundle(ctx, s.Bundle, s.ConfigMap, v)
	case bundle.Delete:
		return r.Apply.DeleteConfigMap(ctx, s.Bundle, s.ConfigMap)
	case bundle.Keep:
		return r.Apply.KeepBundle(ctx, s.Bundle, v.Spec)
	case bundle.Restore:
		return r.Apply.RestoreBundle(ctx, s.Bundle, v.Spec)
	case bundle.None, bundle.Report:
	}
	return nil
}

// tell tells of a write that was made.
func (r *reconciler) tell(ctx context.Context, s *bundle.Snapshot, v *bundle.Verdict) {
	hit(v)
	note := explain.BundleWrite(s, v)
	r.Metrics.BundleWrite(v)
	if e, worth := events.ForBundleWrite(v, apply.Cut(note)); worth {
		r.Events.RecordBundle(s.Bundle.ID, s.Bundle.UID, s.Bundle.Version, e)
		logr.FromContextOrDiscard(ctx).Info("bundle written", "bundle", s.Bundle.ID.String(), "write", string(v.Action), "why", note)
	}
}

// report brings the bundle's status to what it has to say, if that is new. why is what
// the API server said.
func (r *reconciler) report(ctx context.Context, s *bundle.Snapshot, v *bundle.Verdict, st bundle.Status, why string) error {
	st.Ready.Message = apply.Cut(explain.BundleReady(s, v, st.Ready.Reason, why))
	st.Drifted.Message = explain.BundleDrifted(s, st.Drifted.True)
	r.said.note(s.Bundle.ID, st)
	before := s.Bundle.Status
	if before == st {
		return nil
	}
	if err := r.Apply.BundleStatus(ctx, s.Bundle, st); err != nil {
		return err
	}
	if e, worth := events.ForBundleStatus(before.Ready, st.Ready); worth {
		r.Events.RecordBundle(s.Bundle.ID, s.Bundle.UID, s.Bundle.Version, e)
	}
	return nil
}

// unwritten sorts out a write that was not made, or may not have been. What the API
// server will not have is said in the status. The creation of one that is missing is
// tried again shortly, whatever the error; anything else goes back to the caller.
func (r *reconciler) unwritten(ctx context.Context, s *bundle.Snapshot, v *bundle.Verdict, now time.Time, err error) (controllers.Result, error) {
	missed := v.Action == bundle.Create && v.Anew
	reason, why, refused := apply.RefusedBundle(err)
	switch {
	case refused:
		mark.Hit(mark.BundleRefused)
		r.Metrics.BundleRefused()
		result := controllers.Result{After: retryRefused}
		switch {
		case missed:
			result = r.later(ctx, s.Bundle.ID, err)
		case v.Action == bundle.Create: // for good: it waits for its next change
			result = controllers.Result{}
		}
		return result, r.report(ctx, s, v, bundle.Unmended(s, *v, reason, now), why)
	case missed && !apply.Outdated(err):
		return r.later(ctx, s.Bundle.ID, err), nil
	}
	return controllers.Result{}, err
}

// later notes an error and looks again shortly.
func (r *reconciler) later(ctx context.Context, id model.Key, err error) controllers.Result {
	r.Metrics.Error(Name, string(apierrors.ReasonForError(err)))
	logr.FromContextOrDiscard(ctx).Info("tried again shortly", "bundle", id.String(), "error", err.Error())
	return controllers.Result{After: retry}
}

// again is when to go on after a write: its own event does it, save for a record, which
// nobody watches, and for an event that does not come.
func (r *reconciler) again(v *bundle.Verdict) controllers.Result {
	if v.Action == bundle.Keep {
		return controllers.Result{After: time.Millisecond}
	}
	return controllers.Result{After: min(controllers.Behind, r.Interval)}
}

// rest is when to look again although nothing happens. A bundle whose name is taken
// waits for its next change. What has been going for long is looked at less often: an event
// tells when it is gone.
func (r *reconciler) rest(v *bundle.Verdict, now time.Time) controllers.Result {
	if v.Final {
		return controllers.Result{}
	}
	if v.Status.Ready.Reason == bundle.Terminating {
		return controllers.Result{After: model.Patience(now.Sub(v.Status.Ready.Since), retry, r.Interval)}
	}
	return controllers.Result{After: r.Interval, Routine: true}
}

// hit counts the writes that only an unlucky schedule brings about.
func hit(v *bundle.Verdict) {
	switch {
	case v.Action == bundle.Restore:
		mark.Hit(mark.BundleRestored)
	case v.Action == bundle.Delete:
		mark.Hit(mark.BundleReplaced)
	case v.Action == bundle.Prune:
		mark.Hit(mark.BundlePruned)
	case v.Healing:
		mark.Hit(mark.BundleHealed)
	}
}
