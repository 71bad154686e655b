package cluster

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateFinalizers asks built-in kinds for a domain in front of a finalizer.
func (k *kind) validateFinalizers(finalizers []string, path *field.Path) field.ErrorList {
	if !builtIn(k.gk.Group) {
		return nil
	}
	var errs field.ErrorList
	for i, f := range finalizers {
		switch f {
		case string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents:
		default:
			if !strings.Contains(f, "/") {
				errs = append(errs, field.Invalid(path.Index(i), f, "name is neither a standard finalizer name nor is it fully qualified"))
			}
		}
	}
	return errs
}

// count is a number in a status.
type count struct {
	name  string
	value int64
}

// counts checks that numbers are not negative.
func counts(all ...count) field.ErrorList {
	path := field.NewPath("status")
	var errs field.ErrorList
	for _, c := range all {
		errs = append(errs, apimachineryvalidation.ValidateNonnegativeField(c.value, path.Child(c.name))...)
	}
	return errs
}

// atMost checks that parts of a whole are not larger than it.
func atMost(whole count, text string, parts ...count) field.ErrorList {
	var errs field.ErrorList
	for _, c := range parts {
		if c.value > whole.value {
			errs = append(errs, field.Invalid(field.NewPath("status", c.name), c.value, "cannot be greater than "+text))
		}
	}
	return errs
}

// collisions checks a count that only grows.
func collisions(in, old *int32) field.ErrorList {
	path := field.NewPath("status", "collisionCount")
	errs := nonNegative(in, path)
	if old != nil && (in == nil || *in < *old) {
		value := int32(0)
		if in != nil {
			value = *in
		}
		errs = append(errs, field.Invalid(path, value, "cannot be decremented"))
	}
	return errs
}

func validateDeploymentStatus(in, old *appsv1.Deployment) field.ErrorList {
	s := in.Status
	replicas, updated, ready, available := count{"replicas", int64(s.Replicas)}, count{"updatedReplicas", int64(s.UpdatedReplicas)},
		count{"readyReplicas", int64(s.ReadyReplicas)}, count{"availableReplicas", int64(s.AvailableReplicas)}
	errs := counts(count{"observedGeneration", s.ObservedGeneration}, replicas, updated, ready, available, count{"unavailableReplicas", int64(s.UnavailableReplicas)})
	errs = append(errs, atMost(replicas, "status.replicas", updated, ready, available)...)
	errs = append(errs, atMost(ready, "readyReplicas", available)...)
	return append(errs, collisions(in.Status.CollisionCount, old.Status.CollisionCount)...)
}

func validateStatefulSetStatus(in, old *appsv1.StatefulSet) field.ErrorList {
	s := in.Status
	replicas, current, updated, ready, available := count{"replicas", int64(s.Replicas)}, count{"currentReplicas", int64(s.CurrentReplicas)},
		count{"updatedReplicas", int64(s.UpdatedReplicas)}, count{"readyReplicas", int64(s.ReadyReplicas)}, count{"availableReplicas", int64(s.AvailableReplicas)}
	errs := counts(replicas, ready, current, updated, available, count{"observedGeneration", s.ObservedGeneration})
	errs = append(errs, atMost(replicas, "status.replicas", ready, current, updated, available)...)
	errs = append(errs, atMost(ready, "status.readyReplicas", available)...)
	return append(errs, collisions(in.Status.CollisionCount, old.Status.CollisionCount)...)
}

func validateReplicaSetStatus(in, _ *appsv1.ReplicaSet) field.ErrorList {
	s := in.Status
	replicas, labeled, ready, available := count{"replicas", int64(s.Replicas)}, count{"fullyLabeledReplicas", int64(s.FullyLabeledReplicas)},
		count{"readyReplicas", int64(s.ReadyReplicas)}, count{"availableReplicas", int64(s.AvailableReplicas)}
	errs := counts(replicas, labeled, ready, available, count{"observedGeneration", s.ObservedGeneration})
	errs = append(errs, atMost(replicas, "status.replicas", labeled, ready, available)...)
	return append(errs, atMost(ready, "readyReplicas", available)...)
}

func validateDaemonSetStatus(in, old *appsv1.DaemonSet) field.ErrorList {
	s := in.Status
	errs := counts(count{"currentNumberScheduled", int64(s.CurrentNumberScheduled)}, count{"numberMisscheduled", int64(s.NumberMisscheduled)},
		count{"desiredNumberScheduled", int64(s.DesiredNumberScheduled)}, count{"numberReady", int64(s.NumberReady)},
		count{"observedGeneration", s.ObservedGeneration}, count{"updatedNumberScheduled", int64(s.UpdatedNumberScheduled)},
		count{"numberAvailable", int64(s.NumberAvailable)}, count{"numberUnavailable", int64(s.NumberUnavailable)})
	return append(errs, collisions(s.CollisionCount, old.Status.CollisionCount)...)
}

func validatePodStatus(in, old *corev1.Pod) field.ErrorList {
	if old.Status.QOSClass != in.Status.QOSClass {
		return field.ErrorList{field.Invalid(field.NewPath("status", "qosClass"), in.Status.QOSClass, apimachineryvalidation.FieldImmutableErrorMsg)}
	}
	return nil
}

func validateNamespaceStatus(in, _ *corev1.Namespace) field.ErrorList {
	path := field.NewPath("status", "Phase") // as the real server spells it
	switch {
	case in.DeletionTimestamp.IsZero() && in.Status.Phase != corev1.NamespaceActive:
		return field.ErrorList{field.Invalid(path, in.Status.Phase, "may only be 'Active' if `deletionTimestamp` is empty")}
	case !in.DeletionTimestamp.IsZero() && in.Status.Phase != corev1.NamespaceTerminating:
		return field.ErrorList{field.Invalid(path, in.Status.Phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")}
	}
	return nil
}
