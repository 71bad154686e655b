package world

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// step creates, scales down or updates pods. With OrderedReady the walk over all
// ordinals comes first and stops at any pod that is not running, ready and
// available, of whatever revision: an unready pod blocks the very update that might
// cure it (the known deadlock), until somebody deletes it.
func (c *statefulSets) step(o *ordinals) error {
	if wait, err := c.fill(o); wait || err != nil {
		return err
	}
	if wait, err := c.condemn(o); wait || err != nil {
		return err
	}
	if o.set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return nil
	}
	return c.roll(o)
}

// fill creates missing pods and reports whether the step has to end here.
func (c *statefulSets) fill(o *ordinals) (bool, error) {
	for i, pod := range o.replicas {
		switch {
		case pod == nil:
			if _, err := c.w.create(c.draft(o, i)); err != nil || o.monotonic {
				return true, err
			}
		case isFinished(pod):
			if err := c.end(pod); err != nil || o.monotonic {
				return true, err
			}
		case o.monotonic && (!isRunningReady(pod) || o.unavailable(pod)):
			return true, nil
		}
	}
	return false, nil
}

// end deletes a finished pod, once.
func (c *statefulSets) end(pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil {
		return nil
	}
	return c.w.deleteAs(managerKCM, kindPod, pod)
}

// draft is the pod of one ordinal before it is stored. Below the partition a pod
// comes back at the current revision, else at the update revision.
func (c *statefulSets) draft(o *ordinals, i int) *corev1.Pod {
	revision, template := o.update, &o.set.Spec.Template
	kept := o.partition()
	if o.set.Spec.UpdateStrategy.RollingUpdate == nil {
		kept = int(o.set.Status.CurrentReplicas)
	}
	if o.set.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType && i < kept && o.current != o.update {
		revision, template = o.current, templateIn(o.current)
	}
	n := strconv.Itoa(start(o.set) + i)
	pod := podFromTemplate(template, o.set, appsKind("StatefulSet"))
	pod.Name = o.set.Name + "-" + n
	pod.GenerateName = o.set.Name + "-"
	pod.Labels = withKey(pod.Labels, appsv1.StatefulSetPodNameLabel, pod.Name)
	pod.Labels[appsv1.PodIndexLabel] = n
	pod.Labels[appsv1.ControllerRevisionHashLabelKey] = revision.Name
	pod.Spec.Hostname, pod.Spec.Subdomain = pod.Name, o.set.Spec.ServiceName
	for _, claim := range o.set.Spec.VolumeClaimTemplates {
		// The claims themselves are not modelled.
		source := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name + "-" + pod.Name}
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
			Name: claim.Name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: source},
		})
	}
	return pod
}

// condemn deletes pods beyond spec.replicas, with OrderedReady one at a time and
// only while nothing else is out of order.
func (c *statefulSets) condemn(o *ordinals) (bool, error) {
	unhealthy := o.firstUnavailable()
	for _, pod := range o.condemned {
		if pod.DeletionTimestamp != nil {
			if o.monotonic {
				return true, nil
			}
			continue
		}
		if o.monotonic && pod != unhealthy && (!isRunningReady(pod) || o.unavailable(pod)) {
			return true, nil
		}
		if err := c.w.deleteAs(managerKCM, kindPod, pod); err != nil || o.monotonic {
			return true, err
		}
	}
	return false, nil
}

// firstUnavailable is the unavailable pod with the lowest ordinal, or nil.
func (o *ordinals) firstUnavailable() *corev1.Pod {
	for _, pod := range o.replicas {
		if pod == nil || o.unavailable(pod) {
			return pod
		}
	}
	for _, pod := range slices.Backward(o.condemned) {
		if o.unavailable(pod) {
			return pod
		}
	}
	return nil
}

// roll deletes outdated pods from the highest ordinal down to the partition, as many
// as may be unavailable. Parallel first replaces the outdated pods that do not work
// anyway, whatever the budget.
func (c *statefulSets) roll(o *ordinals) error {
	broken, down := 0, 0
	for _, pod := range o.replicas {
		if o.unavailable(pod) {
			down++
			if o.outdated(pod) {
				broken++
			}
		}
	}
	budget := o.maxUnavailable() - down
	if budget <= 0 && (o.monotonic || broken == 0) {
		return nil
	}
	if o.monotonic {
		return c.replace(o, budget, o.outdated)
	}
	err := c.replace(o, broken, func(pod *corev1.Pod) bool { return o.outdated(pod) && o.unavailable(pod) })
	if err != nil {
		return err
	}
	return c.replace(o, budget, func(pod *corev1.Pod) bool { return o.outdated(pod) && !o.unavailable(pod) })
}

// outdated reports that a pod exists, is not on its way out, and is not of the
// update revision.
func (o *ordinals) outdated(pod *corev1.Pod) bool {
	return pod != nil && pod.DeletionTimestamp == nil && podRevision(pod) != o.update.Name
}

// replace deletes up to n pods that match, so that they come back at the update
// revision.
func (c *statefulSets) replace(o *ordinals, n int, match func(*corev1.Pod) bool) error {
	for i := len(o.replicas) - 1; i >= o.partition() && n > 0; i-- {
		if !match(o.replicas[i]) {
			continue
		}
		if err := c.w.deleteAs(managerKCM, kindPod, o.replicas[i]); err != nil {
			return err
		}
		o.status.CurrentReplicas--
		n--
	}
	return nil
}
