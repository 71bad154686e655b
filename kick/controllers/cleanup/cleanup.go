// Package cleanup deletes finished requests when their time has come. Records of
// the ledger are the source controller's, and a request goes with its workload by
// garbage collection.
package cleanup

import (
	"context"
	"time"

	"github.com/benbjohnson/clock"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/apply"
	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
)

// Deps is what the controller works with.
type Deps struct {
	Clock  clock.Clock
	Gather *gather.Gatherer
	Apply  *apply.Applier
}

type reconciler struct{ Deps }

// New returns the controller, keyed by request.
func New(d Deps) controllers.Controller {
	r := &reconciler{d}
	return controllers.Controller{
		Name:      "cleanup",
		Watches:   []controllers.Watch{{Object: &v1alpha1.KickRequest{}, Keys: finished}},
		Reconcile: r.reconcile,
	}
}

// finished lets through requests that have ended.
func finished(_ context.Context, e controllers.Event) []model.Key {
	r, ok := e.New.(*v1alpha1.KickRequest)
	if !ok || r == nil || r.Status.CompletedAt == nil {
		return nil
	}
	return []model.Key{{Kind: "KickRequest", Namespace: r.Namespace, Name: r.Name}}
}

func (r *reconciler) reconcile(ctx context.Context, id model.Key) (controllers.Result, error) {
	now := gather.Now(r.Clock)
	s, err := r.Gather.Finished(ctx, id, now)
	if err != nil || s == nil {
		return controllers.Result{}, err
	}
	left, expired := decide.Expired(s, now)
	if !expired {
		return controllers.Result{After: max(left, time.Millisecond)}, nil
	}
	mark.Hit(mark.RequestExpired)
	err = r.Apply.Delete(ctx, s.Request)
	if apply.Outdated(err) { // it moved on; its next event comes back here
		return controllers.Result{}, nil
	}
	return controllers.Result{}, err
}
