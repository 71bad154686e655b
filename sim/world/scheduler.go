package world

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/cluster"
)

// scheduler binds pods to nodes in turn, and the pods of a DaemonSet to the node
// that their affinity names. Every node has room for everything.
type scheduler struct {
	w     *World
	queue *queue[types.NamespacedName]
	next  int
}

func newScheduler(w *World) *scheduler {
	s := &scheduler{w: w}
	s.queue = newKeyQueue(w, "scheduler", s.bind)
	w.on(kindPod, func(ev cluster.Event) {
		if ev.Type == cluster.Added && ev.Object.(*corev1.Pod).Spec.NodeName == "" {
			s.queue.add(ev.Key)
		}
	})
	return s
}

// bind chooses the node of one pod.
func (s *scheduler) bind(key types.NamespacedName) error {
	pod, ok := s.w.server.Get(kindPod, key).(*corev1.Pod)
	if !ok || pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || len(pod.Spec.SchedulingGates) > 0 {
		return nil // a gate keeps a pod here for good: nobody in this world lifts one
	}
	node := boundFor(pod)
	if node == "" {
		node = nodeName(s.next % s.w.opt.Nodes)
		s.next++
	}
	return s.w.server.Bind(key, node, cluster.WriteOptions{Manager: managerScheduler})
}

// affinityFor is an affinity with only one node left to choose.
func affinityFor(have *corev1.Affinity, node string) *corev1.Affinity {
	out := corev1.Affinity{}
	if have != nil {
		out = *have
	}
	byName := corev1.NodeSelectorRequirement{
		Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node},
	}
	out.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{byName}}},
	}}
	return &out
}

// boundFor is the node a pod runs on or must run on, "" while that is open.
func boundFor(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	affinity := pod.Spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key == "metadata.name" && len(field.Values) == 1 {
				return field.Values[0]
			}
		}
	}
	return ""
}
