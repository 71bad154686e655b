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
	out := corev1.PodStatus{
		Phase: corev1.PodPending, QOSClass: old.QOSClass, StartTime: &p.accepted,
	}
	initialised, containersRun := true, true
	for i := range p.containers {
		c, plan := &p.containers[i], &p.plan.containers[i]
		status := c.status(plan)
		if plan.init {
			out.InitContainerStatuses = append(out.InitContainerStatuses, status)
			initialised = initialised && (c.running || c.done || c.last != nil || c.down)
		} else {
			out.ContainerStatuses = append(out.ContainerStatuses, status)
		}
		containersRun = containersRun && (c.running || c.done)
	}
	if !p.started.IsZero() {
		out.Phase = corev1.PodRunning
	}
	now := seconds(k.w.opt.Kubelet.Now())
	add := func(kind corev1.PodConditionType, value bool, reason, message string) {
		c := corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now}
		if !value {
			c.Status, c.Reason, c.Message = corev1.ConditionFalse, reason, message
		}
		for i := range old.Conditions {
			if old.Conditions[i].Type == kind && old.Conditions[i].Status == c.Status {
				c.LastTransitionTime = old.Conditions[i].LastTransitionTime
			}
		}
		out.Conditions = append(out.Conditions, c)
	}
	const unready = "containers with unready status"
	add(corev1.PodReadyToStartContainers, !p.mountedAt.IsZero(), "", "")
	add(corev1.PodInitialized, initialised, "ContainersNotInitialized", "containers with incomplete status")
	add(corev1.PodReady, containersRun && !p.failing, "ContainersNotReady", unready)
	add(corev1.ContainersReady, containersRun && !p.failing, "ContainersNotReady", unready)
	add(corev1.PodScheduled, true, "", "")
	for i := range out.ContainerStatuses {
		out.ContainerStatuses[i].Ready = out.ContainerStatuses[i].Ready && !p.failing
	}
	return out
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
