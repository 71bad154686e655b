package check

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/cluster"
)

var db = Source{"Secret", "shop", "db"}

func TestIndex(t *testing.T) {
	o := &operator{readers: map[Source][]string{db: {"shop/Deployment/web"}}}
	b := shop(t, lawIndex)
	b.laws.AtEnd() // nobody runs
	b.laws.Operator = o
	b.laws.AtEnd()
	b.holds()

	o.readers[db] = nil
	b.laws.AtEnd()
	b.fires("KICK's cache finds nobody as readers of Secret shop/db, but they are shop/Deployment/web")

	b = shop(t, lawIndex)
	b.laws.Operator = o
	o.readers[db] = []string{"shop/Deployment/web"}
	edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].EnvFrom = nil })
	b.laws.AtEnd() // the reference was dropped, the index kept it
	b.fires("finds shop/Deployment/web as readers of Secret shop/db, but they are nobody")
}

func TestLedger(t *testing.T) {
	b := shop(t, lawLedger)
	b.laws.AtEnd()
	b.fires("Secret shop/db is read by shop/Deployment/web in a namespace with a policy and has no record")

	b = shop(t, lawLedger)
	b.create(Manager, record())
	b.laws.AtEnd()
	b.holds()
	b.delete("kubectl", policyKind, "web")
	b.laws.AtEnd()
	b.fires("record shop/secret-db is about Secret shop/db, which no workload of a namespace with a policy reads")

	b = shop(t, lawLedger)
	edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].EnvFrom = nil
		d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "a%b/c"}}}}
	})
	b.laws.AtEnd() // no record can be of that name
	b.holds()
}

// waiting is a shop whose request waits for a reason, until a time if there is one.
func waiting(t *testing.T, law, reason string, until time.Duration) *bench {
	b := shop(t, law)
	b.laws.Operator = &operator{timers: map[string]time.Time{}}
	b.create(Manager, request("deployment-web"))
	reach(b, v1alpha1.PhaseWaitingForGate, func(r *v1alpha1.KickRequest) {
		r.Status.Gate = &v1alpha1.GateStatus{Reason: reason}
		if until != 0 {
			r.Status.Gate.RequeueAt = new(metav1.NewMicroTime(b.loop.Now().Add(until)))
		}
	})
	return b
}

func (b *bench) timer(d time.Duration) {
	b.laws.Operator.(*operator).timers["shop/Deployment/web"] = b.loop.Now().Add(d)
}

// TestWakeAtASecond: a Rollout's wait for the end of a second needs a timer and tells no time.
func TestWakeAtASecond(t *testing.T) {
	for seconds, words := range map[time.Duration]string{time.Second: "", 0: "no timer looks at"} {
		b := waiting(t, lawWake, "Settling", 0)
		if seconds > 0 {
			b.timer(seconds)
		}
		w, _ := b.laws.workload("shop", "Deployment", "web")
		w.rollout = &argorollouts.Rollout{}
		b.laws.mustWake(b.laws.requestsOf(w)[0], w)
		b.judged(words)
	}
}

func TestWake(t *testing.T) {
	for name, tt := range map[string]struct {
		reason string
		until  time.Duration
		change func(*bench)
		words  string
	}{
		"a timer":               {"RateLimited", time.Minute, func(b *bench) { b.timer(time.Minute) }, ""},
		"an earlier timer":      {"RateLimited", time.Minute, func(b *bench) { b.timer(time.Second) }, ""},
		"a later timer":         {"RateLimited", time.Minute, func(b *bench) { b.timer(time.Hour) }, "but the timer for shop/Deployment/web is 59m0s later"},
		"no timer":              {"RateLimited", time.Minute, func(*bench) {}, "but no timer looks at shop/Deployment/web again"},
		"its time is over":      {"RateLimited", -time.Minute, func(b *bench) { b.timer(time.Second) }, "waits (RateLimited) for 11:59:30.000Z, and it is 12:00:30.000Z"},
		"says no time":          {"OutsideSchedule", 0, func(*bench) {}, "does not say until when"},
		"never opens":           {"OutsideSchedule", 0, windowed("0 0 30 2 *", time.Hour, ""), ""},
		"by a watch":            {"Paused", 0, func(*bench) {}, ""},
		"pods, with a timer":    {"PodsNotStarted", 0, func(b *bench) { b.timer(time.Second) }, ""},
		"pods, without":         {"PodsNotStarted", 0, func(*bench) {}, "no timer looks at"},
		"a clock was set":       {"RateLimited", time.Minute, func(b *bench) { b.timer(time.Hour); b.clocks[clock.Kick].Step(time.Second) }, ""},
		"nobody's any more":     {"RateLimited", time.Minute, func(b *bench) { b.delete("kubectl", policyKind, "web") }, ""},
		"finished":              {"RateLimited", time.Minute, func(b *bench) { reach(b, v1alpha1.PhaseFailed) }, ""},
		"was never judged":      {"Opened", 0, func(b *bench) { reach(b, v1alpha1.PhasePending); b.wait(3 * time.Second) }, "and never judged"},
		"another goes before":   {"RateLimited", time.Minute, func(b *bench) { b.create("kubectl", request("a")); b.wait(3 * time.Second); b.timer(0) }, "request shop/a was opened at"},
		"another has just come": {"Paused", 0, func(b *bench) { b.create("kubectl", request("a")); b.timer(0) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := waiting(t, lawWake, tt.reason, tt.until)
			tt.change(b)
			b.laws.AtEnd()
			b.judged(tt.words)
		})
	}
}

