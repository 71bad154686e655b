package world

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/sched"
)

// seeded is a small deterministic chooser.
type seeded uint64

func (s *seeded) Choose(n int, _ sched.Class, _ string) int {
	*s = *s*6364136223846793005 + 1442695040888963407
	return int(uint64(*s) >> 33 % uint64(n))
}

// story runs all three kinds of workload through changes of many sorts under one
// schedule and returns the trace.
func story(t *testing.T, seed uint64) string {
	t.Helper()
	r := newRig(t, Options{})
	chooser := seeded(seed)
	r.loop = sched.New(epoch, &chooser)
	api := clock.New(r.loop, 0)
	r.server = cluster.New(cluster.Options{Now: api.Now, NamespaceAutoCreate: true, DetectMutation: true})
	r.world = New(Options{Loop: r.loop, Server: r.server})
	r.server.Subscribe(r.record)
	r.apply(secret("db", "password", "old"))
	r.apply(deployment("web", 3))
	r.apply(statefulSet("data", 3))
	r.apply(daemonSet("agent"))
	pause := func() { r.run(time.Duration(r.loop.Choose(4000, sched.Make, "pause")) * time.Millisecond) }
	workloads := []struct{ kind, name string }{{"Deployment", "web"}, {"StatefulSet", "data"}, {"DaemonSet", "agent"}}
	for range 12 {
		pause()
		w := workloads[r.loop.Choose(len(workloads), sched.Make, "workload")]
		switch r.loop.Choose(5, sched.Make, "verb") {
		case 0, 1:
			_ = r.world.Restart("shop", w.kind, w.name)
		case 2:
			_ = r.world.Undo("shop", w.kind, w.name)
		case 3:
			_ = r.world.Evict("shop", w.kind, w.name, 1)
		case 4:
			_ = r.world.CrashContainers("shop", w.kind, w.name, 2)
		}
	}
	setPassword(r, "new")
	r.run(10 * time.Minute)
	for _, w := range workloads {
		_ = r.world.Restart("shop", w.kind, w.name)
	}
	r.run(10 * time.Minute)
	for _, w := range workloads {
		pods := r.world.Pods("shop", w.kind, w.name)
		if len(pods) != 3 {
			t.Errorf("seed %d: %s has %d pods", seed, w.name, len(pods))
		}
		for _, pod := range pods {
			if !pod.Ready || pod.Loads[0].Sources[refDB] != password("new") {
				t.Errorf("seed %d: %s: %+v", seed, w.name, pod)
			}
		}
	}
	d := r.server.Get(kindDeployment, keyOf(deployment("web", 3))).(*appsv1.Deployment)
	if c := condition(&d.Status, appsv1.DeploymentProgressing); c == nil || c.Reason != reasonAvailable || !isComplete(d, &d.Status) {
		t.Errorf("seed %d: Deployment %+v", seed, d.Status)
	}
	if !r.world.Settled() {
		t.Errorf("seed %d: not settled", seed)
	}
	return r.trace.String()
}

func TestAnyScheduleConverges(t *testing.T) {
	for seed := range uint64(15) {
		first := story(t, seed)
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, first)
		}
		if seed < 3 && story(t, seed) != first {
			t.Fatalf("seed %d: two runs differ", seed)
		}
	}
}

