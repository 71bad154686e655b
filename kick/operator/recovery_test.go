package operator_test

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

var kills = flag.Int("operator.kills", 5, "how often TestKilledOverAndOver kills the operator")

// The operator is killed again and again in the midst of restarts, and Secrets change all
// the time, also while it is down. Nothing is lost and nothing done twice: each change
// gets its workload one restart, so that its generation is one more than the number of
// changes.
func TestKilledOverAndOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "recovery")
	w.policy("")
	fleet := w.fleet("a", "b", "c", "d")
	o := w.start("--leader-elect=false")
	for round := range *kills {
		fleet.midst(1 + round*7%13)
		if err := o.Kill(); err != nil {
			t.Fatal(err)
		}
		fleet.drive()
		o = w.start("--leader-elect=false")
	}
	fleet.settled()
	// Had any restart been left to be made twice, it would come before those of this change.
	fleet.drive()
	t.Logf("%d kills, %d restarts", *kills, fleet.settled())
}

// fleet is a set of workloads with a Secret each, and how often that has changed.
type fleet struct {
	w       *world
	names   []string
	changes map[string]int64
}

func (w *world) fleet(names ...string) *fleet {
	w.t.Helper()
	for _, name := range names {
		w.secret(name, "0")
		w.deployment(name, 1, byEnvFrom(name))
	}
	return &fleet{w: w, names: names, changes: map[string]int64{}}
}

// drive changes the Secret of every workload that has had its restart for the change
// before.
func (f *fleet) drive() {
	f.w.t.Helper()
	for _, name := range f.names {
		if f.wrong(f.w.t.Context(), name) == "" {
			f.changes[name]++
			f.w.secret(name, fmt.Sprint(f.changes[name]))
		}
	}
}

// wrong says what a workload still waits for. More restarts than changes fail the test.
func (f *fleet) wrong(ctx context.Context, name string) string {
	w, want := f.w, 1+f.changes[name]
	w.t.Helper()
	s, err := w.state(ctx, "Deployment", name)
	if err != nil {
		return err.Error()
	}
	if s.generation > want {
		w.t.Fatalf("Deployment %s has generation %d after %d changes, want %d: one change, one restart", name, s.generation, f.changes[name], want)
	}
	if s.generation < want || !s.complete {
		return fmt.Sprintf("Deployment %s has generation %d, want %d: %s", name, s.generation, want, s.progress)
	}
	var r v1alpha1.KickRequest
	if err := w.c.Get(ctx, client.ObjectKey{Namespace: w.ns, Name: "deployment-" + name}, &r); err != nil {
		return err.Error()
	}
	phase := v1alpha1.PhaseSucceeded
	if want == 1 {
		phase = v1alpha1.PhaseNoLongerRequired
	}
	if r.Status.Phase != phase {
		return fmt.Sprintf("the request of Deployment %s is %s, want %s", name, r.Status.Phase, phase)
	}
	return ""
}

// settled waits until every workload has had its restart for every change.
func (f *fleet) settled() (restarts int64) {
	f.w.t.Helper()
	for _, name := range f.names {
		f.w.eventually(name, func(ctx context.Context) string { return f.wrong(ctx, name) })
		restarts += f.changes[name]
	}
	return restarts
}

// midst drives the workloads until the operator, and the rollouts that it started, have
// written so often.
func (f *fleet) midst(writes int) {
	w := f.w
	w.t.Helper()
	watched := func(list client.ObjectList) <-chan watch.Event {
		events, err := w.c.Watch(w.t.Context(), list, client.InNamespace(w.ns))
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(events.Stop)
		return events.ResultChan()
	}
	requests, records, workloads := watched(&v1alpha1.KickRequestList{}), watched(&v1alpha1.SourceObservationList{}), watched(&appsv1.DeploymentList{})
	tick, timeout := time.NewTicker(100*time.Millisecond), time.After(patience)
	defer tick.Stop()
	for writes > 0 {
		var e watch.Event
		select {
		case e = <-requests:
		case e = <-records:
		case e = <-workloads:
		case <-tick.C:
			f.drive()
		case <-timeout:
			w.t.Fatalf("%d writes did not come within %s", writes, patience)
		}
		if e.Type == watch.Modified { // what was there before is told as Added
			writes--
		}
	}
}
