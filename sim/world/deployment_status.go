package world

import (
	"errors"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// reasonAvailable and reasonTimedOut are the two reasons of Progressing that end a rollout.
const (
	reasonAvailable = "NewReplicaSetAvailable"
	reasonTimedOut  = "ProgressDeadlineExceeded"
	reasonPaused    = "DeploymentPaused"
)

// condition finds a condition of a Deployment, or nil.
func condition(status *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range status.Conditions {
		if status.Conditions[i].Type == kind {
			return &status.Conditions[i]
		}
	}
	return nil
}

// setCondition replaces a condition unless status and reason are what they were:
// then message and times stay as well. The transition time of an equal status stays.
func setCondition(status *appsv1.DeploymentStatus, c appsv1.DeploymentCondition) {
	if old := condition(status, c.Type); old != nil && old.Status == c.Status {
		if old.Reason == c.Reason {
			return
		}
		c.LastTransitionTime = old.LastTransitionTime
	}
	status.Conditions = append(withoutCondition(status.Conditions, c.Type), c)
}

// withoutCondition is a new list that lacks one type.
func withoutCondition(list []appsv1.DeploymentCondition, kind appsv1.DeploymentConditionType) []appsv1.DeploymentCondition {
	out := make([]appsv1.DeploymentCondition, 0, len(list)+1)
	for _, c := range list {
		if c.Type != kind {
			out = append(out, c)
		}
	}
	return out
}

// newCondition is a condition dated now.
func (c *deployments) newCondition(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) appsv1.DeploymentCondition {
	now := seconds(c.w.opt.KCM.Now())
	return appsv1.DeploymentCondition{
		Type: kind, Status: status, Reason: reason, Message: message, LastUpdateTime: now, LastTransitionTime: now,
	}
}

// setProgressing sets the Progressing condition.
func (c *deployments) setProgressing(status *appsv1.DeploymentStatus, value corev1.ConditionStatus, reason, message string) {
	setCondition(status, c.newCondition(appsv1.DeploymentProgressing, value, reason, message))
}

// checkPaused notes that a Deployment was paused or resumed, unless its deadline has
// passed already.
func (c *deployments) checkPaused(d *appsv1.Deployment) error {
	if !hasDeadline(d) {
		return nil
	}
	reason := ""
	if progressing := condition(&d.Status, appsv1.DeploymentProgressing); progressing != nil {
		reason = progressing.Reason
	}
	switch {
	case reason == reasonTimedOut || d.Spec.Paused == (reason == reasonPaused):
		return nil
	case d.Spec.Paused:
		c.setProgressing(&d.Status, corev1.ConditionUnknown, reasonPaused, "Deployment is paused")
	default:
		c.setProgressing(&d.Status, corev1.ConditionUnknown, "DeploymentResumed", "Deployment is resumed")
	}
	return c.writeStatus(d)
}

// status computes counts and the Available condition from the ReplicaSets.
func (c *deployments) status(f *family) appsv1.DeploymentStatus {
	available := availableReplicas(f.all)
	status := appsv1.DeploymentStatus{
		ObservedGeneration:  f.d.Generation,
		AvailableReplicas:   available,
		UnavailableReplicas: max(totalReplicas(f.all)-available, 0),
		CollisionCount:      f.d.Status.CollisionCount,
		Conditions:          slices.Clone(f.d.Status.Conditions),
	}
	if f.next != nil {
		status.UpdatedReplicas = f.next.Status.Replicas
	}
	terminating, known := int32(0), true
	for _, rs := range f.all {
		status.Replicas += rs.Status.Replicas
		status.ReadyReplicas += rs.Status.ReadyReplicas
		if rs.Status.TerminatingReplicas == nil {
			known = false
		} else {
			terminating += *rs.Status.TerminatingReplicas
		}
	}
	if known {
		status.TerminatingReplicas = &terminating
	}
	if available >= replicasOf(f.d.Spec.Replicas)-maxUnavailable(f.d) {
		setCondition(&status, c.newCondition(appsv1.DeploymentAvailable, corev1.ConditionTrue,
			"MinimumReplicasAvailable", "Deployment has minimum availability."))
	} else {
		setCondition(&status, c.newCondition(appsv1.DeploymentAvailable, corev1.ConditionFalse,
			"MinimumReplicasUnavailable", "Deployment does not have minimum availability."))
	}
	return status
}

// reportStatus writes counts and Available; Progressing stays as it is.
func (c *deployments) reportStatus(f *family) error {
	status := c.status(f)
	if sameStatus(&f.d.Status, &status) {
		return nil
	}
	f.d.Status = status
	return c.writeStatus(f.d)
}

// reportRollout writes the whole status, and sets the timer of the progress deadline
// when there was nothing to write.
func (c *deployments) reportRollout(f *family) error {
	status := c.status(f)
	if hasDeadline(f.d) {
		c.judgeProgress(f, &status)
	} else {
		status.Conditions = withoutCondition(status.Conditions, appsv1.DeploymentProgressing)
	}
	if condition(&status, appsv1.DeploymentReplicaFailure) != nil {
		status.Conditions = withoutCondition(status.Conditions, appsv1.DeploymentReplicaFailure)
	}
	if failure := replicaFailure(f); failure != nil {
		if old := condition(&f.d.Status, appsv1.DeploymentReplicaFailure); old != nil && old.Reason == failure.Reason {
			failure = old
		}
		status.Conditions = append(status.Conditions, *failure)
	}
	if sameStatus(&f.d.Status, &status) {
		c.watchDeadline(f, &status)
		return nil
	}
	f.d.Status = status
	return c.writeStatus(f.d)
}

// errWritten ends a sync that would write the status a second time.
var errWritten = errors.New("this sync has written the status already")

// writeStatus stores the status, once per sync: upstream's second write of a sync
// meets a conflict and ends it, and here too the event of the first one brings the
// next sync.
func (c *deployments) writeStatus(d *appsv1.Deployment) error {
	if c.wrote {
		return errWritten
	}
	c.wrote = true
	_, err := c.w.updateStatus(d, managerKCM)
	return err
}

// sameStatus compares two statuses; all times in them are whole seconds of UTC.
func sameStatus(a, b *appsv1.DeploymentStatus) bool {
	return a.ObservedGeneration == b.ObservedGeneration && a.Replicas == b.Replicas &&
		a.UpdatedReplicas == b.UpdatedReplicas && a.ReadyReplicas == b.ReadyReplicas &&
		a.AvailableReplicas == b.AvailableReplicas && a.UnavailableReplicas == b.UnavailableReplicas &&
		ptr.Equal(a.TerminatingReplicas, b.TerminatingReplicas) && ptr.Equal(a.CollisionCount, b.CollisionCount) &&
		slices.Equal(a.Conditions, b.Conditions)
}

// judgeProgress computes the Progressing condition of a rollout. Once a rollout is
// complete nothing here touches it until the next one begins.
func (c *deployments) judgeProgress(f *family, status *appsv1.DeploymentStatus) {
	current := condition(&f.d.Status, appsv1.DeploymentProgressing)
	if status.Replicas == status.UpdatedReplicas && current != nil && current.Reason == reasonAvailable {
		return
	}
	subject := "Deployment " + strconv.Quote(f.d.Name)
	if f.next != nil {
		subject = "ReplicaSet " + strconv.Quote(f.next.Name)
	}
	switch {
	case isComplete(f.d, status):
		c.setProgressing(status, corev1.ConditionTrue, reasonAvailable, subject+" has successfully progressed.")
	case hasProgressed(&f.d.Status, status):
		// The only rewrite for an equal reason: each step of progress moves lastUpdateTime.
		next := c.newCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", subject+" is progressing.")
		if current != nil && current.Status == corev1.ConditionTrue {
			next.LastTransitionTime = current.LastTransitionTime
		}
		status.Conditions = append(withoutCondition(status.Conditions, appsv1.DeploymentProgressing), next)
	case c.timedOut(f.d, current):
		c.setProgressing(status, corev1.ConditionFalse, reasonTimedOut, subject+" has timed out progressing.")
	}
}

// isComplete reports that the current revision alone runs, all of it available.
func isComplete(d *appsv1.Deployment, status *appsv1.DeploymentStatus) bool {
	want := replicasOf(d.Spec.Replicas)
	return status.UpdatedReplicas == want && status.Replicas == want &&
		status.AvailableReplicas == want && status.ObservedGeneration >= d.Generation
}

// hasProgressed reports that a rollout moved between two statuses.
func hasProgressed(old, now *appsv1.DeploymentStatus) bool {
	return now.UpdatedReplicas > old.UpdatedReplicas ||
		now.Replicas-now.UpdatedReplicas < old.Replicas-old.UpdatedReplicas ||
		now.ReadyReplicas > old.ReadyReplicas || now.AvailableReplicas > old.AvailableReplicas
}

// timedOut reports that a rollout has made no progress for the deadline.
func (c *deployments) timedOut(d *appsv1.Deployment, progressing *appsv1.DeploymentCondition) bool {
	switch {
	case progressing == nil || progressing.Reason == reasonAvailable:
		return false
	case progressing.Reason == reasonTimedOut:
		return true
	}
	return c.deadline(d, progressing).Before(c.w.opt.KCM.Now())
}

// deadline is when a rollout without further progress has failed.
func (c *deployments) deadline(d *appsv1.Deployment, progressing *appsv1.DeploymentCondition) time.Time {
	return progressing.LastUpdateTime.Add(time.Duration(*d.Spec.ProgressDeadlineSeconds) * time.Second)
}

// watchDeadline sets the timer after which a stuck rollout has failed. What became
// available once never does.
func (c *deployments) watchDeadline(f *family, status *appsv1.DeploymentStatus) {
	progressing := condition(&f.d.Status, appsv1.DeploymentProgressing)
	if !hasDeadline(f.d) || progressing == nil || isComplete(f.d, status) ||
		progressing.Reason == reasonTimedOut || progressing.Reason == reasonAvailable {
		return
	}
	left := c.deadline(f.d, progressing).Sub(c.w.opt.KCM.Now())
	c.queue.addAfter(keyOf(f.d), max(left, 0)+time.Second)
}

// replicaFailure is the ReplicaFailure condition of a Deployment: that of its
// current ReplicaSet, else of any other.
func replicaFailure(f *family) *appsv1.DeploymentCondition {
	list := f.all
	if f.next != nil {
		list = append([]*appsv1.ReplicaSet{f.next}, f.all...)
	}
	for _, rs := range list {
		for _, failure := range rs.Status.Conditions {
			if failure.Type == appsv1.ReplicaSetReplicaFailure {
				return &appsv1.DeploymentCondition{
					Type: appsv1.DeploymentReplicaFailure, Status: failure.Status, Reason: failure.Reason,
					Message: failure.Message, LastTransitionTime: failure.LastTransitionTime, LastUpdateTime: failure.LastTransitionTime,
				}
			}
		}
	}
	return nil
}