func TestVerbsRefuseAsKubectlDoes(t *testing.T) {
	r := newRig(t, Options{})
	r.apply(secret("db", "password", "old"))
	r.apply(deployment("web", 1))
	r.apply(daemonSet("agent"))
	r.run(10 * time.Second)
	r.must(r.world.Restart("shop", "Deployment", "web"))
	tests := []struct {
		name string
		err  error
	}{
		{"second restart in one second", r.world.Restart("shop", "Deployment", "web")},
		{"unknown object", r.world.Restart("shop", "Deployment", "none")},
		{"unknown kind", r.world.Restart("shop", "Gadget", "web")},
		{"resume of what runs", r.world.Resume("shop", "Deployment", "web")},
		{"pause of a DaemonSet", r.world.Pause("shop", "DaemonSet", "agent")},
		{"scale of a DaemonSet", r.world.Scale("shop", "DaemonSet", "agent", 2)},
		{"undo without history", r.world.Undo("shop", "DaemonSet", "agent")},
	}
	for _, tt := range tests {
		if tt.err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
	d := r.server.Get(kindDeployment, keyOf(deployment("web", 1))).(*appsv1.Deployment)
	if got := d.Spec.Template.Annotations[annRestartedAt]; got != "2026-01-01T02:00:10+02:00" {
		t.Errorf("restartedAt = %s", got)
	}
}

func TestClocksMayDisagree(t *testing.T) {
	loop := sched.New(epoch, sched.FIFO{})
	api, kcm, node := clock.New(loop, 0), clock.New(loop, 5*time.Second), clock.New(loop, -7*time.Second)
	server := cluster.New(cluster.Options{Now: api.Now, NamespaceAutoCreate: true})
	r := &rig{t: t, loop: loop, server: server, world: New(Options{Loop: loop, Server: server, APIServer: api, KCM: kcm, Kubelet: node})}
	r.apply(secret("db", "password", "old"))
	r.apply(deployment("web", 1))
	r.run(20 * time.Second)
	d := server.Get(kindDeployment, keyOf(deployment("web", 1))).(*appsv1.Deployment)
	if got := condition(&d.Status, appsv1.DeploymentProgressing).LastUpdateTime.Time; !got.Equal(epoch.Add(7 * time.Second)) {
		t.Errorf("condition at %s", got)
	}
	started := r.world.objects.pods(r.world.objects.replicaSets(d.UID)[0].UID)[0].Status.ContainerStatuses[0].State.Running.StartedAt
	if !started.Time.Equal(epoch.Add(-5 * time.Second)) {
		t.Errorf("startedAt %s", started)
	}
}

func BenchmarkRollout(b *testing.B) {
	loop := sched.New(epoch, sched.FIFO{})
	api := clock.New(loop, 0)
	server := cluster.New(cluster.Options{Now: api.Now, NamespaceAutoCreate: true})
	r := &rig{t: b, loop: loop, server: server, world: New(Options{Loop: loop, Server: server})}
	r.apply(secret("db", "password", "old"))
	r.apply(deployment("web", 3))
	loop.RunUntil(loop.Now().Add(time.Minute))
	before, revision := loop.Ran(), server.Revision()
	b.ReportAllocs()
	for b.Loop() {
		r.must(r.world.Restart("shop", "Deployment", "web"))
		loop.RunUntil(loop.Now().Add(time.Minute))
	}
	events := float64(loop.Ran() - before)
	b.ReportMetric(events/float64(b.N), "events/rollout")
	b.ReportMetric(float64(server.Revision()-revision)/float64(b.N), "writes/rollout")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/events, "µs/event")
}

func ExampleWorld_Pods() {
	loop := sched.New(epoch, sched.FIFO{})
	server := cluster.New(cluster.Options{Now: clock.New(loop, 0).Now, NamespaceAutoCreate: true})
	w := New(Options{Loop: loop, Server: server})
	_, _ = server.Create(secret("db", "password", "s3cret"), cluster.WriteOptions{Manager: managerKubectl})
	_, _ = server.Create(deployment("web", 1), cluster.WriteOptions{Manager: managerKubectl})
	loop.RunUntil(loop.Now().Add(10 * time.Second))
	for _, pod := range w.Pods("shop", "Deployment", "web") {
		load := pod.Loads[0]
		fmt.Println(pod.Ready, load.Container, load.Sources[SourceRef{"Secret", "shop", "db"}].Bytes)
	}
	// Output: true app 8:password6:s3cret
}
