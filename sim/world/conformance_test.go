package world

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/sim/cluster"
)

var (
	// What the real control plane tells differently from one time to the next is a race
	// of its own; each line of what the simulated world tells must be told there once.
	reality = flag.Int("world.reality", 3, "how often the real control plane tells a story that the simulated one tells differently")
	every   = flag.Bool("world.every", false, "tell every story, not only those marked as brief")
	strict  = flag.Bool("world.strict", false, "refuse what a slow machine explains: a state that the real controllers passed over")
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(controlplane.Main(m, controlplane.Options{
		Node: controlplane.FakeNode, FakeNodes: 3, PodReadyDelay: time.Second,
	}))
}

// happening is a state of an object that somebody saw.
type happening struct {
	object client.Object
	gone   bool
}

// TestWorldDoesAsTheRealOne tells each story in this world and on a real control
// plane, and compares what happened to each object, timing aside.
func TestWorldDoesAsTheRealOne(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	plane := controlplane.Shared(t)
	clients, err := kubernetes.NewForConfig(plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(plane.Config, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	turn := make(chan struct{}, 12) // a control plane that is behind tells less
	for _, s := range slices.Concat(deploymentStories(), setStories(), daemonStories()) {
		if !*every && !brief[s.name] {
			continue
		}
		got := summary(inSimulation(t, s))
		// Stories mostly wait: more of them at once than go test has threads.
		group.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			if err := compareTold(s, got, &real{t: t, plane: plane, clients: clients, client: c}); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
		})
	}
	group.Wait()
}

// compareTold tells a story in reality until that has told all that simulation told.
func compareTold(s tale, got map[string]string, r *real) error {
	if !*strict {
		maps.DeleteFunc(got, func(subject, _ string) bool { return hasty(s, subject) })
	}
	open := maps.Clone(got)
	var want map[string]string
	for range *reality {
		seen, err := r.tell(s)
		if err != nil {
			return err
		}
		want = summary(seen)
		if open = untold(open, want); len(open) == 0 {
			return nil
		}
	}
	return fmt.Errorf("told in simulation only:\n%sin simulation:\n%s\nin reality, the last time:\n%s", text(open), text(got), text(want))
}

// hasty reports what a story tells reliably on a quiet machine only: which of two
// conditions moved first, and how far a rollout had come when the next step came.
func hasty(s tale, subject string) bool {
	steps := slices.ContainsFunc(s.steps, func(step string) bool { return strings.HasPrefix(step, "!") })
	return strings.HasSuffix(subject, " conditions") ||
		steps && !strings.HasSuffix(subject, "in the end") && !strings.HasSuffix(subject, "there were")
}

// untold leaves of what one side told what the other did not. A slow controller passes
// over states that do not last: then reality tells a part of what simulation tells.
func untold(open, want map[string]string) map[string]string {
	out := map[string]string{}
	for subject, line := range open {
		other, ok := want[subject]
		if ok && (line == other || !*strict && within(other, line)) {
			continue
		}
		out[subject] = line
	}
	return out
}

// text is a summary in lines.
func text(summary map[string]string) string {
	var out strings.Builder
	for _, subject := range slices.Sorted(maps.Keys(summary)) {
		out.WriteString("  " + subject + ": " + summary[subject] + "\n")
	}
	return out.String()
}

// within reports whether the states of one list occur in another in the same order,
// with the same last one.
func within(part, whole string) bool {
	parts, states := strings.Split(part, ", "), strings.Split(whole, ", ")
	if parts[len(parts)-1] != states[len(states)-1] {
		return false
	}
	for _, s := range states {
		if len(parts) > 0 && parts[0] == s {
			parts = parts[1:]
		}
	}
	return len(parts) == 0
}

// cut splits a step: whether it comes within the rollout, its verb and the rest.
func cut(step string) (within bool, verb, rest string) {
	step, within = strings.CutPrefix(step, "!")
	verb, rest, _ = strings.Cut(step, " ")
	return within, verb, rest
}

