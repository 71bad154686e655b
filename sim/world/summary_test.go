package world

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// told is what happened to each object of a story, names and times aside.
type told struct {
	lines  map[string][]string // by subject, in the order of events; equal neighbours are one
	counts map[string][]int64  // by subject, the values of a number
	final  map[string]string
	pods   map[string]map[types.UID]bool // by the revision they were made of
	labels map[types.UID]string          // of workloads and revisions
	most   map[string]int64              // pods that a Deployment had at once
	named  map[string]string             // labels of revisions by name, the newest of each
}

// summary tells of each subject what does not depend on the pace of things.
func summary(seen []happening) map[string]string {
	s := &told{lines: map[string][]string{}, counts: map[string][]int64{}, final: map[string]string{},
		pods: map[string]map[types.UID]bool{}, labels: map[types.UID]string{}, named: map[string]string{}, most: map[string]int64{}}
	for _, h := range seen {
		s.tell(h)
	}
	out := map[string]string{}
	var revisions []string
	for subject, list := range s.lines {
		out[subject] = strings.Join(list, ", ")
	}
	for subject, list := range s.counts {
		out[subject] = strings.Trim(strings.ReplaceAll(fmt.Sprint(turns(list)), " ", ", "), "[]")
	}
	for subject, text := range s.final {
		out[subject+" in the end"] = text
		if !strings.HasPrefix(subject, "Deployment") {
			revisions = append(revisions, subject)
		}
	}
	slices.Sort(revisions)
	out["there were"] = strings.Join(revisions, ", ")
	for subject, n := range s.most {
		out[subject+" had at most"] = fmt.Sprint(n)
	}
	for revision, all := range s.pods {
		out["pods of "+revision] = fmt.Sprint(len(all))
	}
	return out
}

// add appends to what is told of a subject.
func (s *told) add(subject, text string) {
	if list := s.lines[subject]; len(list) == 0 || list[len(list)-1] != text {
		s.lines[subject] = append(list, text)
	}
}

// count appends to the values of a number.
func (s *told) count(subject string, value int64) {
	if list := s.counts[subject]; len(list) == 0 || list[len(list)-1] != value {
		s.counts[subject] = append(list, value)
	}
}

// peak keeps the most pods that there ever were.
func (s *told) peak(subject string, replicas int64) {
	s.most[subject] = max(s.most[subject], replicas)
}

// turns leaves out what lies between two turning points: how many pods are ready at
// the same instant decides about the steps.
func turns(list []int64) []int64 {
	var out []int64
	for i, n := range list {
		if i > 0 && i < len(list)-1 && (list[i-1] < n) == (n < list[i+1]) {
			continue
		}
		out = append(out, n)
	}
	return out
}

// workload labels a workload; one of the same name that comes later is another.
func (s *told) workload(object client.Object, kind string) string {
	if _, ok := s.labels[object.GetUID()]; !ok {
		n := 1
		for _, label := range s.labels {
			if strings.HasPrefix(label, kind) {
				n++
			}
		}
		s.labels[object.GetUID()] = kind + strings.Repeat(" again", n-1)
	}
	return s.labels[object.GetUID()]
}

// revision labels a ReplicaSet or ControllerRevision by its owner and the number it
// was born with.
func (s *told) revision(object client.Object, kind string, number any) string {
	if _, ok := s.labels[object.GetUID()]; !ok {
		owner := "nobody"
		if refs := object.GetOwnerReferences(); len(refs) > 0 {
			owner = s.labels[refs[0].UID]
		}
		s.labels[object.GetUID()] = fmt.Sprintf("%s of %s born as %v", kind, owner, number)
	}
	s.named[object.GetName()] = s.labels[object.GetUID()]
	return s.labels[object.GetUID()]
}

func (s *told) tell(h happening) {
	switch o := h.object.(type) {
	case *appsv1.Deployment:
		s.deployment(o, h.gone)
	case *appsv1.ReplicaSet:
		s.replicaSet(o, h.gone)
	case *appsv1.ControllerRevision:
		subject := s.revision(o, "ControllerRevision", o.Revision)
		s.add(subject, fmt.Sprintf("number %d", o.Revision))
		s.final[subject] = fmt.Sprintf("gone %v owners %d", h.gone, len(o.OwnerReferences))
	case *appsv1.StatefulSet:
		s.statefulSet(o, h.gone)
	case *appsv1.DaemonSet:
		s.daemonSet(o, h.gone)
	case *corev1.Pod:
		s.pod(o, h.gone)
	}
}

