//go:build conformance

package world

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/sim/cluster"
)

// These tests run one story in this world and on a real control plane, and compare
// what happened to each object, timing aside:
//
//	go test -tags conformance ./sim/world
func TestMain(m *testing.M) {
	os.Exit(controlplane.Main(m, controlplane.Options{
		Node: controlplane.FakeNode, FakeNodes: 3, PodReadyDelay: time.Second,
	}))
}

// happening is a state of an object that somebody saw.
type happening struct {
	object client.Object
	gone   bool
}

// stories are told by kubectl's words, which are this package's verbs as well.
var stories = []struct {
	name   string
	object func() client.Object
	steps  []string
}{
	{"restart-undo", func() client.Object { return deployment("web", 3) }, []string{"restart", "undo"}},
	{"pause", func() client.Object { return deployment("web", 3) }, []string{"pause", "image", "scale 4", "resume"}},
	{"scale", func() client.Object { return deployment("web", 3) }, []string{"scale 0", "scale 2", "restart"}},
	{"recreate", func() client.Object {
		d := deployment("web", 2)
		d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
		return d
	}, []string{"restart", "undo"}},
	{"history", func() client.Object {
		d := deployment("web", 1)
		d.Spec.RevisionHistoryLimit = new(int32(1))
		return d
	}, []string{"image", "restart", "scale 2"}},
	{"statefulset", func() client.Object { return statefulSet("web", 3) }, []string{"restart", "undo", "scale 1"}},
	{"statefulset-on-delete", func() client.Object {
		s := statefulSet("web", 2)
		s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
		return s
	}, []string{"restart"}},
	{"statefulset-partition", func() client.Object {
		s := statefulSet("web", 3)
		s.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{
			Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(2))},
		}
		return s
	}, []string{"restart"}},
	{"daemonset", func() client.Object { return daemonSet("web") }, []string{"restart", "undo"}},
}

func TestWorldDoesAsTheRealOne(t *testing.T) {
	plane := controlplane.Shared(t)
	clients, err := kubernetes.NewForConfig(plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range stories {
		t.Run(story.name, func(t *testing.T) {
			t.Parallel()
			object := story.object()
			kind := strings.TrimPrefix(fmt.Sprintf("%T", object), "*v1.")
			got := summary(inSimulation(t, object, kind, story.steps))
			object = story.object()
			want := summary(inReality(t, plane, clients, story.name, object, kind, story.steps))
			if got != want {
				t.Errorf("in simulation:\n%s\nin reality:\n%s", got, want)
			}
		})
	}
}

// inSimulation tells a story in this world.
func inSimulation(t *testing.T, object client.Object, kind string, steps []string) []happening {
	r := newRig(t, Options{PodStart: time.Second})
	var seen []happening
	r.server.Subscribe(func(ev cluster.Event) { seen = append(seen, happening{ev.Object, ev.Type == cluster.Deleted}) })
	r.apply(secret("db", "password", "old"))
	r.apply(object)
	for _, step := range steps {
		r.run(time.Minute)
		var replicas int32
		_, _ = fmt.Sscanf(step, "scale %d", &replicas)
		switch verb, _, _ := strings.Cut(step, " "); verb {
		case "restart":
			r.must(r.world.Restart("shop", kind, "web"))
		case "undo":
			r.must(r.world.Undo("shop", kind, "web"))
		case "pause":
			r.must(r.world.Pause("shop", kind, "web"))
		case "resume":
			r.must(r.world.Resume("shop", kind, "web"))
		case "scale":
			r.must(r.world.Scale("shop", kind, "web", replicas))
		case "image":
			edit(r, kindDeployment, "web", func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "app:2" })
		}
	}
	r.run(time.Minute)
	return seen
}

