package gitops_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// BenchmarkGateOpensByEvent is how long after the write that opens the gate a watch shows
// the restart.
func BenchmarkGateOpensByEvent(b *testing.B) {
	w := gated(b, "opens-by-event")
	var all []time.Duration
	for round := 0; b.Loop(); round++ {
		b.StopTimer()
		w.patch(w.application(), `{"status":{"sync":{"status":"OutOfSync"}}}`)
		w.rotateTo(fmt.Sprint("round ", round))
		w.reaches(v1alpha1.PhaseWaitingForApplicationSync, "OwnerOutOfSync")
		stamped := w.stamped()
		b.StartTimer()
		began := time.Now()
		w.patch(w.application(), `{"status":{"sync":{"status":"Synced"}}}`)
		all = append(all, stamped().Sub(began))
		b.StopTimer()
		w.reaches(v1alpha1.PhaseSucceeded, "RestartCompleted")
		b.StartTimer()
	}
	report(b, all)
}

// BenchmarkGateOpensByTime is how long after the end of a sync window that denies a watch
// shows the restart. Windows begin with the minute, so that a round takes as long: run it
// with -benchtime 5x.
func BenchmarkGateOpensByTime(b *testing.B) {
	w := gated(b, "opens-by-time")
	var all []time.Duration
	for round := 0; b.Loop(); round++ {
		edge := time.Now().UTC().Add(20 * time.Second).Truncate(time.Minute).Add(time.Minute)
		begin := edge.Add(-2 * time.Minute)
		w.patch(w.project(), fmt.Sprintf(`{"spec":{"syncWindows":[{"kind":"deny","schedule":"%d %d * * *","duration":"2m","applications":["*"]}]}}`, begin.Minute(), begin.Hour()))
		w.rotateTo(fmt.Sprint("round ", round))
		w.reaches(v1alpha1.PhaseWaitingForGate, "OutsideSchedule")
		all = append(all, w.stamped()().Sub(edge))
		w.reaches(v1alpha1.PhaseSucceeded, "RestartCompleted")
	}
	report(b, all)
}

func report(b *testing.B, all []time.Duration) {
	b.Helper()
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "median-ms")
	b.ReportMetric(float64(all[len(all)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(float64(all[len(all)-1].Microseconds())/1000, "worst-ms")
}

// gated is a workload of an Application that is Synced, in a project of its own.
func gated(b *testing.B, ns string) *world {
	b.Helper()
	w := newWorld(b, ns, v1alpha1.GitOpsArgoCD)
	w.install("argocd")
	w.create(w.project())
	w.create(w.application())
	settle := &v1alpha1.KickPolicy{ObjectMeta: w.named("all")}
	if err := w.c.Patch(b.Context(), settle, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"restart":{"settleDelay":"0s","minInterval":"0s"}}}`))); err != nil {
		b.Fatal(err)
	}
	w.start("--argocd-stale-after=-1s")
	w.reaches(v1alpha1.PhaseNoLongerRequired, "Fresh")
	return w
}

func (w *world) project() string {
	return fmt.Sprintf("{apiVersion: argoproj.io/v1alpha1, kind: AppProject, metadata: {name: %[1]s, namespace: argocd}, spec: {}}", w.ns)
}

func (w *world) application() string {
	return fmt.Sprintf(`
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %[1]s, namespace: argocd}
spec: {project: %[1]s, destination: {server: "https://kubernetes.default.svc", namespace: %[1]s}}
status:
  controllerNamespace: argocd
  reconciledAt: "2026-01-01T00:00:00Z"
  sync: {status: Synced, comparedTo: {destination: {server: "https://kubernetes.default.svc", namespace: %[1]s}}}
  resources: [{group: apps, version: v1, kind: Deployment, namespace: %[1]s, name: web, status: Synced}]
`, w.ns)
}

// stamped begins to watch for the next restart; what it returns waits for that and says when
// it was seen.
func (w *world) stamped() func() time.Time {
	w.t.Helper()
	c, err := client.NewWithWatch(w.plane.Config, client.Options{Scheme: w.c.Scheme()})
	if err != nil {
		w.t.Fatal(err)
	}
	var now appsv1.DeploymentList
	if err := c.List(w.t.Context(), &now, client.InNamespace(w.ns)); err != nil {
		w.t.Fatal(err)
	}
	generation := now.Items[0].Generation
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	seen, err := c.Watch(ctx, &appsv1.DeploymentList{}, client.InNamespace(w.ns), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: now.ResourceVersion}})
	if err != nil {
		cancel()
		w.t.Fatal(err)
	}
	return func() time.Time {
		defer cancel()
		defer seen.Stop()
		for e := range seen.ResultChan() {
			if d, is := e.Object.(*appsv1.Deployment); is && e.Type == watch.Modified && d.Generation > generation {
				return time.Now()
			}
		}
		w.t.Fatal("in vain waited for a restart")
		return time.Time{}
	}
}
