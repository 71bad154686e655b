// Package request takes each workload from a recorded change to a finished
// restart. It is keyed by workload, level-triggered: whatever woke it, the pass
// looks at what is, so that an event can be lost and a change cannot.
package request

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
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
	"github.com/corewire/kick/kick/tracing"
)

// retryRefused is how long a restart that the API server refuses is left alone.
const retryRefused = 5 * time.Minute

// Deps is what the controller works with.
type Deps struct {
	Clock   clock.Clock
	Gather  *gather.Gatherer
	Apply   *apply.Applier
	Events  events.Recorder
	Metrics *metrics.Metrics
	Trace   *tracing.Tracer // nil: nothing is traced
	// Watches lead from what GitOps tools keep to the workloads that wait for it.
	Watches []controllers.Watch
}

type reconciler struct {
	Deps
	pace pace
}

// New returns the controller.
func New(d Deps) controllers.Controller {
	r := &reconciler{Deps: d}
	return controllers.Controller{Name: "request", Workers: 4, Watches: r.watches(), Reconcile: r.reconcile}
}

// reconcile makes one pass: gather, decide, apply. Its one write wakes it again
// through the watch; only an object that the cache has never shown is looked for
// again by time. If what was judged turned out to be old, one more pass is made on
// live objects.
func (r *reconciler) reconcile(ctx context.Context, target model.Key) (controllers.Result, error) {
	result, err := r.pass(ctx, target, gather.FromCache)
	if unseen := apierrors.IsAlreadyExists(err); apply.Outdated(err) {
		mark.Hit(mark.RequestJudgedLive)
		if result, err = r.pass(ctx, target, gather.ReadLive); unseen {
			result = result.Within(controllers.Behind)
		}
	}
	return result, err
}

func (r *reconciler) pass(ctx context.Context, target model.Key, f gather.Freshness) (controllers.Result, error) {
	now := gather.Now(r.Clock)
	s, err := r.Gather.Workload(ctx, target, now, f)
	if err != nil {
		return controllers.Result{}, err
	}
	v := decide.Decide(s, now)
	if v.Action == decide.Stamp {
		if s, now, err = r.confirm(ctx, s, now, &v); err != nil {
			return controllers.Result{}, err
		}
		if v.Action != decide.Stamp {
			return r.shut(ctx, s, &v)
		}
	}
	result := r.again(&v)
	switch v.Action {
	case decide.None:
	case decide.Open:
		err = r.open(ctx, s)
	case decide.Status:
		return r.say(ctx, s, &v, result)
	case decide.Stamp:
		if err = r.Apply.Stamp(ctx, s.Workload, v.StampAt); err != nil {
			return r.unstamped(ctx, s, now, err)
		}
		r.Gather.Stamped(target)
		logr.FromContextOrDiscard(ctx).Info("restarted", "target", target.String(), "why", explain.Step(v.Decisive))
	}
	return result, err
}

// confirm judges a restart once more, with what opens the gate read live and a place taken
// among the restarts that are under way, which it keeps if the verdict stands.
func (r *reconciler) confirm(ctx context.Context, s *model.Snapshot, now time.Time, v *decide.Verdict) (*model.Snapshot, time.Time, error) {
	s, err := r.Gather.Confirm(ctx, s, now)
	if err != nil {
		return nil, now, err
	}
	if err = r.Gather.Reserve(ctx, s, now); err != nil {
		return nil, now, err
	}
	// A window may have shut while it was read, and a Rollout is dated by the API server's clock.
	now, s.ServerNow = gather.Now(r.Clock), r.Gather.Server()
	if *v = decide.Decide(s, now); v.Action != decide.Stamp {
		r.Gather.Release(s.Target)
	}
	return s, now, nil
}

// shut ends the pass of a restart that is not to be made after all.
func (r *reconciler) shut(ctx context.Context, s *model.Snapshot, v *decide.Verdict) (controllers.Result, error) {
	if v.Decisive.Reason == request.ConcurrencyLimited { // the cache has no say in that
		return r.say(ctx, s, v, r.again(v))
	}
	// The cache is behind. What it shows next wakes this workload; to write down
	// what the live policy says would only be undone by the next look at the cache.
	mark.Hit(mark.GateClosedBetween)
	return controllers.Result{After: controllers.Behind}, nil
}