// inReality tells it on a real control plane, by kubectl, in a namespace of its own.
func inReality(t *testing.T, plane *controlplane.ControlPlane, c *kubernetes.Clientset, story string, object client.Object, kind string, steps []string) []happening {
	ctx := t.Context()
	created, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: story + "-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	namespace := created.Name
	seen := observe(ctx, t, c, namespace)
	object.SetNamespace(namespace)
	switch o := object.(type) {
	case *appsv1.Deployment:
		_, err = c.AppsV1().Deployments(namespace).Create(ctx, o, metav1.CreateOptions{})
	case *appsv1.StatefulSet:
		_, err = c.AppsV1().StatefulSets(namespace).Create(ctx, o, metav1.CreateOptions{})
	case *appsv1.DaemonSet:
		_, err = c.AppsV1().DaemonSets(namespace).Create(ctx, o, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	target := strings.ToLower(kind) + "/web"
	for _, step := range steps {
		seen.settle()
		var args []string
		switch verb, number, _ := strings.Cut(step, " "); verb {
		case "scale":
			args = []string{"scale", target, "--replicas=" + number}
		case "image":
			args = []string{"set", "image", target, "app=app:2"}
		default:
			args = []string{"rollout", verb, target}
		}
		kubectl := exec.CommandContext(ctx, plane.Binaries[controlplane.Kubectl], append(args, "-n", namespace, "--kubeconfig", plane.Kubeconfig)...)
		if out, err := kubectl.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", step, err, out)
		}
	}
	seen.settle()
	return seen.all
}

// observer collects what watches tell.
type observer struct {
	mu   sync.Mutex
	all  []happening
	last time.Time
}

// settle waits until nothing has happened for a while.
func (o *observer) settle() {
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(100 * time.Millisecond) {
		o.mu.Lock()
		quiet := time.Since(o.last)
		o.mu.Unlock()
		if quiet > 5*time.Second && time.Since(start) > 5*time.Second {
			return
		}
	}
}

// observe watches everything a story may touch.
func observe(ctx context.Context, t *testing.T, c *kubernetes.Clientset, namespace string) *observer {
	o := &observer{}
	apps := c.AppsV1()
	for _, start := range []func(context.Context, metav1.ListOptions) (watch.Interface, error){
		apps.Deployments(namespace).Watch, apps.ReplicaSets(namespace).Watch, apps.StatefulSets(namespace).Watch,
		apps.DaemonSets(namespace).Watch, apps.ControllerRevisions(namespace).Watch, c.CoreV1().Pods(namespace).Watch,
	} {
		w, err := start(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
		go func() {
			for ev := range w.ResultChan() {
				if object, ok := ev.Object.(client.Object); ok {
					o.mu.Lock()
					o.all = append(o.all, happening{object, ev.Type == watch.Deleted})
					o.last = time.Now()
					o.mu.Unlock()
				}
			}
		}()
	}
	return o
}

// summary is what happened to each object, names and times aside.
func summary(seen []happening) string {
	lines := map[string][]string{} // by subject, in the order of events
	labels := map[string]string{}  // of ReplicaSets and ControllerRevisions, by name
	final := map[string]string{}
	add := func(subject, text string) {
		if list := lines[subject]; len(list) == 0 || list[len(list)-1] != text {
			lines[subject] = append(list, text)
		}
	}
	label := func(kind, name string, number any) string {
		if _, ok := labels[name]; !ok {
			labels[name] = fmt.Sprintf("%s born as %v", kind, number)
		}
		return labels[name]
	}
	for _, h := range seen {
		switch o := h.object.(type) {
		case *appsv1.Deployment:
			for i := range o.Status.Conditions {
				c := &o.Status.Conditions[i]
				add("Deployment "+string(c.Type), fmt.Sprintf("%s/%s", c.Status, c.Reason))
			}
			s := o.Status
			final["Deployment"] = fmt.Sprintf("observed %v rev %s replicas %d updated %d ready %d available %d unavailable %d terminating %d",
				s.ObservedGeneration == o.Generation, o.Annotations[annRevision], s.Replicas, s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas, s.UnavailableReplicas, *orZero(s.TerminatingReplicas))
		case *appsv1.ReplicaSet:
			subject := label("ReplicaSet", o.Name, o.Annotations[annRevision])
			add(subject, fmt.Sprintf("want %d", *o.Spec.Replicas))
			final[subject] = fmt.Sprintf("gone %v rev %s history %q desired %s max %s have %d",
				h.gone, o.Annotations[annRevision], o.Annotations[annHistory], o.Annotations[annDesired], o.Annotations[annMax], o.Status.Replicas)
		case *appsv1.ControllerRevision:
			subject := label("ControllerRevision", o.Name, o.Revision)
			add(subject, fmt.Sprintf("number %d", o.Revision))
		case *appsv1.StatefulSet:
			s := o.Status
			add("StatefulSet revisions", labels[s.CurrentRevision]+" -> "+labels[s.UpdateRevision])
			final["StatefulSet"] = fmt.Sprintf("observed %v replicas %d current %d updated %d ready %d available %d",
				s.ObservedGeneration == o.Generation, s.Replicas, s.CurrentReplicas, s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas)
		case *appsv1.DaemonSet:
			s := o.Status
			final["DaemonSet"] = fmt.Sprintf("observed %v desired %d current %d updated %d ready %d available %d unavailable %d misscheduled %d conditions %d",
				s.ObservedGeneration == o.Generation, s.DesiredNumberScheduled, s.CurrentNumberScheduled, s.UpdatedNumberScheduled, s.NumberReady, s.NumberAvailable, s.NumberUnavailable, s.NumberMisscheduled, len(s.Conditions))
		case *corev1.Pod:
			if h.gone && o.Labels[appsv1.StatefulSetPodNameLabel] != "" {
				add("pods ended", o.Name) // twice in a row counts as once: seen on a busy machine
			}
		}
	}
	var out []string
	for subject, list := range lines {
		list = turns(list)
		out = append(out, subject+": "+strings.Join(list, ", "))
	}
	for subject, text := range final {
		out = append(out, subject+" in the end: "+text)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// turns leaves out what lies between two turning points of a size: how many pods are
// ready at the same instant decides about the steps.
func turns(list []string) []string {
	size := func(text string) (n int) {
		if _, err := fmt.Sscanf(text, "want %d", &n); err != nil {
			return -1
		}
		return n
	}
	var out []string
	for i, text := range list {
		if i > 0 && i < len(list)-1 && size(text) >= 0 && (size(list[i-1]) < size(text)) == (size(text) < size(list[i+1])) {
			continue
		}
		out = append(out, text)
	}
	return out
}

func orZero(n *int32) *int32 {
	if n == nil {
		return new(int32)
	}
	return n
}
