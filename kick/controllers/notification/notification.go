// Package notification tells the endpoints of NotificationPolicies which phases the
// requests of their namespace reached.
package notification

import (
	"context"
	"slices"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/go-logr/logr"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/apply"
	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/metrics"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/notify"
)

// Name of the controller.
const Name = "notification"

// workers is how many policies are served at a time: one whose endpoint does not answer
// holds up itself only, and nothing else of KICK.
const workers = 32

// passTimeout is longer than the longest that a try may take, 120s, and what is read and
// written around it.
const passTimeout = 150 * time.Second

// Deliverer makes one try to deliver. It keeps to the timeout of the target.
type Deliverer interface {
	Deliver(ctx context.Context, d *notify.Delivery) notify.Outcome
}

// Deps is what the controller works with.
type Deps struct {
	Clock   clock.Clock
	Gather  *gather.Gatherer
	Apply   *apply.Applier
	Metrics *metrics.Metrics
	Deliver Deliverer
	// Queue is how many transitions may wait for one policy.
	Queue int
}

type reconciler struct {
	Deps
	tries tries
}

// New returns the controller, keyed by policy: one policy tells one transition at a
// time, in the order in which they came about.
func New(d Deps) controllers.Controller {
	r := &reconciler{Deps: d, tries: newTries()}
	return controllers.Controller{
		Name: Name, Workers: workers, Timeout: passTimeout, Reconcile: r.reconcile,
		Watches: []controllers.Watch{
			{Object: &v1alpha1.NotificationPolicy{}, Keys: itself},
			{Object: &v1alpha1.KickRequest{}, Keys: r.moved},
			r.secrets(),
		},
	}
}

// reconcile makes one pass, and another one on a live policy where a cache will not do.
func (r *reconciler) reconcile(ctx context.Context, id model.Key) (controllers.Result, error) {
	result, err := r.pass(ctx, id, gather.FromCache)
	if apply.Outdated(err) {
		mark.Hit(mark.NotificationJudgedLive)
		result, err = r.pass(ctx, id, gather.ReadLive)
	}
	return result, err
}

func (r *reconciler) pass(ctx context.Context, id model.Key, f gather.Freshness) (controllers.Result, error) {
	look, err := r.Gather.Notification(ctx, id, f)
	if err != nil {
		return controllers.Result{}, err
	}
	look.Queue = r.Queue
	now := gather.Now(r.Clock)
	v := notify.Decide(&look.Snapshot, now)
	switch {
	case look.Policy == nil:
		r.tries.forget(id)
		r.Metrics.NoNotificationPolicy(id)
		return controllers.Result{}, nil
	case v.Action == notify.Report:
		r.Metrics.NotificationPolicy(id)
		return controllers.Result{}, r.report(ctx, look.Policy, &v)
	case v.Action == notify.Deliver && f == gather.FromCache: // what was told must not come from a cache
		return r.pass(ctx, id, gather.ReadLive)
	case v.Action == notify.Deliver:
		r.Metrics.NotificationPolicy(id)
		return r.tell(ctx, look, &v.Next, now)
	case v.WakeAt.IsZero():
		return controllers.Result{}, nil
	}
	return controllers.Result{After: max(v.WakeAt.Sub(now), time.Millisecond)}, nil
}

// report brings the policy's status to what it has to say.
func (r *reconciler) report(ctx context.Context, p *notify.Policy, v *notify.Verdict) error {
	if err := r.Apply.NotificationStatus(ctx, p, v.Status); err != nil {
		return err
	}
	if v.Dropped > 0 {
		mark.Hit(mark.NotificationDropped)
		r.Metrics.NotificationsDropped(v.Dropped)
		logr.FromContextOrDiscard(ctx).Info("too many notifications wait; the oldest are not delivered", "policy", p.ID.String(), "dropped", v.Dropped)
	}
	return nil
}

// tell makes a try to deliver, and puts on record what is settled by it. Between the two
// stands what a crash may repeat: one message, with the same key. A write that is not
// made is tried again, before anything else and without another delivery.
func (r *reconciler) tell(ctx context.Context, look *gather.NotificationLook, t *notify.Transition, now time.Time) (controllers.Result, error) {
	id := look.Policy.ID
	if held := r.tries.unrecorded(id); held != nil && !slices.Contains(look.Policy.Status.Settled, held.mark) {
		mark.Hit(mark.NotificationRecordedLater)
		return controllers.Result{}, r.record(ctx, look.Policy, held, now)
	}
	try := r.tries.of(id, t.Mark())
	if wait := try.wait(now); wait > 0 {
		return controllers.Result{After: wait}, nil
	}
	outcome, err := r.deliver(ctx, look, t)
	if err != nil || ctx.Err() != nil { // it ends with the process: nothing is known
		return controllers.Result{}, err
	}
	now = gather.Now(r.Clock)
	if pause := try.note(outcome, now); pause > 0 {
		r.Metrics.Notification(id, metrics.NotificationFailed)
		logr.FromContextOrDiscard(ctx).Info("notification not delivered; tried again later", "policy", id.String(), "request", t.Request.String(), "phase", string(t.Phase), "after", pause.String(), "why", outcome.Why)
		return controllers.Result{After: pause}, nil
	}
	r.count(ctx, id, t, outcome)
	return controllers.Result{}, r.record(ctx, look.Policy, try, now)
}

// record puts on record that a transition is settled.
func (r *reconciler) record(ctx context.Context, p *notify.Policy, t *try, now time.Time) error {
	err := r.Apply.NotificationStatus(ctx, p, notify.Settle(p.Status, t.mark, *t.settled, now))
	if err == nil {
		r.tries.forget(p.ID)
	}
	return err
}

// deliver makes the try.
func (r *reconciler) deliver(ctx context.Context, look *gather.NotificationLook, t *notify.Transition) (notify.Outcome, error) {
	target, err := r.Gather.Target(ctx, look)
	if err != nil {
		return notify.Outcome{}, err
	}
	provider, err := r.Gather.ProviderOf(ctx, t.Target)
	if err != nil {
		return notify.Outcome{}, err
	}
	return r.Deliver.Deliver(ctx, &notify.Delivery{
		Policy: look.Policy.ID, Key: t.Mark().Key(), Message: notify.MessageOf(t, provider), Target: target,
	}), nil
}

// count tells of a transition that is settled.
func (r *reconciler) count(ctx context.Context, id model.Key, t *notify.Transition, o notify.Outcome) {
	log := logr.FromContextOrDiscard(ctx).WithValues("policy", id.String(), "request", t.Request.String(), "phase", string(t.Phase))
	if o.Delivered {
		r.Metrics.Notification(id, metrics.NotificationDelivered)
		log.Info("notification delivered")
		return
	}
	mark.Hit(mark.NotificationGivenUp)
	r.Metrics.Notification(id, metrics.NotificationFailed)
	log.Info("notification given up", "why", o.Why)
}