// bornSince reports a pod that was created after the first n happenings.
func bornSince(seen []happening, n int) bool {
	before := map[types.UID]bool{}
	for i, h := range seen {
		if pod, ok := h.object.(*corev1.Pod); ok && !h.gone {
			if i >= n && !before[pod.UID] {
				return true
			}
			before[pod.UID] = true
		}
	}
	return false
}

// inSimulation tells a story in this world.
func inSimulation(t *testing.T, s tale) []happening {
	r := newRig(t, Options{PodStart: time.Second})
	var seen []happening
	r.server.Subscribe(func(ev cluster.Event) { seen = append(seen, happening{ev.Object, ev.Type == cluster.Deleted}) })
	r.apply(secret("db", "password", "old"))
	r.apply(s.object.DeepCopyObject().(client.Object))
	mark := 0
	for _, step := range s.steps {
		within, verb, rest := cut(step)
		if within {
			for i := 0; i < 1000 && !bornSince(seen, mark); i++ {
				r.run(10 * time.Millisecond)
			}
			r.run(50 * time.Millisecond)
		} else {
			r.run(time.Minute)
		}
		mark = len(seen)
		r.must(r.step(s, verb, rest))
	}
	r.run(time.Minute)
	return seen
}

// step does one step of a story in this world.
func (r *rig) step(s tale, verb, rest string) error {
	kind := kindOf(s.object)
	switch verb {
	case "restart":
		return r.world.Restart("shop", kind, "web")
	case "undo":
		return r.world.Undo("shop", kind, "web")
	case "pause":
		return r.world.Pause("shop", kind, "web")
	case "resume":
		return r.world.Resume("shop", kind, "web")
	case "scale":
		var replicas int32
		_, _ = fmt.Sscan(rest, &replicas)
		return r.world.Scale("shop", kind, "web", replicas)
	}
	return act(context.Background(), r.server.Client(managerKubectl), s, "shop", verb, rest)
}

// act does what needs no kubectl.
func act(ctx context.Context, c client.Client, s tale, namespace, verb, rest string) error { //nolint:revive // a table of verbs, called in two places
	object := s.object.DeepCopyObject().(client.Object)
	object.SetNamespace(namespace)
	switch verb {
	case "create":
		return c.Create(ctx, object)
	case "delete":
		policy := metav1.DeletePropagationBackground
		if rest == "orphan" {
			policy = metav1.DeletePropagationOrphan
		}
		return c.Delete(ctx, object, &client.DeleteOptions{PropagationPolicy: &policy})
	case "patch":
		if !json.Valid([]byte(rest)) {
			return fmt.Errorf("not JSON: %s", rest)
		}
		return c.Patch(ctx, object, client.RawPatch(types.StrategicMergePatchType, []byte(rest)), client.FieldOwner(managerKubectl))
	case "kill":
		return kill(ctx, c, namespace, rest)
	}
	return fmt.Errorf("no such step: %s", verb)
}

// kill deletes one pod, the oldest if it names none: names of pods are random, and the
// first by name may be the one that came for the last killed.
func kill(ctx context.Context, c client.Client, namespace, name string) error {
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return err
	}
	slices.SortStableFunc(pods.Items, func(a, b corev1.Pod) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	for i := range pods.Items {
		if name != "" && pods.Items[i].Name != name {
			continue
		}
		return c.Delete(ctx, &pods.Items[i])
	}
	return fmt.Errorf("no pod %s", name)
}

// real tells a story on a real control plane.
type real struct {
	t       *testing.T
	plane   *controlplane.ControlPlane
	clients *kubernetes.Clientset
	client  client.Client
}

// tell does the steps in a namespace of the story's own and returns what was seen.
func (r *real) tell(s tale) ([]happening, error) {
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	created, err := r.clients.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: s.name + "-"}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	o := &observer{}
	if err := o.observe(ctx, r.clients, created.Name); err != nil {
		return nil, err
	}
	if err := act(ctx, r.client, s, created.Name, "create", ""); err != nil {
		return nil, err
	}
	mark := 0
	for _, step := range s.steps {
		within, verb, rest := cut(step)
		mark = o.wait(within, mark)
		if err := r.step(ctx, s, created.Name, verb, rest); err != nil {
			return nil, fmt.Errorf("%s: %w", step, err)
		}
	}
	o.wait(false, mark)
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen, nil
}

