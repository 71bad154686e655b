package world

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// podCondition finds a condition of a pod, or nil.
func podCondition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// isReady reports that a pod's Ready condition is true.
func isReady(pod *corev1.Pod) bool {
	c := podCondition(pod, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// isAvailable reports that a pod has been ready for minReadySeconds.
func isAvailable(pod *corev1.Pod, minReadySeconds int32, now time.Time) bool {
	c := podCondition(pod, corev1.PodReady)
	if c == nil || c.Status != corev1.ConditionTrue {
		return false
	}
	if minReadySeconds == 0 {
		return true
	}
	since := c.LastTransitionTime
	return !since.IsZero() && since.Add(time.Duration(minReadySeconds)*time.Second).Before(now)
}

// isActive reports that a pod has neither finished nor been deleted.
func isActive(pod *corev1.Pod) bool { return pod.DeletionTimestamp == nil && !isFinished(pod) }

// isFinished reports that a pod ran to its end.
func isFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// restarts is the highest number of restarts of a pod's containers.
func restarts(pod *corev1.Pod) int32 {
	var most int32
	for i := range pod.Status.ContainerStatuses {
		most = max(most, pod.Status.ContainerStatuses[i].RestartCount)
	}
	return most
}

// readySince is when a pod turned ready, zero when it is not.
func readySince(pod *corev1.Pod) time.Time {
	if c := podCondition(pod, corev1.PodReady); c != nil && c.Status == corev1.ConditionTrue {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

// untilAvailable is how long it takes until the next ready pod has been ready for
// long enough, which no event tells; false when there is none to wait for.
func untilAvailable(pods []*corev1.Pod, minReadySeconds int32, now time.Time) (time.Duration, bool) {
	if minReadySeconds == 0 {
		return 0, false
	}
	least, found := time.Duration(0), false
	for _, pod := range pods {
		if !isReady(pod) || isAvailable(pod, minReadySeconds, now) {
			continue
		}
		left := max(readySince(pod).Add(time.Duration(minReadySeconds)*time.Second).Sub(now), 0) + time.Millisecond
		if !found || left < least {
			least, found = left, true
		}
	}
	return least, found
}