// open creates the request, unless the workload is another by now; its event then
// comes back here.
func (r *reconciler) open(ctx context.Context, s *model.Snapshot) error {
	stands, err := r.Gather.Stands(ctx, s)
	if err != nil {
		return err
	}
	if !stands {
		mark.Hit(mark.OpenTargetReplaced)
		return nil
	}
	if other, err := r.Gather.HasOther(ctx, s); other || err != nil {
		return err
	}
	return r.Apply.Open(ctx, s.Workload, s.RequestName)
}

// again is when to look at a workload again. The timer starts now, however long the
// reading took.
func (r *reconciler) again(v *decide.Verdict) controllers.Result {
	result := controllers.Result{}
	if !v.WakeAt.IsZero() {
		result.After = max(v.WakeAt.Sub(gather.Now(r.Clock)), time.Millisecond)
	}
	if v.Action == decide.Open {
		result = result.Within(controllers.Behind)
	}
	return result
}

// say writes the request's status unless that comes too soon after another.
func (r *reconciler) say(ctx context.Context, s *model.Snapshot, v *decide.Verdict, result controllers.Result) (controllers.Result, error) {
	st := r.status(s, v)
	if wait := r.pace.hold(s, st, gather.Now(r.Clock)); wait > 0 {
		return result.Within(wait), nil
	}
	return result, r.write(ctx, s, st)
}

// status is the request's status as the verdict has it.
func (r *reconciler) status(s *model.Snapshot, v *decide.Verdict) model.RequestStatus {
	before, st := s.Request.Status, v.Status
	st.Message = apply.Cut(explain.Step(v.Decisive))
	st.Transitions, st.Traceparent = before.Reached(st, gather.Now(r.Clock)), before.Traceparent
	if before.Phase != st.Phase {
		st.Traceparent = r.Trace.Parent(s.Request.UID, st.OpenedAt)
	}
	return st
}

// write brings the request's status to what it is to be, if that says anything new, and
// tells about it.
func (r *reconciler) write(ctx context.Context, s *model.Snapshot, st model.RequestStatus) error {
	before := s.Request.Status
	if before.Equal(st) {
		return nil
	}
	if err := r.Apply.Status(ctx, s.Request, st); err != nil {
		return err
	}
	r.Metrics.Transition(s.Policies, before.Phase, st.Phase)
	if e, worth := events.ForTransition(before, st); worth {
		r.Events.Record(s.Request, s.Workload, e)
	}
	if before.Phase != st.Phase {
		logr.FromContextOrDiscard(ctx).Info("request moved", "target", s.Target.String(),
			"from", string(before.Phase), "to", string(st.Phase), "reason", string(st.Reason), "message", st.Message)
	}
	r.Metrics.Moved(s.Target.Kind, before, st)
	r.Trace.Moved(s.Request, s.Target, st)
	return nil
}

// unstamped sorts out a restart that did not go through. What the API server will
// not have is said in the status and tried again now and then; anything else,
// a conflict above all, goes back to the caller.
func (r *reconciler) unstamped(ctx context.Context, s *model.Snapshot, now time.Time, err error) (controllers.Result, error) {
	why, refused := apply.Refused(err)
	if !refused {
		r.Gather.Unstamped(s.Target, now, apply.Outdated(err))
		noteUnstamped(err)
		return controllers.Result{}, err
	}
	r.Gather.Release(s.Target)
	v := decide.Refused(s, now, why)
	return controllers.Result{After: retryRefused}, r.write(ctx, s, r.status(s, &v))
}

// noteUnstamped counts in what way a restart did not go through.
func noteUnstamped(err error) {
	switch {
	case apierrors.IsConflict(err):
		mark.Hit(mark.StampConflict)
	case apply.Outdated(err):
		mark.Hit(mark.TargetReplaced)
	default:
		mark.Hit(mark.StampUnanswered)
	}
}