// step does one step, by kubectl where it is a verb of kubectl.
func (r *real) step(ctx context.Context, s tale, namespace, verb, rest string) error {
	var args []string
	target := strings.ToLower(kindOf(s.object)) + "/web"
	switch verb {
	case "restart", "undo", "pause", "resume":
		args = []string{"rollout", verb, target}
	case "scale":
		args = []string{"scale", target, "--replicas=" + rest}
	default:
		return act(ctx, r.client, s, namespace, verb, rest)
	}
	kubectl := exec.CommandContext(ctx, r.plane.Binaries[controlplane.Kubectl], append(args, "-n", namespace, "--kubeconfig", r.plane.Kubeconfig)...)
	if out, err := kubectl.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// observer collects what watches tell.
type observer struct {
	mu   sync.Mutex
	seen []happening
	last time.Time
}

// For so long nothing must happen: calm after a rollout that is complete, quiet when it
// is not. The latter is longer than the progress deadline of any story.
const (
	calm  = 1500 * time.Millisecond
	quiet = 8 * time.Second
)

func stands(object client.Object, h happening) bool {
	return !h.gone && object.GetDeletionTimestamp() == nil
}

// complete reports that the workload of a story is as it is wanted, by its status.
func complete(seen []happening) bool {
	for _, h := range slices.Backward(seen) {
		switch o := h.object.(type) {
		case *appsv1.Deployment:
			s, n := o.Status, *o.Spec.Replicas
			return stands(o, h) && !o.Spec.Paused && s.ObservedGeneration == o.Generation && s.UpdatedReplicas == n && s.Replicas == n && s.AvailableReplicas == n
		case *appsv1.StatefulSet:
			s, n := o.Status, *o.Spec.Replicas
			return stands(o, h) && s.ObservedGeneration == o.Generation && s.UpdatedReplicas == n && s.Replicas == n && s.AvailableReplicas == n && s.CurrentRevision == s.UpdateRevision
		case *appsv1.DaemonSet:
			s := o.Status
			return stands(o, h) && s.ObservedGeneration == o.Generation && s.DesiredNumberScheduled == 3 && s.UpdatedNumberScheduled == 3 && s.NumberAvailable == 3
		}
	}
	return false
}

// wait waits until nothing has happened for a while, or until a pod was born, and
// returns how much has been seen by then.
func (o *observer) wait(within bool, mark int) int {
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(20 * time.Millisecond) {
		o.mu.Lock()
		idle, born := min(time.Since(o.last), time.Since(start)), within && bornSince(o.seen, mark)
		done := len(o.seen) > mark && complete(o.seen)
		o.mu.Unlock()
		if born || !within && (idle > quiet || done && idle > calm) {
			break
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.seen)
}

// observe watches everything a story may touch, until ctx ends.
func (o *observer) observe(ctx context.Context, c *kubernetes.Clientset, namespace string) error {
	apps := c.AppsV1()
	for _, start := range []func(context.Context, metav1.ListOptions) (watch.Interface, error){
		apps.Deployments(namespace).Watch, apps.ReplicaSets(namespace).Watch, apps.StatefulSets(namespace).Watch,
		apps.DaemonSets(namespace).Watch, apps.ControllerRevisions(namespace).Watch, c.CoreV1().Pods(namespace).Watch,
	} {
		w, err := start(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		context.AfterFunc(ctx, w.Stop)
		go func() {
			for ev := range w.ResultChan() {
				if object, ok := ev.Object.(client.Object); ok {
					o.mu.Lock()
					o.seen = append(o.seen, happening{object, ev.Type == watch.Deleted})
					o.last = time.Now()
					o.mu.Unlock()
				}
			}
		}()
	}
	return nil
}
