package check

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/clock"
)

func TestSpuriousFires(t *testing.T) {
	for name, act := range map[string]struct {
		before func(*bench)
		words  string
	}{
		"nothing changed": {func(*bench) {}, "every running pod carried the current content of its sources"},
		"already replaced": {func(b *bench) {
			b.rotate("second-password")
			b.wait(3 * time.Second)
			b.run(b.now())
			b.wait(10 * time.Second)
		}, "every running pod carried the current content"},
		"changed there and back": {func(b *bench) {
			b.create(Manager, record())
			b.wait(time.Second)
			b.rotate("second-password")
			b.wait(time.Second)
			b.recorded()
			b.wait(time.Second)
			b.rotate("first-password")
			b.wait(time.Second)
			b.recorded()
			b.wait(time.Second)
		}, "every running pod carried the current content"},
		"no pod runs": {func(b *bench) {
			b.rotate("second-password")
			b.pods = nil
		}, "no pod of it was running"},
		"another workload is stale": {func(b *bench) {
			old := b.now()
			b.rotate("second-password")
			b.wait(3 * time.Second)
			b.run(b.now())
			b.runAs("shop/Deployment/other", Source{"Secret", "shop", "db"}, old)
		}, "every running pod carried the current content"},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawSpurious)
			act.before(b)
			b.restart()
			b.fires(act.words)
		})
	}
}

func TestSpuriousHolds(t *testing.T) {
	b := shop(t, lawSpurious)
	b.rotate("second-password")
	b.restart()
	b.holds()
}

// TestExcuses tries each excuse with what makes it true; TestSpuriousFires shows
// that none holds by itself.
func TestExcuses(t *testing.T) {
	replaced := func(b *bench) {
		b.rotate("second-password")
		b.wait(3 * time.Second)
		b.run(b.now())
		b.wait(time.Second)
	}
	tests := map[string]func(*bench){
		"somebody asked for it": func(b *bench) {
			r := request("please")
			r.Spec.Trigger = v1alpha1.TriggerManual
			b.create("kubectl", r)
		},
		"created in the second of the change": func(b *bench) {
			b.rotate("second-password")
			b.wait(100 * time.Millisecond)
			b.run(b.now())
			b.wait(5 * time.Second)
		},
		"clocks differ within the allowance": func(b *bench) {
			b.clocks[clock.Kick].Step(3 * time.Second)
			replaced(b)
		},
		"a container restarted in place": func(b *bench) {
			b.rotate("second-password")
			b.wait(3 * time.Second)
			created := b.pods["shop/Deployment/web"][0].Created
			b.run(b.now()).Again = true
			b.pods["shop/Deployment/web"][0].Created = created
		},
		"a container is down": func(b *bench) {
			b.rotate("second-password")
			b.pods["shop/Deployment/web"][0].Containers, b.pods["shop/Deployment/web"][0].Down = nil, true
		},
		"metadata written before the baseline": func(b *bench) {
			edit(b, "kubectl", secretKind, "db", func(s *corev1.Secret) { s.Labels = map[string]string{"a": "b"} })
			b.wait(time.Second)
			b.create(Manager, record())
		},
		"a key was removed": func(b *bench) {
			edit(b, "kubectl", secretKind, "db", func(s *corev1.Secret) { s.Data = nil })
			b.wait(3 * time.Second)
			b.run(b.now())
			b.wait(time.Second)
		},
		"immutability changed": func(b *bench) {
			edit(b, "kubectl", secretKind, "db", func(s *corev1.Secret) { s.Immutable = new(true) })
		},
		"history evicted": func(b *bench) {
			for range 20 {
				b.rotate("second-password")
				b.wait(time.Second)
				b.rotate("first-password")
				b.wait(time.Second)
			}
		},
		"the scenario allows it": func(b *bench) { b.laws.Expect.Allow.Spurious = 1 },
	}
	for name, act := range tests {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawSpurious)
			act(b)
			b.restart()
			b.holds()
		})
	}
}

// TestExcusesDoNotReachFar: what excuses one restart must not excuse others.
func TestExcusesDoNotReachFar(t *testing.T) {
	tests := map[string]func(*bench){
		"clocks far apart": func(b *bench) {
			b.clocks[clock.Kick].Step(time.Hour)
			b.rotate("second-password")
			b.wait(3 * time.Second)
			b.run(b.now())
		},
		"a container of a newer pod is down": func(b *bench) {
			b.rotate("second-password")
			b.wait(time.Minute)
			b.run(b.now())
			b.pods["shop/Deployment/web"][0].Containers, b.pods["shop/Deployment/web"][0].Down = nil, true
		},
		"pods started long after": func(b *bench) {
			b.clocks[clock.Kick].Step(3 * time.Second)
			b.rotate("second-password")
			b.wait(time.Minute)
			b.run(b.now())
		},
		"metadata written after the baseline": func(b *bench) {
			b.create(Manager, record())
			b.wait(time.Second)
			edit(b, "kubectl", secretKind, "db", func(s *corev1.Secret) { s.Labels = map[string]string{"a": "b"} })
		},
		"a key was removed long ago and recorded": func(b *bench) {
			edit(b, "kubectl", secretKind, "db", func(s *corev1.Secret) { s.Data = nil })
			b.wait(time.Second)
			b.create(Manager, record())
			b.wait(time.Second)
			b.recorded()
			b.wait(10 * time.Second)
			b.recorded()
			b.run(b.now())
		},
	}
	for name, act := range tests {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawSpurious)
			act(b)
			b.wait(time.Second)
			b.restart()
			b.fires("restart of shop/Deployment/web")
		})
	}
}

// recorded says that KICK wrote down what it knows of the Secret db.
func (b *bench) recorded() {
	b.Helper()
	edit(b, Manager, recordKind, "secret-db", func(r *v1alpha1.SourceObservation) { r.Spec.ResourceVersion += "1" })
}

func record() *v1alpha1.SourceObservation {
	return &v1alpha1.SourceObservation{ObjectMeta: meta("secret-db"), Spec: v1alpha1.SourceObservationSpec{
		Source: v1alpha1.SourceReference{Kind: "Secret", Name: "db"}, KeyID: "k",
		History: []v1alpha1.ObservedContent{{Fingerprint: "f", Observed: microTime(0), Written: microTime(0)}},
	}}
}

func TestOptionalSourceDisappears(t *testing.T) {
	b := shop(t, lawSpurious)
	edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].EnvFrom[0].SecretRef.Optional = new(true)
	})
	b.delete("kubectl", secretKind, "db")
	b.restart()
	b.holds()
}
