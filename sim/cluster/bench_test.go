package cluster_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/cluster"
)

// reportCPU adds the processor time of an operation, which a busy machine does not
// stretch as it does the wall clock.
func reportCPU(b *testing.B) {
	before := cpu()
	b.Cleanup(func() { b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/op") })
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// plainWorld is a world without checks that cost time.
func plainWorld(b *testing.B) *world {
	return newWorld(b, func(o *cluster.Options) { o.DetectMutation = false })
}

func BenchmarkGet(b *testing.B) {
	w := plainWorld(b)
	must(b, w.Client("kubectl").Create(ctx, deployment()))
	b.Run("server", func(b *testing.B) {
		b.ReportAllocs()
		reportCPU(b)
		for b.Loop() {
			w.Get(deploymentGK, webKey)
		}
	})
	b.Run("client", func(b *testing.B) {
		b.ReportAllocs()
		reportCPU(b)
		c, out := w.Client("kick"), &appsv1.Deployment{}
		for b.Loop() {
			must(b, c.Get(ctx, webKey, out))
		}
	})
}

// BenchmarkUpdateStatus is the hot loop of the simulated kubelet.
func BenchmarkUpdateStatus(b *testing.B) {
	w := plainWorld(b)
	p := pod("web-0")
	p.Spec.NodeName = "node-1"
	must(b, w.Client("kube-controller-manager").Create(ctx, p))
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: w.now}}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", Ready: true, State: corev1.ContainerState{
		Running: &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: w.now}}}}}
	o := cluster.WriteOptions{Manager: "kubelet", Subresource: "status"}
	p.ResourceVersion = ""
	w.events = nil
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		reportCPU(b)
		for b.Loop() {
			p.Status.ContainerStatuses[0].RestartCount++
			_, err := w.Update(p, o)
			must(b, err)
			w.events = w.events[:0]
		}
	})
	b.Run("deepcopy", func(b *testing.B) {
		b.ReportAllocs()
		reportCPU(b)
		for b.Loop() {
			p.DeepCopy()
		}
	})
}

// BenchmarkPatchStamp is the restart: one annotation under preconditions.
func BenchmarkPatchStamp(b *testing.B) {
	w := plainWorld(b)
	must(b, w.Client("kubectl").Create(ctx, deployment()))
	b.ReportAllocs()
	reportCPU(b)
	i := 0
	for b.Loop() {
		i++
		d := w.Get(deploymentGK, webKey)
		data := fmt.Appendf(nil, `{"metadata":{"uid":%q,"resourceVersion":%q},"spec":{"template":{"metadata":{"annotations":{%q:%q}}}}}`,
			d.GetUID(), d.GetResourceVersion(), restartedAt, start.Add(time.Duration(i)*time.Second).Format(time.RFC3339))
		_, err := w.Patch(deploymentGK, webKey, types.MergePatchType, data, cluster.WriteOptions{Manager: "kick"})
		must(b, err)
		w.events = w.events[:0]
	}
}
