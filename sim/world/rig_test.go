package world

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/sched"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden traces; look at the difference before you commit it")

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// rig is a world with a server, and a trace of what happened.
type rig struct {
	t      testing.TB
	loop   *sched.Loop
	server *cluster.Server
	world  *World
	trace  strings.Builder
	last   map[types.UID]string
	quiet  bool
}

func newRig(t testing.TB, o Options) *rig {
	t.Helper()
	r := &rig{t: t, loop: sched.New(epoch, sched.FIFO{}), last: map[types.UID]string{}}
	api := clock.New(r.loop, 0)
	r.server = cluster.New(cluster.Options{Now: api.Now, NamespaceAutoCreate: true, DetectMutation: true})
	o.Loop, o.Server, o.APIServer = r.loop, r.server, api
	r.world = New(o)
	r.server.Subscribe(r.record)
	return r
}

// run lets virtual time pass.
func (r *rig) run(d time.Duration) {
	r.t.Helper()
	r.loop.RunUntil(r.loop.Now().Add(d))
	if err := r.server.CheckMutation(); err != nil {
		r.t.Fatal(err)
	}
}

// note writes a line of the test's own into the trace.
func (r *rig) note(format string, args ...any) { fmt.Fprintf(&r.trace, "# "+format+"\n", args...) }

// record writes a line for each change of what the trace shows of an object.
func (r *rig) record(ev cluster.Event) {
	if r.quiet {
		return
	}
	text := describe(ev.Object)
	if text == "" {
		return
	}
	uid := ev.Object.GetUID()
	switch {
	case ev.Type == cluster.Deleted:
		text = "gone"
	case r.last[uid] == text:
		return
	}
	r.last[uid] = text
	fmt.Fprintf(&r.trace, "%8.3f %s %s: %s\n", r.loop.Now().Sub(epoch).Seconds(), ev.Kind.Kind, ev.Key.Name, text)
}

// describe shows what the traces compare.
func describe(object client.Object) string {
	switch o := object.(type) {
	case *appsv1.Deployment:
		s := o.Status
		line := fmt.Sprintf("gen %d/%d rev %s replicas %d updated %d ready %d available %d unavailable %d",
			s.ObservedGeneration, o.Generation, o.Annotations[annRevision], s.Replicas, s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas, s.UnavailableReplicas)
		for _, kind := range []appsv1.DeploymentConditionType{appsv1.DeploymentAvailable, appsv1.DeploymentProgressing} {
			if c := condition(&s, kind); c != nil {
				line += fmt.Sprintf(" %s=%s/%s@%d,%d", kind[:5], c.Status, c.Reason,
					int(c.LastUpdateTime.Sub(epoch).Seconds()), int(c.LastTransitionTime.Sub(epoch).Seconds()))
			}
		}
		return line
	case *appsv1.ReplicaSet:
		return fmt.Sprintf("rev %s history %q want %d have %d ready %d",
			o.Annotations[annRevision], o.Annotations[annHistory], *o.Spec.Replicas, o.Status.Replicas, o.Status.ReadyReplicas)
	case *appsv1.StatefulSet:
		s := o.Status
		return fmt.Sprintf("gen %d/%d replicas %d current %d updated %d ready %d available %d revision %s -> %s",
			s.ObservedGeneration, o.Generation, s.Replicas, s.CurrentReplicas, s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas, s.CurrentRevision, s.UpdateRevision)
	case *appsv1.DaemonSet:
		s := o.Status
		return fmt.Sprintf("gen %d/%d desired %d current %d updated %d ready %d available %d unavailable %d",
			s.ObservedGeneration, o.Generation, s.DesiredNumberScheduled, s.CurrentNumberScheduled, s.UpdatedNumberScheduled, s.NumberReady, s.NumberAvailable, s.NumberUnavailable)
	case *appsv1.ControllerRevision:
		return fmt.Sprintf("revision %d", o.Revision)
	case *corev1.Pod:
		return describePod(o)
	}
	return ""
}

func describePod(pod *corev1.Pod) string {
	line := string(pod.Status.Phase) + " on " + pod.Spec.NodeName
	if hash := podRevision(pod); hash != "" {
		line += " of " + hash
	}
	if isReady(pod) {
		line += " ready"
	}
	if pod.DeletionTimestamp != nil {
		line += " terminating"
	}
	for _, c := range append(append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...) {
		line += " " + c.Name
		switch {
		case c.State.Waiting != nil:
			line += "=" + c.State.Waiting.Reason
		case c.State.Terminated != nil:
			line += "=" + c.State.Terminated.Reason
		default:
			line += "=running"
		}
		if c.RestartCount > 0 {
			line += fmt.Sprintf("(%d)", c.RestartCount)
		}
	}
	return line
}

// golden compares the trace with a file.
func (r *rig) golden(name string) {
	r.t.Helper()
	path := filepath.Join("testdata", name+".golden")
	got := r.trace.String()
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			r.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	if got != string(want) {
		r.t.Errorf("trace differs from %s; got:\n%s", path, got)
	}
}

// must stops the test at an error.
func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// apply creates an object or replaces it.
func (r *rig) apply(object client.Object) client.Object {
	r.t.Helper()
	stored, err := r.server.Create(object, cluster.WriteOptions{Manager: managerKubectl})
	r.must(err)
	return stored
}

// edit changes a stored object.
func edit[T client.Object](r *rig, kind schema.GroupKind, name string, change func(T)) {
	r.t.Helper()
	object := r.server.Get(kind, types.NamespacedName{Namespace: "shop", Name: name}).DeepCopyObject().(T)
	change(object)
	_, err := r.server.Update(object, cluster.WriteOptions{Manager: managerKubectl})
	r.must(err)
}

// remove deletes an object.
func (r *rig) remove(kind schema.GroupKind, name string, options ...client.DeleteOption) {
	r.t.Helper()
	var all client.DeleteOptions
	for _, o := range options {
		o.ApplyToDelete(&all)
	}
	r.must(r.server.Delete(kind, types.NamespacedName{Namespace: "shop", Name: name}, all, cluster.WriteOptions{Manager: managerKubectl}))
}

// secret makes a Secret with one key.
func secret(name, key, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: meta(name), Data: map[string][]byte{key: []byte(value)}}
}

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "shop", Name: name} }

// template is a pod template whose one container reads Secret db by env.
func template(name string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "app", Image: "app:1", Env: []corev1.EnvVar{secretEnv("db", "password")},
		}}},
	}
}

func secretEnv(name, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: "PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key,
	}}}
}

func selector(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
}

func deployment(name string, replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: meta(name), Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: selector(name), Template: template(name),
	}}
}

func statefulSet(name string, replicas int32) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{ObjectMeta: meta(name), Spec: appsv1.StatefulSetSpec{
		Replicas: &replicas, Selector: selector(name), Template: template(name), ServiceName: name,
	}}
}

func daemonSet(name string) *appsv1.DaemonSet {
	return &appsv1.DaemonSet{ObjectMeta: meta(name), Spec: appsv1.DaemonSetSpec{
		Selector: selector(name), Template: template(name),
	}}
}

// password is the content of Secret db with one password.
func password(value string) Content {
	return contentOf(&corev1.Secret{Data: map[string][]byte{"password": []byte(value)}})
}

var refDB = SourceRef{"Secret", "shop", "db"}
