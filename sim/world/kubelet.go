package world

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
)

// kubelet is the agent of all nodes: it starts and stops containers and knows what
// they loaded.
type kubelet struct {
	w     *World
	queue *queue[types.NamespacedName]
	pods  map[types.UID]*podState
}

// podState is what a kubelet knows of a pod.
type podState struct {
	key        types.NamespacedName
	uid        types.UID
	node       string
	workload   workload
	created    time.Time // true time
	started    time.Time // true time at which all containers first ran
	accepted   metav1.Time
	plan       podPlan
	containers []containerState // as plan.containers
	mounts     map[SourceRef]*mount
	mountedAt  time.Time // true time; zero while the volumes are not there
	unmounted  *Load
	due        bool // podStart has passed
	failing    bool // never turns ready, see FailImage
	stopping   bool
}

// containerState is one container of a pod.
type containerState struct {
	running  bool
	done     bool // an init container that ran to its end
	down     bool // exited, to be restarted in place
	reason   string
	message  string
	began    metav1.Time // kubelet's clock
	exit     *corev1.ContainerStateTerminated
	last     *corev1.ContainerStateTerminated
	restarts int32
	load     *Load
}

func newKubelet(w *World) *kubelet {
	k := &kubelet{w: w, pods: map[types.UID]*podState{}}
	k.queue = newKeyQueue(w, "kubelet", k.sync)
	w.on(kindPod, k.observe)
	return k
}

// observe follows the pods that are bound to a node.
func (k *kubelet) observe(ev cluster.Event) {
	pod := ev.Object.(*corev1.Pod)
	p := k.pods[pod.UID]
	switch {
	case ev.Type == cluster.Deleted:
		if p != nil {
			k.forget(p)
		}
	case pod.Spec.NodeName == "":
	case p == nil, pod.DeletionTimestamp != nil && !p.stopping:
		k.queue.add(ev.Key)
	}
}

// forget drops a pod that is gone.
func (k *kubelet) forget(p *podState) {
	delete(k.pods, p.uid)
	for i := range p.plan.containers {
		for _, r := range p.plan.containers[i].env {
			k.w.sources.unregister(p, r.ref)
		}
	}
	for _, r := range p.plan.volumes {
		k.w.sources.unregister(p, r.ref)
	}
}

// sync brings one pod forward.
func (k *kubelet) sync(key types.NamespacedName) error {
	pod, ok := k.w.server.Get(kindPod, key).(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" {
		k.queue.forget(key)
		return nil
	}
	p := k.pods[pod.UID]
	switch {
	case pod.DeletionTimestamp != nil:
		k.stop(pod, p)
		return nil
	case p == nil:
		return k.accept(pod)
	}
	if p.due {
		k.startContainers(p)
	}
	return k.report(p, pod)
}

// accept takes a new pod on and lets it start when podStart has passed.
func (k *kubelet) accept(pod *corev1.Pod) error {
	n := k.w.objects.get(pod.UID)
	p := &podState{
		key: keyOf(pod), uid: pod.UID, node: pod.Spec.NodeName, workload: k.w.workloadOf(pod),
		created: n.seen, accepted: seconds(k.w.opt.Kubelet.Now()), plan: planPod(pod),
	}
	p.failing = k.w.failing[p.workload]
	p.containers = make([]containerState, len(p.plan.containers))
	for i := range p.containers {
		p.containers[i].reason = p.creating()
		for _, r := range p.plan.containers[i].env {
			k.w.sources.register(p, r.ref)
		}
	}
	for _, r := range p.plan.volumes {
		k.w.sources.register(p, r.ref)
	}
	k.pods[p.uid] = p
	left := p.created.Add(k.w.opt.PodStart).Sub(k.w.loop.Now())
	k.w.soon(left, about("kubelet start", p.key), func() { k.start(p) })
	return k.report(p, pod)
}

// creating is why a container that has not started yet waits.
func (p *podState) creating() string {
	if len(p.plan.containers) > 0 && p.plan.containers[0].init {
		return "PodInitializing"
	}
	return "ContainerCreating"
}

// start ends podStart.
func (k *kubelet) start(p *podState) {
	pod, ok := k.w.server.Get(kindPod, p.key).(*corev1.Pod)
	if !ok || pod.UID != p.uid || pod.DeletionTimestamp != nil {
		return
	}
	p.due = true
	k.startContainers(p)
	if k.report(p, pod) != nil {
		k.queue.add(p.key)
	}
}

// stop ends a pod: its containers die, then the object goes. A pod that no kubelet
// has accepted yet goes as well.
func (k *kubelet) stop(pod *corev1.Pod, p *podState) {
	if p == nil {
		p = &podState{key: keyOf(pod), uid: pod.UID, node: pod.Spec.NodeName}
		k.pods[p.uid] = p
	}
	if p.stopping {
		return
	}
	p.stopping = true
	k.w.soon(k.w.opt.PodStop, about("kubelet stop", p.key), func() { k.remove(p) })
}

// remove takes a stopped pod off the API server, trying again while that fails.
func (k *kubelet) remove(p *podState) {
	options := client.DeleteOptions{
		GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &p.uid},
	}
	err := k.w.server.Delete(kindPod, p.key, options, cluster.WriteOptions{Manager: managerKubelet})
	if client.IgnoreNotFound(err) != nil && k.pods[p.uid] == p {
		k.w.soon(k.w.opt.PodStop, about("kubelet stop", p.key), func() { k.remove(p) })
	}
}

// sourceChanged tells a pod that a source it reads has a new version: files follow
// at the next periodic sync, a pod that waits tries again, running env stays.
func (k *kubelet) sourceChanged(p *podState, ref SourceRef, v *version) {
	if p.stopping {
		return
	}
	k.follow(p, ref, v)
	if p.due && p.waits() {
		k.queue.addWithin(p.key, k.w.opt.KubeletCacheLag+k.w.opt.Latency)
	}
}

// waits reports that a container could not start for want of a source.
func (p *podState) waits() bool {
	for i := range p.containers {
		if c := &p.containers[i]; !c.running && !c.done && !c.down {
			return true
		}
	}
	return false
}

// ready reports that all containers run and that nothing keeps the pod unready.
func (p *podState) ready() bool {
	if p.failing || !p.due {
		return false
	}
	for i := range p.containers {
		if !p.containers[i].running && !p.containers[i].done {
			return false
		}
	}
	return true
}

// workloadOf names the object at the top of a pod's controllers.
func (w *World) workloadOf(pod *corev1.Pod) workload {
	top := workload{kind: "Pod", key: keyOf(pod)}
	var object client.Object = pod
	for range 2 {
		ref := metav1.GetControllerOfNoCopy(object)
		if ref == nil {
			break
		}
		n := w.objects.get(ref.UID)
		if n == nil || n.object == nil {
			break
		}
		object, top = n.object, workload{kind: n.kind.Kind, key: n.key}
	}
	return top
}
