// Package source keeps the ledger: one record for each source that a managed
// workload refers to, written before anything else happens because of a change.
// It opens no requests; that a record was written is what wakes the controller
// that does.
package source

import (
	"context"
	"sync"
	"time"

	"github.com/benbjohnson/clock"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/apply"
	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/events"
	"github.com/corewire/kick/kick/explain"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/metrics"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/model/observation"
	"github.com/corewire/kick/kick/model/rotation"
	"github.com/corewire/kick/kick/sources"
)

// Pace of baseline writes: adopting a large cluster must not be a burst, and a
// real change never waits behind it.
const (
	baselinesPerSecond = 20
	baselineBurst      = 20
)

// Deps is what the controller works with.
type Deps struct {
	Clock   clock.Clock
	Gather  *gather.Gatherer
	Apply   *apply.Applier
	Events  events.Recorder
	Metrics *metrics.Metrics
	// NewKey draws the bytes of an installation key, should none exist yet.
	NewKey func() []byte
	// Started is when this process began, the API server's clock.
	Started time.Time
}

type reconciler struct {
	Deps
	baselines *rate.Limiter
	made      sync.Map // model.Key -> time.Time: the last baseline of a source that this process has not forgotten
}

// New returns the controller.
func New(d Deps) controllers.Controller {
	r := &reconciler{Deps: d, baselines: rate.NewLimiter(baselinesPerSecond, baselineBurst)}
	c := controllers.Controller{Name: "source", Workers: 4, Reconcile: r.reconcile}
	for _, k := range d.Gather.Sources {
		c.Watches = append(c.Watches, controllers.Watch{Object: k.New(), Keys: r.content(k)})
		if told, is := k.(sources.Mounted); is {
			c.Watches = append(c.Watches, controllers.Watch{Object: told.Status().New(), Keys: mounts(told)})
		}
	}
	for _, k := range d.Gather.Workloads {
		c.Watches = append(c.Watches, controllers.Watch{Object: k.New(), Keys: r.references(k.Template)})
	}
	c.Watches = append(c.Watches,
		controllers.Watch{Object: &v1alpha1.SourceObservation{}, Keys: observed},
		controllers.Watch{Object: &v1alpha1.KickPolicy{}, Keys: r.scope},
	)
	return c
}

// reconcile makes one pass over one source, once the installation key is known. A conflict means that the record in
// the cache was old, so the pass is made once more on the live one.
func (r *reconciler) reconcile(ctx context.Context, id model.Key) (controllers.Result, error) {
	if ready, err := r.loadKey(ctx); !ready || err != nil {
		return controllers.Result{After: time.Millisecond}, err
	}
	result, err := r.pass(ctx, id, gather.FromCache)
	if unseen := apierrors.IsAlreadyExists(err); apply.Outdated(err) {
		mark.Hit(mark.RecordConflict)
		if result, err = r.pass(ctx, id, gather.ReadLive); unseen {
			result = result.Within(controllers.Behind)
		}
	}
	return result, err
}

func (r *reconciler) pass(ctx context.Context, id model.Key, f gather.Freshness) (controllers.Result, error) {
	watched := r.Gather.Sightings.Watched(id)
	look, err := r.Gather.Source(ctx, id, f)
	if err != nil {
		return controllers.Result{}, err
	}
	if !look.Wanted() {
		return controllers.Result{}, r.forget(ctx, id, look.Record)
	}
	now := gather.Now(r.Clock)
	kind, record := r.observe(look, watched, now)
	if kind == observation.NoChange && watched.First != nil && f == gather.FromCache {
		return r.pass(ctx, id, gather.ReadLive) // it did change: the cache may not show the newest record yet
	}
	if kind == observation.NoChange {
		r.Gather.Sightings.Recorded(id)
		return controllers.Result{}, nil
	}
	if kind == observation.Baseline {
		if wait := r.pace(id, now); wait > 0 {
			mark.Hit(mark.BaselinePaced)
			return controllers.Result{After: wait}, nil
		}
	}
	if err := r.Apply.Record(ctx, record); err != nil {
		return controllers.Result{}, err
	}
	r.recorded(id, kind, now)
	if note := r.beganToFlap(look, record); note != "" {
		r.Metrics.Flapping(id)
		r.Events.RecordSource(id, look.Source.UID, events.ForFlapping(note))
	}
	return again(look.Record), nil
}

// observe decides what a look means for the record: by the content itself, or by what is
// told of it.
func (r *reconciler) observe(look *gather.SourceLook, watched observation.Watched, now time.Time) (observation.Kind, *model.Record) {
	since, settings := model.Later(r.Started, look.PolicySince), &r.Gather.Settings
	if look.Told {
		return rotation.Observe(rotation.Input{
			Now: now, ServerNow: look.ServerNow, Allowance: settings.ClockAllowance, Interval: settings.RotationInterval, Key: r.Gather.Keys.Key(),
			Source: look.Source, Record: look.Record, Since: since, NewestStamp: look.NewestStamp, Mounted: look.Mounted,
		})
	}
	return observation.Observe(observation.Input{
		Now: now, ServerNow: look.ServerNow, Allowance: settings.ClockAllowance, Key: r.Gather.Keys.Key(),
		Source: look.Source, Record: look.Record, Since: since, NewestStamp: look.NewestStamp, Watched: watched,
	})
}