func TestOutcomeOfWaits(t *testing.T) {
	for name, tt := range map[string]struct {
		reason string
		change func(*bench)
		words  string
	}{
		"not paused": {"Paused", func(*bench) {}, "request shop/deployment-web is WaitingForGate because of Paused, which does not hold for shop/Deployment/web"},
		"paused": {"Paused", func(b *bench) {
			edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) { d.Spec.Paused = true })
		}, ""},
		"not missing":    {"SourceMissing", func(*bench) {}, "because of SourceMissing"},
		"missing":        {"SourceMissing", func(b *bench) { b.delete("kubectl", secretKind, "db") }, ""},
		"one policy":     {"PolicyConflict", func(*bench) {}, "because of PolicyConflict"},
		"two policies":   {"PolicyConflict", func(b *bench) { b.create("kubectl", policy("all")) }, ""},
		"not suspended":  {"PolicySuspended", func(*bench) {}, "because of PolicySuspended"},
		"no tool asked":  {"OwnerUnknown", func(*bench) {}, "because of OwnerUnknown"},
		"unknown reason": {"SomethingNew", func(*bench) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := waiting(t, lawOutcome, tt.reason, 0)
			tt.change(b)
			b.laws.AtEnd()
			b.judged(tt.words)
		})
	}
}

func TestOutcomeOfRestarts(t *testing.T) {
	succeed := func(b *bench, started, opened int) {
		b.Helper()
		reach(b, v1alpha1.PhaseExecuting)
		reach(b, v1alpha1.PhaseSucceeded, func(r *v1alpha1.KickRequest) {
			r.Status.OpenedAt = new(microTime(opened))
			r.Status.CurrentRollout = &v1alpha1.RolloutStatus{StartedAt: microTime(started)}
		})
	}
	b := shop(t, lawOutcome)
	b.create(Manager, request("deployment-web"))
	succeed(b, 30, 20)
	b.fires("request shop/deployment-web succeeded, but KICK never restarted shop/Deployment/web")

	b = shop(t, lawOutcome)
	b.create(Manager, request("deployment-web"))
	b.restart()
	succeed(b, 30, 20)
	b.holds()

	b = shop(t, lawOutcome)
	b.create(Manager, request("deployment-web"))
	b.restart()
	succeed(b, 30, 40)
	b.fires("before it was opened at 2026-03-01T12:00:40.000000Z")

	b = shop(t, lawOutcome)
	b.create(Manager, request("deployment-web"))
	b.restart()
	reach(b, v1alpha1.PhaseSucceeded)
	b.fires("succeeded and names no rollout")

	b = shop(t, lawOutcome)
	b.create(Manager, request("deployment-web"))
	b.restart()
	reach(b, v1alpha1.PhaseExecuting)
	b.laws.AtEnd()
	b.holds() // it rolls
	edit(b, "kube-controller-manager", deploymentKind, "web", func(d *appsv1.Deployment) {
		d.Spec.Replicas = new(int32(0))
	})
	object := b.server.Get(deploymentKind, key("web")).DeepCopyObject().(*appsv1.Deployment)
	object.Status.ObservedGeneration = object.Generation
	if _, err := b.server.Update(object, statusWrite); err != nil {
		t.Fatal(err)
	}
	b.laws.AtEnd()
	b.fires("request shop/deployment-web still watches the restart of shop/Deployment/web, whose rollout is complete")
}

// TestBeforeFirstLook: what left no trace before KICK's first record.
func TestBeforeFirstLook(t *testing.T) {
	optional := func(b *bench) {
		edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].EnvFrom[0].SecretRef.Optional = new(true)
		})
	}
	remove := func(b *bench) { edit(b, "kubectl", secretKind, "db", func(s *corev1.Secret) { s.Data = nil }) }
	for name, tt := range map[string]struct {
		act  func(*bench)
		lost bool
	}{
		"an optional source is gone": {func(b *bench) { optional(b); b.delete("kubectl", secretKind, "db") }, false},
		"gone, then recorded": {func(b *bench) {
			optional(b)
			b.delete("kubectl", secretKind, "db")
			b.wait(time.Second)
			b.create(Manager, record())
		}, false},
		"gone after the record": {func(b *bench) {
			optional(b)
			b.create(Manager, record())
			b.wait(time.Second)
			b.delete("kubectl", secretKind, "db")
		}, true},
		"a key was removed": {func(b *bench) { remove(b); b.wait(time.Second); b.create(Manager, record()) }, false},
		"its writer gave it up": {func(b *bench) {
			b.rotate("second-password")
			giveUp(b)
			b.wait(time.Second)
			b.create(Manager, record())
		}, false},
		"given up after the record": {func(b *bench) {
			b.create(Manager, record())
			b.wait(time.Second)
			b.rotate("second-password")
			giveUp(b)
		}, true},
		"removed after the record":  {func(b *bench) { b.create(Manager, record()); b.wait(time.Second); remove(b) }, true},
		"changed before the record": {func(b *bench) { b.rotate("second-password"); b.wait(time.Second); b.create(Manager, record()) }, true},
		"never recorded":            {func(b *bench) { b.rotate("second-password") }, true},
		"changed in the pod's second": {func(b *bench) {
			b.run(b.now())
			b.wait(100 * time.Millisecond)
			b.rotate("second-password")
			b.wait(time.Second)
			b.create(Manager, record())
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawLost)
			tt.act(b)
			b.laws.AtEnd()
			if !tt.lost {
				b.holds()
				return
			}
			b.fires("still runs old content of Secret shop/db")
		})
	}
}

