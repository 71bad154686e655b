package confirm

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// worksGate is a readiness gate that pods of a real node carry in scenarios whose
// images fail: it is kept shut for pods that are not to become ready.
const worksGate = "sim.kick.corewire.io/works"

// starting is how long a pending pod counts as one that starts, where others wait.
const starting = 15 * time.Second

// node is what confirm does in the place of, or beside, the machine that runs the
// pods, and what it knows of their containers.
type node struct {
	rig   *rig
	gated bool // pods carry worksGate
	binds bool // confirm binds pods itself

	mu        sync.Mutex
	failing   map[workload]bool
	loads     map[string]*load // by pod UID, container and start
	order     []*load
	scheduled map[types.UID]bool
}

// workload names one in its real namespace.
type workload struct{ kind, namespace, name string }

func newNode(r *rig) *node {
	n := &node{rig: r, failing: map[workload]bool{}, loads: map[string]*load{}, scheduled: map[types.UID]bool{}}
	fails := false
	for _, step := range r.plan.scenario.Steps {
		a := steps.ActOf(step)
		fails = fails || (a.Verb == "rollout" && a.Op == "failImage")
	}
	n.gated = fails && r.options.RealPods
	n.binds = !r.options.RealPods && (fails || r.plan.waiting || r.plan.scenario.World.PodStart > scenario.DefaultPodStart)
	return n
}

// see looks at every version of a pod.
func (n *node) see(ctx context.Context, key objectKey, v version) {
	if key.kind != "Pod" || v.object == nil {
		return
	}
	pod := podOf(v.object)
	if pod == nil || pod.DeletionTimestamp != nil {
		return
	}
	n.noteStarts(ctx, pod, v.at)
	if n.gated && pod.Spec.NodeName != "" {
		if kind, name := n.workloadOf(pod.Namespace, pod.OwnerReferences); !n.fails(workload{kind, pod.Namespace, name}) {
			n.rig.problem(n.openGate(ctx, pod))
		}
	}
	if pod.Spec.SchedulerName != manager || pod.Spec.NodeName != "" {
		return
	}
	n.mu.Lock()
	known := n.scheduled[pod.UID]
	n.scheduled[pod.UID] = true
	n.mu.Unlock()
	if !known {
		go n.schedule(ctx, pod)
	}
}

func podOf(object *unstructured.Unstructured) *corev1.Pod {
	pod := &corev1.Pod{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, pod) != nil {
		return nil
	}
	return pod
}

// workloadOf names the workload at the top of a pod's owners.
func (n *node) workloadOf(namespace string, owners []metav1.OwnerReference) (kind, name string) {
	for _, o := range owners {
		if o.Kind != "ReplicaSet" {
			return o.Kind, o.Name
		}
		key := objectKey{o.Kind, types.NamespacedName{Namespace: namespace, Name: o.Name}}
		if n.rig.record == nil {
			return "", ""
		}
		if set := n.rig.record.at(key, time.Now()); set != nil {
			return n.workloadOf(namespace, set.GetOwnerReferences())
		}
		// The watch has not brought the ReplicaSet yet: its name says whose it is.
		if i := strings.LastIndexByte(o.Name, '-'); i > 0 {
			return "Deployment", o.Name[:i]
		}
	}
	return "", ""
}

// busy reports pods that start or end. Where some wait for a source, only young ones
// count as starting.
func (n *node) busy() bool {
	for _, key := range n.rig.record.keys("Pod", "") {
		object := n.rig.record.at(key, time.Now())
		if object == nil {
			continue
		}
		phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
		young := !n.rig.plan.waiting || time.Since(object.GetCreationTimestamp().Time) < starting
		if object.GetDeletionTimestamp() != nil || (young && phase == string(corev1.PodPending)) {
			return true
		}
	}
	return false
}

