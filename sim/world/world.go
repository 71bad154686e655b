package world

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/sched"
)

// The field managers the actors write with, as the real components do.
const (
	managerKCM       = "kube-controller-manager"
	managerKubelet   = "kubelet"
	managerScheduler = "kube-scheduler"
	managerKubectl   = "kubectl"
	managerRollout   = "kubectl-rollout"
	managerDrain     = "kubectl-drain"
)

// Options configures a World. Loop and Server are required, the rest has defaults.
type Options struct {
	Loop   *sched.Loop
	Server *cluster.Server

	KCM       *clock.Virtual // wall clock of kube-controller-manager: conditions, deadlines
	Kubelet   *clock.Virtual // wall clock of the nodes: startTime, startedAt, finishedAt
	APIServer *clock.Virtual // wall clock of the API server; unused, as versions are kept by true time

	PodStart        time.Duration  // from the creation of a pod to its containers running; default 2s
	PodStop         time.Duration  // from the deletion of a pod to its disappearance; default 1s
	CrashRestart    time.Duration  // from a container's exit to its restart in place; default 1s
	VolumeSync      time.Duration  // period in which mounted files follow their source; default 60s
	KubeletCacheLag time.Duration  // how old the object is that a starting container reads; default 0
	NoImmutable     bool           // do not serve immutable objects from a node's cache
	Nodes           int            // default 3
	Latency         time.Duration  // from a committed write to an actor's reaction; default 2ms
	UserZone        *time.Location // time zone of whoever runs kubectl; default two hours ahead of UTC
}

// World is the set of actors. Create one with New.
type World struct {
	opt      Options
	loop     *sched.Loop
	server   *cluster.Server
	objects  *graph
	handlers map[schema.GroupKind][]func(cluster.Event)
	every    []func(cluster.Event)
	busy     int // syncs and pod transitions that are due, timers not counted

	sources     *sources
	kubelet     *kubelet
	csi         *csi
	deployments *deployments
	scheduler   *scheduler
	namespaces  *namespaces
	queues      []forkable        // of all actors, in a fixed order
	names       map[types.UID]int // how many names were made for an owner
	failing     map[workload]bool // workloads whose new pods never turn ready
}

// workload names an object that owns pods, directly or through a ReplicaSet.
type workload struct {
	kind string
	key  types.NamespacedName
}

// New returns a world whose actors listen to the server from now on.
func New(o Options) *World {
	w := &World{
		opt: o.withDefaults(), loop: o.Loop, server: o.Server, objects: newGraph(),
		handlers: map[schema.GroupKind][]func(cluster.Event){},
		names:    map[types.UID]int{}, failing: map[workload]bool{},
	}
	w.sources = newSources(w)
	w.deployments = newDeployments(w)
	newReplicaSets(w)
	newStatefulSets(w)
	newDaemonSets(w)
	w.scheduler = newScheduler(w)
	w.kubelet = newKubelet(w)
	w.csi = newCSI(w)
	newFlux(w)
	newArgoCD(w)
	newKargo(w)
	newArgoRollouts(w)
	newCollector(w)
	w.namespaces = newNamespaces(w)
	w.server.Subscribe(w.dispatch)
	return w
}

// withDefaults fills in what the caller left out.
func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&o.PodStart, 2 * time.Second}, {&o.PodStop, time.Second}, {&o.CrashRestart, time.Second},
		{&o.VolumeSync, time.Minute}, {&o.Latency, 2 * time.Millisecond},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	for _, c := range []**clock.Virtual{&o.KCM, &o.Kubelet, &o.APIServer} {
		if *c == nil {
			*c = clock.New(o.Loop, 0)
		}
	}
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	if o.UserZone == nil {
		o.UserZone = time.FixedZone("user", 2*60*60)
	}
	return o
}

// Settled reports that no actor has anything to do: no sync is queued and no pod
// is starting, stopping or coming back. Timers such as a progress deadline, and
// pods that wait for a missing source, do not count.
func (w *World) Settled() bool { return w.busy == 0 }

// SetKubeletCacheLag changes how old the objects are that containers read from
// now on; a fault uses it.
func (w *World) SetKubeletCacheLag(d time.Duration) { w.opt.KubeletCacheLag = d }

// dispatch records a committed write and tells every actor that cares.
func (w *World) dispatch(ev cluster.Event) {
	w.objects.record(ev, w.loop.Now())
	for _, handle := range w.handlers[ev.Kind] {
		handle(ev)
	}
	for _, handle := range w.every {
		handle(ev)
	}
}

// on registers a handler for the events of one kind.
func (w *World) on(kind schema.GroupKind, handle func(cluster.Event)) {
	w.handlers[kind] = append(w.handlers[kind], handle)
}

// onAny registers a handler for the events of all kinds.
func (w *World) onAny(handle func(cluster.Event)) { w.every = append(w.every, handle) }

// soon runs a step of an actor after d and counts as work until it has run.
func (w *World) soon(d time.Duration, label sched.Label, run func()) *sched.Event {
	w.busy++
	return w.loop.AfterOf(d, label, func() {
		w.busy--
		run()
	})
}

// drop cancels a step that soon scheduled and that has not run yet.
func (w *World) drop(e *sched.Event) {
	w.busy--
	w.loop.Stop(e)
}

// create stores an object as kube-controller-manager.
func (w *World) create(obj client.Object) (client.Object, error) {
	return w.server.Create(obj, cluster.WriteOptions{Manager: managerKCM})
}

// update replaces an object as kube-controller-manager.
func (w *World) update(obj client.Object) (client.Object, error) {
	return w.server.Update(obj, cluster.WriteOptions{Manager: managerKCM})
}

// updateStatus replaces an object's status as the named manager.
func (w *World) updateStatus(obj client.Object, manager string) (client.Object, error) {
	return w.server.Update(obj, cluster.WriteOptions{Manager: manager, Subresource: "status"})
}

// deleteAs deletes one very object, if it is still the one with that UID.
func (w *World) deleteAs(manager string, kind schema.GroupKind, obj client.Object, opts ...client.DeleteOption) error {
	uid := obj.GetUID()
	all := client.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
	for _, o := range opts {
		o.ApplyToDelete(&all)
	}
	err := w.server.Delete(kind, client.ObjectKeyFromObject(obj), all, cluster.WriteOptions{Manager: manager})
	return client.IgnoreNotFound(err)
}

// podName makes a name as generateName does: the owner's name and a suffix, here
// from the owner's UID and a counter, so that equal runs make equal names.
func (w *World) podName(owner client.Object) string {
	w.names[owner.GetUID()]++
	base := owner.GetName() + "-"
	if len(base) > 58 {
		base = base[:58]
	}
	return base + suffix(string(owner.GetUID())+strconv.Itoa(w.names[owner.GetUID()]))
}

// podFromTemplate makes a pod that its owner controls.
func podFromTemplate(t *corev1.PodTemplateSpec, owner client.Object, gvk schema.GroupVersionKind) *corev1.Pod {
	t = t.DeepCopy()
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: owner.GetNamespace(), Labels: t.Labels, Annotations: t.Annotations, Finalizers: t.Finalizers,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, gvk)},
		},
		Spec: t.Spec,
	}
}

// keyOf is the key of an object.
func keyOf(obj client.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// seconds is a time as the API stores it.
func seconds(t time.Time) metav1.Time { return metav1.Time{Time: t.UTC().Truncate(time.Second)} }
