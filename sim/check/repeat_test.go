package check

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"errors"
	"time"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/clock"
)

func TestRepeat(t *testing.T) {
	tell := func(b *bench, phase v1alpha1.Phase, opened, changed, started int) {
		b.Helper()
		reach(b, phase, func(r *v1alpha1.KickRequest) {
			r.Status.OpenedAt, r.Status.LatestObservedDependencyChange = new(microTime(opened)), new(microTime(changed))
			r.Status.CurrentRollout = &v1alpha1.RolloutStatus{StartedAt: microTime(started)}
		})
	}
	for name, tt := range map[string]struct {
		act   func(*bench)
		words string
	}{
		"failed":                               {func(b *bench) { tell(b, v1alpha1.PhaseFailed, 10, 9, 20) }, ""},
		"opened again":                         {func(b *bench) { tell(b, v1alpha1.PhaseFailed, 10, 9, 20); tell(b, v1alpha1.PhasePending, 30, 9, 20) }, "opened again, but its restart of 2026-03-01T12:00:20.000000Z failed and nothing changed since"},
		"opened again by one it heard of late": {func(b *bench) { tell(b, v1alpha1.PhaseFailed, 10, 9, 20); tell(b, v1alpha1.PhasePending, 30, 18, 20) }, ""},
		"opened again by one long before":      {func(b *bench) { tell(b, v1alpha1.PhaseFailed, 10, 9, 20); tell(b, v1alpha1.PhasePending, 30, 14, 20) }, "opened again, but its restart"},
		"opened again by a change":             {func(b *bench) { tell(b, v1alpha1.PhaseFailed, 10, 9, 20); tell(b, v1alpha1.PhasePending, 30, 29, 20) }, ""},
		"opened by stale pods":                 {func(b *bench) { tell(b, v1alpha1.PhaseSucceeded, 10, 9, 20); tell(b, v1alpha1.PhasePending, 30, 9, 20) }, ""},
		"another restart":                      {func(b *bench) { tell(b, v1alpha1.PhaseExecuting, 10, 9, 40) }, "tells of a restart of 2026-03-01T12:00:40.000000Z after one of 2026-03-01T12:00:20.000000Z, and nothing changed between them"},
		"for another change":                   {func(b *bench) { tell(b, v1alpha1.PhaseExecuting, 10, 30, 40) }, ""},
		"of another opening":                   {func(b *bench) { tell(b, v1alpha1.PhaseExecuting, 35, 9, 40) }, ""},
		"its source was another for a while": {func(b *bench) {
			b.wait(30 * time.Second)
			b.rotate("second-password")
			b.rotate("first-password")
			tell(b, v1alpha1.PhaseExecuting, 10, 9, 40)
		}, ""},
		"its source is another than it was": {func(b *bench) {
			b.wait(30 * time.Second)
			b.rotate("second-password")
			tell(b, v1alpha1.PhaseExecuting, 10, 9, 40)
		}, "tells of a restart of"},
		"a clock was set": {func(b *bench) {
			b.clocks[clock.Kick].Step(time.Second)
			tell(b, v1alpha1.PhaseExecuting, 10, 9, 40)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawRepeat)
			b.create(Manager, request("deployment-web"))
			tell(b, v1alpha1.PhaseExecuting, 10, 9, 20)
			tt.act(b)
			b.judged(tt.words)
		})
	}
}

func TestRefusal(t *testing.T) {
	gone := apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "web", errors.New("denied"))
	busy := apierrors.NewTooManyRequests("later", 1)
	for name, tt := range map[string]struct {
		err   error
		every time.Duration
		noted error         // how the write of the status after it ends
		late  time.Duration // of the cache of requests
		words string
	}{
		"again and again": {gone, time.Second, nil, 0, "the restart of shop/Deployment/web was refused 8 times within 7s"},
		"now and then":    {gone, 5 * time.Minute, nil, 0, ""},
		"not for good":    {busy, time.Second, nil, 0, ""},
		"not on record":   {gone, time.Second, busy, 0, ""},
		"on record, which the cache does not show":     {gone, time.Second, nil, time.Second, ""},
		"on record, which the cache shows a bit later": {gone, time.Second, nil, 500 * time.Millisecond, "was refused 8 times"},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawRefusal)
			b.create(Manager, request("deployment-web"))
			for range refusedMost {
				w := patch(true, nil)
				w.Err, w.Known.Requests = tt.err, b.loop.Now().Add(-tt.late)
				b.laws.OnCall(w)
				b.laws.OnCall(Write{Verb: "update", Sub: "status", Kind: requestKind, Key: key("deployment-web"), Done: true, Err: tt.noted})
				b.wait(tt.every)
			}
			b.judged(tt.words)
		})
	}
}
