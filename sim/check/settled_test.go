package check

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/clock"
)

func TestSettled(t *testing.T) {
	noted := func(b *bench) { // KICK records what stands, having seen all there is
		b.Helper()
		b.wait(time.Millisecond)
		edit(b, Manager, recordKind, "secret-db", func(r *v1alpha1.SourceObservation) {
			r.Annotations = map[string]string{"version": b.loop.Now().String()}
		})
	}
	changed := func(b *bench) { b.rotate("second-password"); noted(b) }
	for name, tt := range map[string]struct {
		act   func(*bench)
		words string
	}{
		"too soon": {func(b *bench) { changed(b); b.wait(29 * time.Second) }, "Secret shop/db changed 29.001s before and its policy web wants 30s of quiet"},
		"in time":  {func(b *bench) { changed(b); b.wait(30 * time.Second) }, ""},
		"after two changes": {func(b *bench) {
			changed(b)
			b.wait(20 * time.Second)
			b.rotate("third")
			noted(b)
			b.wait(20 * time.Second)
		}, "changed 20.001s before"},
		"not on record": {func(b *bench) { changed(b); b.wait(30 * time.Second); b.rotate("third"); b.wait(time.Second) }, ""},
		"there and back unseen": {func(b *bench) {
			b.rotate("second-password")
			b.wait(time.Second)
			b.rotate("first-password")
			noted(b)
		}, ""},
		"waited for long": {func(b *bench) {
			reach(b, v1alpha1.PhaseWaitingForGate)
			b.wait(5 * time.Minute)
			changed(b)
		}, ""},
		"a person asked": {func(b *bench) {
			b.delete(Manager, requestKind, "deployment-web")
			r := request("by-hand")
			r.Spec.Trigger = v1alpha1.TriggerManual
			b.create("kubectl", r)
			changed(b)
		}, ""},
		"another policy": {func(b *bench) {
			changed(b)
			edit(b, "kubectl", policyKind, "web", func(p *v1alpha1.KickPolicy) { p.Spec.Restart.SettleDelay = &metav1.Duration{} })
		}, ""},
		"out of scope": {func(b *bench) {
			edit(b, "kubectl", policyKind, "web", func(p *v1alpha1.KickPolicy) {
				p.Spec.Discovery.DependencySelector = &metav1.LabelSelector{MatchLabels: map[string]string{"restart": "yes"}}
			})
			changed(b)
		}, ""},
		"a clock was set": {func(b *bench) { b.clocks[clock.Kick].Step(time.Second); changed(b) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawSettled)
			edit(b, "kubectl", policyKind, "web", func(p *v1alpha1.KickPolicy) {
				p.Spec.Restart.SettleDelay = &metav1.Duration{Duration: 30 * time.Second}
			})
			b.create(Manager, record())
			b.wait(time.Second)
			opened := request("deployment-web")
			opened.Status.OpenedAt = new(metav1.NewMicroTime(b.loop.Now()))
			b.create(Manager, opened)
			reach(b, v1alpha1.PhasePending, func(r *v1alpha1.KickRequest) { r.Status.OpenedAt = opened.Status.OpenedAt })
			tt.act(b)
			b.restart()
			b.judged(tt.words)
		})
	}
}