// rollout does what a machine does to the pods of a workload.
func (n *node) rollout(ctx context.Context, a steps.Act) error {
	of := workload{a.TargetKind, a.Target.Namespace, a.Target.Name}
	switch a.Op {
	case "failImage":
		n.mu.Lock()
		n.failing[of] = true
		n.mu.Unlock()
		return nil
	case "fixImage":
		n.mu.Lock()
		delete(n.failing, of)
		n.mu.Unlock()
		return n.mend(ctx, a)
	case "crashContainers":
		return n.crash(ctx, a)
	}
	return fmt.Errorf("no real cluster can do rollout %s", a.Op)
}

// mend lets pods that could not become ready do so.
func (n *node) mend(ctx context.Context, a steps.Act) error {
	pods, err := n.rig.pods(ctx, a)
	if err != nil {
		return nil // all are gone
	}
	for i := range pods {
		if n.rig.options.RealPods {
			err = n.openGate(ctx, &pods[i])
		} else if readiness(pods[i]) == 0 && pods[i].Status.Phase == corev1.PodRunning {
			err = n.report(ctx, &pods[i], func(*corev1.ContainerStatus) bool { return false }, true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// crash ends the containers of the oldest running pods; they come back in place.
func (n *node) crash(ctx context.Context, a steps.Act) error {
	pods, err := n.rig.pods(ctx, a)
	if err != nil {
		return err
	}
	for _, pod := range firstOf(pods, a.Pods) {
		if n.rig.options.RealPods {
			err = n.kill(ctx, &pod)
		} else {
			err = n.report(ctx, &pod, restarted, true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// restarted turns a status into that of a container that ended and began again.
func restarted(s *corev1.ContainerStatus) bool {
	if s.State.Running == nil {
		return false
	}
	now := metav1.Now()
	s.LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 1, Reason: "Error", StartedAt: s.State.Running.StartedAt, FinishedAt: now,
	}}
	s.RestartCount++
	return true
}

// report writes the status of a pod of a fake node: begin says which containers
// began to run now.
func (n *node) report(ctx context.Context, pod *corev1.Pod, begin func(*corev1.ContainerStatus) bool, ready bool) error {
	now := metav1.Now()
	status := pod.Status.DeepCopy()
	known := map[string]corev1.ContainerStatus{}
	for _, s := range status.ContainerStatuses {
		known[s.Name] = s
	}
	status.ContainerStatuses = nil
	for _, c := range pod.Spec.Containers {
		s, old := known[c.Name]
		if !old {
			s = corev1.ContainerStatus{Name: c.Name, Image: c.Image}
		}
		if begin(&s) {
			s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
		}
		s.Ready = ready
		status.ContainerStatuses = append(status.ContainerStatuses, s)
	}
	status.Phase = corev1.PodRunning
	if status.StartTime == nil {
		status.StartTime = &now
	}
	status.Conditions = withCondition(status.Conditions, corev1.PodReady, ready)
	status.Conditions = withCondition(status.Conditions, corev1.ContainersReady, ready)
	return n.patchStatus(ctx, pod, status)
}

func (n *node) patchStatus(ctx context.Context, pod *corev1.Pod, status any) error {
	raw, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	_, err = n.rig.set.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, raw, metav1.PatchOptions{FieldManager: manager}, "status")
	if ctx.Err() != nil {
		return nil // the scenario is over
	}
	return ignoreNotFound(err)
}

// openGate lets a pod of a real node become ready.
func (n *node) openGate(ctx context.Context, pod *corev1.Pod) error {
	for _, c := range pod.Status.Conditions {
		if c.Type == worksGate && c.Status == corev1.ConditionTrue {
			return nil
		}
	}
	status := map[string]any{"conditions": withCondition(nil, worksGate, true)}
	return n.patchStatus(ctx, pod, status)
}

func withCondition(list []corev1.PodCondition, kind corev1.PodConditionType, holds bool) []corev1.PodCondition {
	status := corev1.ConditionFalse
	if holds {
		status = corev1.ConditionTrue
	}
	for i := range list {
		if list[i].Type == kind {
			if list[i].Status != status {
				list[i].Status, list[i].LastTransitionTime = status, metav1.Now()
			}
			return list
		}
	}
	return append(list, corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.Now()})
}
