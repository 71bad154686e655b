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

var shareSize = flag.Int("operator.share", 40, "how many workloads share the ConfigMap of TestManyShareOneConfigMap")

// defaultLimit is --max-concurrent-restarts where nobody sets it.
const defaultLimit = 25

// A ConfigMap that many workloads share restarts each of them once, and never more at a
// time than the operator allows by default, as a watch of the workloads tells it.
//
// Proves: KICK-FEAT-018.
func TestManyShareOneConfigMap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "share")
	w.policy("")
	w.configMap("settings", "before")
	names := make([]string, *shareSize)
	for i := range names {
		names[i] = fmt.Sprintf("web-%03d", i)
		w.deployment(names[i], 1, byConfigMapEnv("settings"))
	}
	w.share(names, 1)
	w.start("--log-level=info") // what they say at debug would fill the disk
	for _, name := range names {
		w.reaches("Deployment", name, v1alpha1.PhaseNoLongerRequired, "Fresh")
	}

	began := time.Now()
	events, err := w.c.Watch(t.Context(), &appsv1.DeploymentList{}, client.InNamespace(w.ns))
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	w.configMap("settings", "after")
	most := w.watchShare(events.ResultChan(), names)
	took := time.Since(began)
	if most > defaultLimit {
		t.Errorf("%d restarts were under way at a time, want at most %d", most, defaultLimit)
	}
	for _, name := range names {
		w.reaches("Deployment", name, v1alpha1.PhaseSucceeded, "RestartCompleted")
	}
	w.share(names, 2)
	// Had any a second restart to come, it would come before that of this change.
	w.configMap("settings", "again")
	w.share(names, 3)
	t.Logf("%d workloads restarted once each, at most %d at a time, within %s", len(names), most, took.Round(time.Second/10))
}

// share waits until each of the workloads is complete at a generation; more is a failure.
func (w *world) share(names []string, generation int64) {
	w.t.Helper()
	for _, name := range names {
		w.rolledOut("Deployment", name, generation)
	}
}

// watchShare follows the workloads until each has been restarted once, and says how many
// were under way at most: between a template that changed and a rollout that is complete.
func (w *world) watchShare(events <-chan watch.Event, names []string) (most int) {
	w.t.Helper()
	running, over := map[string]bool{}, map[string]bool{}
	ctx, cancel := context.WithTimeout(w.t.Context(), patience+time.Duration(len(names))*time.Second)
	defer cancel()
	for len(over) < len(names) {
		var e watch.Event
		select {
		case e = <-events:
		case <-ctx.Done():
			w.t.Fatalf("%d of %d restarts are over, %d under way", len(over), len(names), len(running))
		}
		d, is := e.Object.(*appsv1.Deployment)
		if !is {
			w.t.Fatalf("the watch ended: %v", e)
		}
		n, st := replicas(d.Spec.Replicas), d.Status
		complete := st.ObservedGeneration == d.Generation && st.UpdatedReplicas == n && st.Replicas == n && st.AvailableReplicas == n
		switch {
		case d.Generation > 2:
			w.t.Fatalf("Deployment %s has generation %d after one change, want 2", d.Name, d.Generation)
		case d.Generation == 2 && complete:
			delete(running, d.Name)
			over[d.Name] = true
		case d.Generation == 2:
			running[d.Name] = true
			most = max(most, len(running))
		}
	}
	return most
}