func (s *told) deployment(o *appsv1.Deployment, gone bool) {
	subject, status := s.workload(o, "Deployment"), o.Status
	if o.DeletionTimestamp != nil || gone {
		s.final[subject] = fmt.Sprintf("gone %v", gone) // whether it is seen to lose its pods before is a race
		return
	}
	s.add(subject+" observed", fmt.Sprint(status.ObservedGeneration == o.Generation))
	s.add(subject+" revision", o.Annotations[annRevision])
	var all []string
	for i := range status.Conditions {
		c := &status.Conditions[i]
		s.add(fmt.Sprintf("%s %s", subject, c.Type), fmt.Sprintf("%s/%s", c.Status, c.Reason))
		all = append(all, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
	}
	slices.Sort(all)
	s.add(subject+" conditions", strings.Join(all, " "))
	s.count(subject+" updated", int64(status.UpdatedReplicas))
	// Which pods turn ready at the same instant decides about the steps in between.
	s.peak(subject, int64(status.Replicas))
	s.final[subject] = fmt.Sprintf("observed %v rev %s replicas %d updated %d ready %d available %d unavailable %d terminating %d collisions %d",
		status.ObservedGeneration == o.Generation, o.Annotations[annRevision], status.Replicas, status.UpdatedReplicas, status.ReadyReplicas,
		status.AvailableReplicas, status.UnavailableReplicas, orZero(status.TerminatingReplicas), orZero(status.CollisionCount))
}

func (s *told) replicaSet(o *appsv1.ReplicaSet, gone bool) {
	subject := s.revision(o, "ReplicaSet", o.Annotations[annRevision])
	s.count(subject+" wanted", int64(*o.Spec.Replicas))
	s.add(subject+" revision", o.Annotations[annRevision])
	s.count(subject+" replicas", int64(o.Status.Replicas))
	s.final[subject] = fmt.Sprintf("gone %v owners %d rev %s history %q desired %s max %s note %q have %d conditions %d",
		gone, len(o.OwnerReferences), o.Annotations[annRevision], o.Annotations[annHistory], o.Annotations[annDesired], o.Annotations[annMax],
		o.Annotations["note"], o.Status.Replicas, len(o.Status.Conditions))
}

func (s *told) statefulSet(o *appsv1.StatefulSet, gone bool) {
	subject, status := s.workload(o, "StatefulSet"), o.Status
	if o.DeletionTimestamp != nil || gone {
		s.final[subject] = fmt.Sprintf("gone %v", gone) // whether it is seen to lose its pods before is a race
		return
	}
	s.add(subject+" observed", fmt.Sprint(status.ObservedGeneration == o.Generation))
	s.add(subject+" revisions", s.named[status.CurrentRevision]+" -> "+s.named[status.UpdateRevision])
	s.count(subject+" replicas", int64(status.Replicas))
	s.count(subject+" ready", int64(status.ReadyReplicas))
	s.count(subject+" current", int64(status.CurrentReplicas))
	s.count(subject+" updated", int64(status.UpdatedReplicas))
	s.count(subject+" available", int64(status.AvailableReplicas))
	s.final[subject] = fmt.Sprintf("observed %v replicas %d current %d updated %d ready %d available %d collisions %d",
		status.ObservedGeneration == o.Generation, status.Replicas, status.CurrentReplicas, status.UpdatedReplicas,
		status.ReadyReplicas, status.AvailableReplicas, orZero(status.CollisionCount))
}

func (s *told) daemonSet(o *appsv1.DaemonSet, gone bool) {
	subject, status := s.workload(o, "DaemonSet"), o.Status
	if o.DeletionTimestamp != nil || gone {
		s.final[subject] = fmt.Sprintf("gone %v", gone) // whether it is seen to lose its pods before is a race
		return
	}
	s.add(subject+" observed", fmt.Sprint(status.ObservedGeneration == o.Generation))
	s.count(subject+" desired", int64(status.DesiredNumberScheduled))
	s.count(subject+" current", int64(status.CurrentNumberScheduled))
	s.count(subject+" updated", int64(status.UpdatedNumberScheduled))
	s.count(subject+" ready", int64(status.NumberReady))
	s.count(subject+" available", int64(status.NumberAvailable))
	s.count(subject+" unavailable", int64(status.NumberUnavailable))
	s.final[subject] = fmt.Sprintf("observed %v desired %d current %d updated %d ready %d available %d unavailable %d misscheduled %d conditions %d collisions %d",
		status.ObservedGeneration == o.Generation, status.DesiredNumberScheduled, status.CurrentNumberScheduled, status.UpdatedNumberScheduled,
		status.NumberReady, status.NumberAvailable, status.NumberUnavailable, status.NumberMisscheduled, len(status.Conditions), orZero(status.CollisionCount))
}

// pod counts the pods made of a revision, and tells in which order those of a
// StatefulSet ended.
func (s *told) pod(o *corev1.Pod, gone bool) {
	of := "nobody"
	switch {
	case o.Labels[appsv1.ControllerRevisionHashLabelKey] != "" && s.named[o.Labels[appsv1.ControllerRevisionHashLabelKey]] != "":
		of = s.named[o.Labels[appsv1.ControllerRevisionHashLabelKey]]
	case o.Labels[appsv1.ControllerRevisionHashLabelKey] != "":
		of = s.named["web-"+o.Labels[appsv1.ControllerRevisionHashLabelKey]]
	case len(o.OwnerReferences) > 0:
		of = s.labels[o.OwnerReferences[0].UID]
	}
	if !gone && len(o.OwnerReferences) > 0 {
		if s.pods[of] == nil {
			s.pods[of] = map[types.UID]bool{}
		}
		s.pods[of][o.UID] = true
	}
	if gone && o.Labels[appsv1.StatefulSetPodNameLabel] != "" {
		s.add("pods ended", o.Name) // twice in a row counts as once: seen on a busy machine
	}
}

func orZero(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}