// TestTold: a restart is judged by what KICK's records can have told of.
func TestTold(t *testing.T) {
	flap := func(b *bench) (returned time.Time) {
		b.create(Manager, record())
		b.wait(time.Second)
		b.rotate("second-password")
		b.wait(time.Second)
		b.recorded()
		b.wait(time.Second)
		b.rotate("first-password")
		b.wait(time.Second)
		b.recorded()
		returned = b.loop.Now()
		b.wait(time.Second)
		return returned
	}
	call := func(b *bench, known Known) {
		w := patch(false, nil)
		w.Known = known
		b.laws.OnCall(w)
	}
	b := shop(t, lawSpurious)
	call(b, Known{Records: flap(b)}) // it had not seen its record of the way back
	b.restart()
	b.holds()

	b = shop(t, lawSpurious)
	flap(b)
	call(b, Known{Records: b.loop.Now()}) // it had
	b.restart()
	b.fires("every running pod carried the current content")

	b = shop(t, lawSpurious)
	b.create(Manager, record())
	b.wait(time.Second)
	b.rotate("second-password")
	call(b, Known{})
	b.wait(10 * time.Second)
	b.rotate("first-password")
	b.wait(time.Second)
	b.recorded()
	b.wait(10 * time.Second)
	b.restart() // the call was on its way all the time
	b.holds()

	b = shop(t, lawSpurious)
	b.create(Manager, record())
	b.wait(time.Second)
	b.rotate("second-password")
	b.wait(time.Second)
	returned := b.loop.Now()
	b.rotate("first-password")
	b.wait(time.Second)
	b.laws.OnCall(Write{Verb: "update", Kind: recordKind, Key: key("secret-db"), Known: Known{Secrets: returned}})
	b.recorded() // what it recorded was what its cache of the Secret showed
	b.wait(time.Minute)
	b.restart()
	b.holds()
}

// TestAway: a content that was another while nobody looked.
func TestAway(t *testing.T) {
	flap := func(b *bench, between func()) {
		b.create(Manager, record())
		b.wait(time.Minute)
		b.rotate("second-password")
		b.wait(time.Second)
		between()
		b.wait(time.Second)
		b.rotate("first-password")
		b.wait(time.Minute)
		b.recorded()
		b.wait(time.Minute)
		b.restart()
	}
	b := shop(t, lawSpurious)
	flap(b, func() {})
	b.holds()

	b = shop(t, lawSpurious)
	flap(b, b.recorded)
	b.fires("every running pod carried the current content")

	b = shop(t, lawSpurious) // what the pod read was never on record
	b.rotate("second-password")
	b.wait(time.Second)
	b.rotate("third-password") // by more than one way
	b.wait(time.Second)
	b.create(Manager, record())
	b.wait(time.Second)
	b.rotate("first-password")
	b.wait(time.Second)
	b.recorded()
	b.wait(time.Minute)
	b.restart()
	b.holds()
}

// TestScopeOfAGoneSource: it counts by the labels it had last.
func TestScopeOfAGoneSource(t *testing.T) {
	for value, words := range map[string]string{"app": "", "infra": "every running pod carried the current content"} {
		b := shop(t, lawSpurious)
		edit(b, "kubectl", secretKind, "db", func(s *corev1.Secret) { s.Labels = map[string]string{"tier": value} })
		edit(b, "kubectl", policyKind, "web", func(p *v1alpha1.KickPolicy) {
			p.Spec.Discovery.DependencySelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "app"}}
		})
		edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].EnvFrom[0].SecretRef.Optional = new(true)
		})
		b.wait(time.Minute)
		b.delete("kubectl", secretKind, "db")
		b.wait(time.Minute)
		b.restart()
		b.judged(words)
	}
}

// giveUp takes the note of who wrote the content last off the Secret db, as an apply
// does that leaves out what its manager set before.
func giveUp(b *bench) {
	b.Helper()
	old := b.server.Get(secretKind, key("db")).(*corev1.Secret)
	object := old.DeepCopy()
	object.ManagedFields = nil
	b.laws.OnWrite(cluster.Event{
		Type: cluster.Modified, Kind: secretKind, Key: key("db"), Object: object, Old: old, Revision: b.server.Revision() + 1,
		At: b.loop.Now(), Manager: "kubectl", Verb: "apply",
	})
}