// beganToFlap is what is said when a source begins to flap by what is recorded now; empty:
// it does not.
func (r *reconciler) beganToFlap(look *gather.SourceLook, record *model.Record) string {
	switch {
	case look.Told && rotation.BeganToFlap(look.Record, record, r.Gather.Settings.RotationInterval):
		return explain.ClassFlapping(record.ID)
	case !look.Told && observation.BeganToFlap(look.Record, record):
		return explain.Flapping(record.ID)
	}
	return ""
}

// recorded notes that what was seen of a source is on record.
func (r *reconciler) recorded(id model.Key, kind observation.Kind, now time.Time) {
	r.Gather.Sightings.Recorded(id)
	switch kind { //nolint:exhaustive // the others are neither paced nor counted
	case observation.Baseline:
		r.made.Store(id, now)
	case observation.Relevant:
		r.Metrics.Change(id)
	}
}

// again is when to look again at a source whose record was written: the cache has yet
// to show one that was made.
func again(before *model.Record) controllers.Result {
	if before != nil {
		return controllers.Result{}
	}
	return controllers.Result{After: controllers.Behind}
}

// forget drops the record of a source that nothing refers to. What was seen of the
// source is kept for as long as its record: it may be wanted again before that is
// deleted.
func (r *reconciler) forget(ctx context.Context, id model.Key, record *model.Record) error {
	if record != nil {
		if err := r.Apply.Forget(ctx, record); err != nil {
			return err
		}
		mark.Hit(mark.RecordForgotten)
	}
	r.made.Delete(id)
	r.Gather.Sightings.Gone(id)
	return nil
}

// pace takes a turn for a baseline write, or says how long to wait for one. A record that
// was made and taken away again at once waits: for a moment two processes may lead, of
// which one's cache shows a reader that the other's does not.
func (r *reconciler) pace(id model.Key, now time.Time) time.Duration {
	if made, ok := r.made.Load(id); ok {
		if wait := made.(time.Time).Add(controllers.Behind).Sub(now); wait > 0 && wait <= controllers.Behind {
			return wait
		}
	}
	turn := r.baselines.ReserveN(now, 1)
	wait := turn.DelayFrom(now)
	if wait > 0 {
		turn.CancelAt(now)
	}
	return wait
}

// content lets through what may have changed a source's content, and notes what
// the watch saw of it. Metadata churn ends here.
func (r *reconciler) content(k sources.Kind) func(context.Context, controllers.Event) []model.Key {
	return func(_ context.Context, e controllers.Event) []model.Key {
		o := e.Object()
		id := model.Key{Kind: k.Name(), Namespace: o.GetNamespace(), Name: o.GetName()}
		if e.Old == nil {
			r.Gather.Sightings.Met(id, sources.LastWrite(e.New), r.serverNow(), e.Listed)
			return []model.Key{id}
		}
		was := sources.LastWrite(e.Old)
		c := ledger.Change{From: sources.Digest(e.Old), Before: was, LastWrite: was, Now: gather.Now(r.Clock), ServerNow: r.serverNow()}
		if e.New != nil { // else it is gone, and nothing dates that
			c.To, c.LastWrite = sources.Digest(e.New), sources.LastWrite(e.New)
		}
		if !r.Gather.Sightings.Saw(id, c) {
			return nil
		}
		return []model.Key{id}
	}
}

// mounts leads from what a pod tells of a source to that, if it tells anything new. Whether
// it does is for the pass to see: it knows what is on record.
func mounts(k sources.Mounted) func(context.Context, controllers.Event) []model.Key {
	of := func(o client.Object) model.Key {
		name, _ := k.Of(o)
		return model.Key{Kind: k.Name(), Namespace: o.GetNamespace(), Name: name}
	}
	return func(_ context.Context, e controllers.Event) []model.Key {
		if e.New == nil {
			return nil
		}
		return e.Keys(of)
	}
}

// serverNow is the API server's clock, for which KICK's own stands in.
func (r *reconciler) serverNow() time.Time {
	if now := r.Gather.Server(); !now.IsZero() {
		return now
	}
	return gather.Now(r.Clock)
}

// references are the sources that a template refers to now or did before. A
// status update changes nothing of it.
func (r *reconciler) references(template func(client.Object) *corev1.PodTemplateSpec) func(context.Context, controllers.Event) []model.Key {
	return func(_ context.Context, e controllers.Event) []model.Key {
		if e.SameSpec() {
			return nil
		}
		seen := map[discover.Ref]bool{}
		var keys []model.Key
		for _, o := range []client.Object{e.New, e.Old} {
			if o == nil {
				continue
			}
			for _, ref := range r.Gather.Sources.Refs(&template(o).Spec) {
				if !seen[ref] {
					seen[ref] = true
					keys = append(keys, model.Key{Kind: ref.Kind, Namespace: o.GetNamespace(), Name: ref.Name})
				}
			}
		}
		return keys
	}
}

// observed leads from a record to its source, so that one that is deleted, edited
// or left over from another life is put right.
func observed(_ context.Context, e controllers.Event) []model.Key {
	if e.SameSpec() {
		return nil
	}
	return e.Keys(func(o client.Object) model.Key { return ledger.SourceOf(o.(*v1alpha1.SourceObservation)) })
}

// scope leads from a policy that came or went to every source of its namespace.
func (r *reconciler) scope(ctx context.Context, e controllers.Event) []model.Key {
	if e.Old != nil && e.New != nil {
		return nil
	}
	keys, err := r.Gather.References(ctx, e.Object().GetNamespace())
	if err != nil { // a cache that cannot be read will be read by the next event
		return nil
	}
	return keys
}
