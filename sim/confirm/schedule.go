package confirm

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/scenario"
)

// A fake node makes every pod ready that is bound to it, after the time that it takes
// for all. Where a scenario needs pods that start late, wait for a source or never
// become ready, confirm binds them itself: when their time has come.

// takesOver gives a pod template of such a scenario to confirm as its scheduler.
func (n *node) takesOver(spec map[string]any) {
	if n.binds {
		spec["schedulerName"] = manager
	}
}

// schedule binds a pod once it may start.
func (n *node) schedule(ctx context.Context, pod *corev1.Pod) {
	late := n.rig.plan.scenario.World.PodStart - scenario.DefaultPodStart
	if wait(ctx, time.Until(pod.CreationTimestamp.Add(late))) != nil {
		return
	}
	for !n.startable(pod) {
		if wait(ctx, 100*time.Millisecond) != nil || n.gone(pod) {
			return
		}
	}
	kind, name := n.workloadOf(pod.Namespace, pod.OwnerReferences)
	if n.fails(workload{kind, pod.Namespace, name}) {
		n.rig.problem(n.report(ctx, pod, func(*corev1.ContainerStatus) bool { return true }, false))
	}
	target, err := n.nodeFor(ctx, pod)
	if err == nil {
		binding := &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: target},
		}
		err = n.rig.set.CoreV1().Pods(pod.Namespace).Bind(ctx, binding, metav1.CreateOptions{FieldManager: manager})
	}
	if ctx.Err() == nil && !n.gone(pod) {
		n.rig.problem(ignoreNotFound(err))
	}
}

// gone reports that a pod ends or has ended.
func (n *node) gone(pod *corev1.Pod) bool {
	object := n.rig.record.at(objectKey{"Pod", types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}}, time.Now())
	return object == nil || object.GetUID() != pod.UID || object.GetDeletionTimestamp() != nil
}

func (n *node) fails(of workload) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.failing[of]
}

// nodeFor is the node that a pod asks for, as those of a DaemonSet do, or the first.
func (n *node) nodeFor(ctx context.Context, pod *corev1.Pod) (string, error) {
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, field := range term.MatchFields {
				if field.Key == metav1.ObjectNameField && len(field.Values) == 1 {
					return field.Values[0], nil
				}
			}
		}
	}
	nodes, err := n.rig.set.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil || len(nodes.Items) == 0 {
		return "", err
	}
	return nodes.Items[0].Name, nil
}

// startable reports that all that a pod cannot do without is there.
func (n *node) startable(pod *corev1.Pod) bool {
	has := func(kind, name string, optional *bool, keys ...string) bool {
		if optional != nil && *optional {
			return true
		}
		object := n.rig.record.at(objectKey{kind, types.NamespacedName{Namespace: pod.Namespace, Name: name}}, time.Now())
		held := contentOf(object)
		return object != nil && !slices.ContainsFunc(keys, func(k string) bool { _, ok := held[k]; return !ok })
	}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if !envThere(c, has) {
			return false
		}
	}
	for _, v := range pod.Spec.Volumes {
		if !volumeThere(v, has) {
			return false
		}
	}
	return true
}

type hasFunc func(kind, name string, optional *bool, keys ...string) bool

func envThere(c corev1.Container, has hasFunc) bool {
	for _, r := range readings(c) {
		var keys []string
		if !r.all {
			keys = []string{r.key}
		}
		if !has(r.kind, r.name, r.optional, keys...) {
			return false
		}
	}
	return true
}

func volumeThere(v corev1.Volume, has hasFunc) bool {
	return !slices.ContainsFunc(contentsOf(v), func(s volumeSource) bool { return !has(s.kind, s.name, s.optional, keysOf(s.items)...) })
}

func keysOf(items []corev1.KeyToPath) []string {
	keys := make([]string, 0, len(items))
	for _, item := range items {
		keys = append(keys, item.Key)
	}
	return keys
}
