package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Bind assigns a pod to a node, as the scheduler does through pods/binding; a pod's
// node cannot be set by an update.
func (s *Server) Bind(key types.NamespacedName, node string, o WriteOptions) error {
	k, err := s.kindFor(schema.GroupKind{Kind: "Pod"})
	if err != nil {
		return err
	}
	r := k.records[key]
	if r == nil {
		return apierrors.NewNotFound(k.resource, key.Name)
	}
	old := r.object.(*corev1.Pod)
	switch {
	case old.DeletionTimestamp != nil:
		return apierrors.NewConflict(k.bindingResource(), key.Name, fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", key.Name))
	case old.Spec.NodeName != "":
		return apierrors.NewConflict(k.bindingResource(), key.Name, fmt.Errorf("pod %v is already assigned to node %q", key.Name, old.Spec.NodeName))
	}
	next := old.DeepCopy()
	next.Spec.NodeName = node
	setScheduled(&next.Status, s.stamp())
	o.Subresource = "binding"
	if !o.DryRun {
		s.replace(k, r, next, o.change("create"))
	}
	return nil
}

// bindingResource names the subresource in errors.
func (k *kind) bindingResource() schema.GroupResource {
	return schema.GroupResource{Resource: k.resource.Resource + "/binding"}
}

// setScheduled sets the condition that binding sets.
func setScheduled(status *corev1.PodStatus, now metav1.Time) {
	for i := range status.Conditions {
		if c := &status.Conditions[i]; c.Type == corev1.PodScheduled {
			if c.Status != corev1.ConditionTrue {
				c.LastTransitionTime = now
			}
			c.Status, c.Reason, c.Message = corev1.ConditionTrue, "", ""
			return
		}
	}
	status.Conditions = append(status.Conditions, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now})
}
