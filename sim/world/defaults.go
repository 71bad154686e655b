package world

import (
	"math"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// replicasOf is spec.replicas with the API's default.
func replicasOf(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

// isRolling reports that a Deployment replaces its pods step by step.
func isRolling(d *appsv1.Deployment) bool {
	return d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType
}

// fenceposts resolves maxSurge and maxUnavailable of a rolling Deployment. Surge
// rounds up and unavailability down; both may not be 0, or nothing could move.
func fenceposts(d *appsv1.Deployment) (surge, unavailable int32) {
	if !isRolling(d) {
		return 0, 0
	}
	rolling := d.Spec.Strategy.RollingUpdate
	if rolling == nil {
		rolling = &appsv1.RollingUpdateDeployment{}
	}
	replicas := replicasOf(d.Spec.Replicas)
	surge = scaled(rolling.MaxSurge, intstr.FromString("25%"), replicas, true)
	unavailable = scaled(rolling.MaxUnavailable, intstr.FromString("25%"), replicas, false)
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable
}

// maxSurge is how many pods a Deployment may have beyond spec.replicas.
func maxSurge(d *appsv1.Deployment) int32 {
	surge, _ := fenceposts(d)
	return surge
}

// maxUnavailable is how many pods of a Deployment may be missing.
func maxUnavailable(d *appsv1.Deployment) int32 {
	replicas := replicasOf(d.Spec.Replicas)
	if replicas == 0 {
		return 0
	}
	_, unavailable := fenceposts(d)
	return min(unavailable, replicas)
}

// scaled resolves a number or a percentage of total.
func scaled(value *intstr.IntOrString, fallback intstr.IntOrString, total int32, roundUp bool) int32 {
	if value == nil {
		value = &fallback
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(value, int(total), roundUp)
	if err != nil {
		return 0
	}
	return int32(n)
}

// hasDeadline reports that a Deployment has a Progressing condition at all.
func hasDeadline(d *appsv1.Deployment) bool {
	return d.Spec.ProgressDeadlineSeconds != nil && *d.Spec.ProgressDeadlineSeconds != math.MaxInt32
}

// hasHistoryLimit reports that old ReplicaSets are cleaned up.
func hasHistoryLimit(d *appsv1.Deployment) bool {
	return d.Spec.RevisionHistoryLimit != nil && *d.Spec.RevisionHistoryLimit != math.MaxInt32
}
