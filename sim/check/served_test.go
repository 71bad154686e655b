package check

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// rolled says what the Deployment's controller says of it.
func (b *bench) rolled(change func(*appsv1.Deployment)) {
	b.Helper()
	d := b.server.Get(deploymentKind, key("web")).DeepCopyObject().(*appsv1.Deployment)
	d.Status.ObservedGeneration, d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.ReadyReplicas = d.Generation, 1, 1, 1
	change(d)
	if _, err := b.server.Update(d, statusWrite); err != nil {
		b.Fatal(err)
	}
}

func TestServed(t *testing.T) {
	// at is an instant beside the restart.
	at := func(b *bench, d time.Duration) *metav1.MicroTime {
		return new(metav1.NewMicroTime(b.loop.Now().Add(d)))
	}
	rollout := func(b *bench, phase v1alpha1.Phase, reason ...string) {
		started := at(b, 0)
		reach(b, v1alpha1.PhaseExecuting, func(r *v1alpha1.KickRequest) {
			r.Status.CurrentRollout = &v1alpha1.RolloutStatus{StartedAt: *started}
		})
		reach(b, phase, func(r *v1alpha1.KickRequest) {
			for _, why := range reason {
				r.Status.Gate = &v1alpha1.GateStatus{Reason: why}
			}
		})
	}
	waits := func(reason string, opened, changed time.Duration) func(*bench) {
		return func(b *bench) {
			reach(b, v1alpha1.PhaseWaitingForRollout, func(r *v1alpha1.KickRequest) {
				r.Status.OpenedAt, r.Status.LatestObservedDependencyChange = at(b, opened), at(b, changed)
				r.Status.Gate = &v1alpha1.GateStatus{Reason: reason}
			})
		}
	}
	known := func(beside time.Duration) func(*bench) {
		return func(b *bench) {
			k := Known{Workloads: b.loop.Now().Add(beside)}
			b.laws.OnCall(Write{Verb: "update", Sub: "status", Kind: requestKind, Key: key("deployment-web"), Known: k})
			waits("RolloutInProgress", -time.Second, -time.Second)(b)
		}
	}
	done := func(*appsv1.Deployment) {}
	const waitsForIt = "request shop/deployment-web waits for a rollout of shop/Deployment/web, which is that of the restart KICK made for it at 12:01:32.000Z"
	const never = "the rollout of its restart of shop/Deployment/web at 2026-03-01T12:01:32.000000Z was never complete"
	for name, tt := range map[string]struct {
		act   func(*bench)
		words string
	}{
		"complete": {func(b *bench) { b.rolled(done); rollout(b, v1alpha1.PhaseSucceeded) }, ""},
		"complete and then not": {func(b *bench) {
			b.rolled(done)
			b.rolled(func(d *appsv1.Deployment) { d.Status.ReadyReplicas = 0 })
			rollout(b, v1alpha1.PhaseSucceeded)
		}, ""},
		"never looked at": {func(b *bench) { rollout(b, v1alpha1.PhaseSucceeded) }, never},
		"an old pod is left": {func(b *bench) {
			b.rolled(func(d *appsv1.Deployment) { d.Status.Replicas = 2 })
			rollout(b, v1alpha1.PhaseSucceeded)
		}, never},
		"of an older revision": {func(b *bench) {
			b.rolled(func(d *appsv1.Deployment) { d.Status.ObservedGeneration-- })
			rollout(b, v1alpha1.PhaseSucceeded)
		}, never},
		"it failed": {func(b *bench) { rollout(b, v1alpha1.PhaseFailed) }, ""},
		"taken back": {func(b *bench) {
			edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) { d.Spec.Template.Annotations = nil })
			rollout(b, v1alpha1.PhaseSucceeded)
		}, ""},
		"waits for it":                               {waits("RolloutInProgress", -time.Second, -time.Second), waitsForIt},
		"waits for it, which its cache shows":        {known(time.Second), waitsForIt},
		"waits for it, which its cache did not show": {known(0), ""},
		"waits for pods":                             {waits("PodsNotStarted", -time.Second, -time.Second), ""},
		"opened since":                               {waits("RolloutInProgress", time.Second, -time.Second), ""},
		"changed since":                              {waits("RolloutInProgress", -time.Second, time.Second), ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawServed)
			b.rolled(func(*appsv1.Deployment) {})
			b.wait(calm + 2*time.Second)
			b.create(Manager, request("deployment-web"))
			b.restart()
			tt.act(b)
			b.judged(tt.words)
		})
	}
}

// versioned is a record of the Secret db as it stands.
func (b *bench) versioned() *v1alpha1.SourceObservation {
	r := record()
	r.Spec.ResourceVersion = b.server.Get(secretKind, key("db")).GetResourceVersion()
	return r
}

func TestFollows(t *testing.T) {
	for name, tt := range map[string]struct {
		act   func(*bench)
		words string
	}{
		"current":       {func(*bench) {}, ""},
		"only touched":  {(*bench).touch, ""},
		"away and back": {func(b *bench) { b.rotate("second-password"); b.rotate("first-password") }, ""},
		"changed":       {func(b *bench) { b.rotate("second-password") }, "of Secret shop/db, and its content is another since"},
		"deleted":       {func(b *bench) { b.delete("kubectl", secretKind, "db") }, "record shop/secret-db tells of a source that exists, which is one that does not exist"},
		"nobody's":      {func(b *bench) { b.rotate("second-password"); b.delete("kubectl", policyKind, "web") }, ""},
		"followed": {func(b *bench) {
			b.rotate("second-password")
			version := b.versioned().Spec.ResourceVersion
			edit(b, Manager, recordKind, "secret-db", func(r *v1alpha1.SourceObservation) { r.Spec.ResourceVersion = version })
		}, ""},
		"went back": {func(b *bench) {
			edit(b, Manager, recordKind, "secret-db", func(r *v1alpha1.SourceObservation) { r.Spec.ResourceVersion = "1" })
			b.delete("kubectl", policyKind, "web")
		}, "record shop/secret-db went back from version"},
		"by hand": {func(b *bench) {
			edit(b, "kubectl", recordKind, "secret-db", func(r *v1alpha1.SourceObservation) { r.Spec.ResourceVersion = "1" })
			b.delete("kubectl", policyKind, "web")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawFollows)
			b.create(Manager, b.versioned())
			tt.act(b)
			b.laws.AtEnd()
			b.judged(tt.words)
		})
	}
}

// TestServedAfterAnother: a rollout that came shortly before may be meant.
func TestServedAfterAnother(t *testing.T) {
	b := shop(t, lawServed)
	b.rolled(func(*appsv1.Deployment) {})
	b.create(Manager, request("deployment-web"))
	b.restart()
	reach(b, v1alpha1.PhaseWaitingForRollout, func(r *v1alpha1.KickRequest) {
		r.Status.OpenedAt, r.Status.LatestObservedDependencyChange = new(microTime(0)), new(microTime(0))
		r.Status.Gate = &v1alpha1.GateStatus{Reason: "RolloutInProgress"}
	})
	b.holds()
}

// TestServedOnDelete: no rollout runs that could take too long.
func TestServedOnDelete(t *testing.T) {
	w := workload{onDelete: true}
	if impossible["RolloutTimeout"](w) == "" || impossible["RolloutTimeout"](workload{}) != "" {
		t.Error("a rollout can take too long where the controller runs it, and nowhere else")
	}
}
