package operator_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// A change that nobody watched is found at the next start.
//
// Proves: KICK-FEAT-003.
func TestChangeWhileDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "down")
	w.policy("")
	w.secret("web", "before")
	w.deployment("web", 2, byEnvFrom("web"))
	o := w.start()
	w.reaches("Deployment", "web", v1alpha1.PhaseNoLongerRequired, "Fresh")
	before := w.pods("web")
	if err := o.Stop(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	w.secret("web", "after")
	w.start()
	w.restarted("Deployment", "web", 2, before)
}

// The operator is killed as soon as each of its writes is seen. Whatever the next
// one finds, the workload restarts exactly once for each change.
//
// Proves: KICK-FEAT-005, KICK-FEAT-027.
func TestKilledBetweenWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "killed")
	w.policy("")
	w.secret("web", "before")
	w.deployment("web", 1, byEnvFrom("web"))
	w.secret("witness", "before")
	w.deployment("witness", 1, byEnvFrom("witness"))
	// Nobody releases the lease of a killed leader, so this test does without.
	o := w.start("--leader-elect=false")
	w.reaches("Deployment", "web", v1alpha1.PhaseNoLongerRequired, "Fresh")
	w.reaches("Deployment", "witness", v1alpha1.PhaseNoLongerRequired, "Fresh")

	generation := int64(1)
	for _, write := range []struct {
		name  string
		list  client.ObjectList
		which func(client.Object) bool
	}{
		{"record", &v1alpha1.SourceObservationList{}, func(o client.Object) bool {
			return o.GetName() == "secret-web" && o.GetGeneration() > generation
		}},
		{"reopened request", &v1alpha1.KickRequestList{}, func(o client.Object) bool {
			return o.GetName() == "deployment-web" && o.(*v1alpha1.KickRequest).Status.Phase == v1alpha1.PhasePending
		}},
		{"stamp", &appsv1.DeploymentList{}, func(o client.Object) bool {
			return o.GetName() == "web" && o.GetGeneration() > generation
		}},
		{"phase Executing", &v1alpha1.KickRequestList{}, func(o client.Object) bool {
			return o.GetName() == "deployment-web" && o.(*v1alpha1.KickRequest).Status.Phase == v1alpha1.PhaseExecuting
		}},
	} {
		before := w.pods("web")
		await := w.watch(write.list, write.which)
		w.secret("web", "after-the-"+write.name)
		await()
		if err := o.Kill(); err != nil {
			t.Fatal(err)
		}
		t.Logf("killed after the %s", write.name)
		o = w.start("--leader-elect=false")
		generation++
		w.restarted("Deployment", "web", generation, before)
	}
	// Had any of it left a second restart behind, it would have come before this one.
	w.secret("witness", "after")
	w.reaches("Deployment", "witness", v1alpha1.PhaseSucceeded, "RestartCompleted")
	w.rolledOut("Deployment", "web", generation)
}

// watch begins to watch and returns a function that waits for the first object
// that is as wanted.
func (w *world) watch(list client.ObjectList, wanted func(client.Object) bool) (await func()) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	w.t.Cleanup(cancel)
	events, err := w.c.Watch(ctx, list, client.InNamespace(w.ns))
	if err != nil {
		w.t.Fatal(err)
	}
	return func() {
		w.t.Helper()
		defer events.Stop()
		for e := range events.ResultChan() {
			if o, ok := e.Object.(client.Object); ok && wanted(o) {
				return
			}
		}
		w.t.Fatalf("watch %T: what was waited for did not come within %s", list, patience)
	}
}

// Of two operators one acts. When it is killed, the other takes over.
//
// Proves: KICK-FEAT-027, I6.
func TestTwoOperators(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "two")
	w.policy("")
	w.secret("web", "before")
	w.deployment("web", 1, byEnvFrom("web"))
	election := []string{
		"--leader-election-lease-duration=6s", "--leader-election-renew-deadline=4s", "--leader-election-retry-period=500ms",
	}
	leader := w.start(election...)
	w.start(election...)
	w.reaches("Deployment", "web", v1alpha1.PhaseNoLongerRequired, "Fresh")
	before := w.pods("web")
	w.secret("web", "after")
	w.restarted("Deployment", "web", 2, before)

	if err := leader.Kill(); err != nil {
		t.Fatal(err)
	}
	before = w.pods("web")
	w.secret("web", "after-the-takeover")
	w.restarted("Deployment", "web", 3, before)
}
