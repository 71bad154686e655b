package world

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Undo is kubectl rollout undo: it puts the template of the previous revision back.
func (w *World) Undo(namespace, kind, name string) error {
	object, gk, err := w.find(namespace, kind, name)
	if err != nil {
		return err
	}
	if d, ok := object.(*appsv1.Deployment); ok {
		return w.undoDeployment(d)
	}
	if _, err := templateFor(object, "undoing"); err != nil {
		return err
	}
	revisions := w.objects.revisions(object.GetUID())
	sortRevisions(revisions)
	if len(revisions) < 2 {
		return fmt.Errorf("no last revision to roll back to")
	}
	previous := revisions[len(revisions)-2]
	if string(previous.Data.Raw) == revisionData(w.objects.templateOf(object)) {
		return nil // kubectl: rollback skipped
	}
	return w.patch(object, gk, types.StrategicMergePatchType, previous.Data.Raw, managerRollout)
}

// undoDeployment replaces template and annotations by those of the ReplicaSet with
// the second highest revision.
func (w *World) undoDeployment(d *appsv1.Deployment) error {
	if d.Spec.Paused {
		return fmt.Errorf("you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again")
	}
	list := w.objects.replicaSets(d.UID)
	slices.SortStableFunc(list, func(a, b *appsv1.ReplicaSet) int { return cmp.Compare(revisionOf(a), revisionOf(b)) })
	if len(list) < 2 {
		return fmt.Errorf("no rollout history found for deployment %q", d.Name)
	}
	previous := list[len(list)-2]
	if w.objects.templateOf(previous) == w.objects.templateOf(d) {
		return nil // kubectl: rollback skipped
	}
	annotations := map[string]string{}
	for k, v := range d.Annotations {
		if notCopied[k] {
			annotations[k] = v
		}
	}
	for k, v := range previous.Annotations {
		if !notCopied[k] {
			annotations[k] = v
		}
	}
	body := []map[string]any{
		{"op": "replace", "path": "/spec/template", "value": json.RawMessage(w.objects.templateOf(previous))},
		{"op": "replace", "path": "/metadata/annotations", "value": annotations},
	}
	return w.patch(d, kindDeployment, types.JSONPatchType, body, managerRollout)
}

// templateFor is the pod template of a workload that has one.
func templateFor(object client.Object, act string) (*corev1.PodTemplateSpec, error) {
	switch object.(type) {
	case *appsv1.Deployment, *appsv1.StatefulSet, *appsv1.DaemonSet:
		return podTemplate(object), nil
	}
	return nil, fmt.Errorf("%s is not supported: %T", act, object)
}
