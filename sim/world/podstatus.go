package world

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// report writes the status of a pod as its kubelet sees it.
func (k *kubelet) report(p *podState, pod *corev1.Pod) error {
	changed := *pod
	changed.Status = k.status(p, &pod.Status)
	_, err := k.w.updateStatus(&changed, managerKubelet)
	return client.IgnoreNotFound(err)
}

// status computes a pod's status; old gives the times of what did not change.
func (k *kubelet) status(p *podState, old *corev1.PodStatus) corev1.PodStatus {
	out := corev1.PodStatus{Phase: corev1.PodPending, QOSClass: old.QOSClass, StartTime: &p.accepted}
	if !p.started.IsZero() {
		out.Phase = corev1.PodRunning
	}
	initialised := true
	for i := range p.containers {
		c, plan := &p.containers[i], &p.plan.containers[i]
		status := c.status(plan)
		if plan.init {
			out.InitContainerStatuses = append(out.InitContainerStatuses, status)
			initialised = initialised && c.load != nil
			continue
		}
		status.Ready = status.Ready && !p.failing
		out.ContainerStatuses = append(out.ContainerStatuses, status)
	}
	const unready = "containers with unready status"
	conditions := []corev1.PodCondition{
		podConditionOf(corev1.PodReadyToStartContainers, !p.mountedAt.IsZero(), "", ""),
		podConditionOf(corev1.PodInitialized, initialised, "ContainersNotInitialized", "containers with incomplete status"),
		podConditionOf(corev1.PodReady, p.ready(), "ContainersNotReady", unready),
		podConditionOf(corev1.ContainersReady, p.ready(), "ContainersNotReady", unready),
		podConditionOf(corev1.PodScheduled, true, "", ""),
	}
	now := seconds(k.w.opt.Kubelet.Now())
	for i := range conditions {
		conditions[i].LastTransitionTime = now
		for j := range old.Conditions {
			if old.Conditions[j].Type == conditions[i].Type && old.Conditions[j].Status == conditions[i].Status {
				conditions[i].LastTransitionTime = old.Conditions[j].LastTransitionTime
			}
		}
	}
	out.Conditions = conditions
	return out
}

// podConditionOf is a condition; reason and message are those of False.
func podConditionOf(kind corev1.PodConditionType, value bool, reason, message string) corev1.PodCondition {
	if value {
		return corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue}
	}
	return corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: message}
}

// status is the status of one container.
func (c *containerState) status(plan *containerPlan) corev1.ContainerStatus {
	started := c.running
	out := corev1.ContainerStatus{
		Name: plan.name, Image: plan.image, RestartCount: c.restarts, Ready: c.running || c.done, Started: &started,
	}
	switch {
	case c.running:
		out.State.Running = &corev1.ContainerStateRunning{StartedAt: c.began}
	case c.exit != nil:
		out.State.Terminated = c.exit
	default:
		out.State.Waiting = &corev1.ContainerStateWaiting{Reason: c.reason, Message: c.message}
	}
	if c.last != nil {
		out.LastTerminationState = corev1.ContainerState{Terminated: c.last}
	}
	return out
}
