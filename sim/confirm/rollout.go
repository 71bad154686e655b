package confirm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/steps"
)

// Field managers of those who touch workloads besides KICK.
const (
	managerRollout = "kubectl-rollout"
	managerKubectl = "kubectl"
)

// restartedAt is what kubectl rollout restart sets in the pod template.
const restartedAt = "kubectl.kubernetes.io/restartedAt"

// rollout does to a workload what kubectl or a machine does.
func (r *rig) rollout(ctx context.Context, a steps.Act) error {
	a.Target.Namespace = r.names.real(a.Target.Namespace)
	spec := func(v any) map[string]any { return map[string]any{"spec": v} }
	switch a.Op {
	case "pause":
		return r.patchWorkload(ctx, a, types.StrategicMergePatchType, managerRollout, spec(map[string]any{"paused": true}))
	case "resume":
		return r.patchWorkload(ctx, a, types.StrategicMergePatchType, managerRollout, spec(map[string]any{"paused": nil}))
	case "scale":
		return r.patchWorkload(ctx, a, types.MergePatchType, managerKubectl, spec(map[string]any{"replicas": a.Replicas}))
	case "restart":
		stamp := map[string]string{restartedAt: time.Now().Format(time.RFC3339)}
		return r.patchWorkload(ctx, a, types.StrategicMergePatchType, managerRollout,
			spec(map[string]any{"template": map[string]any{"metadata": map[string]any{"annotations": stamp}}}))
	case "undo":
		return r.undo(ctx, a)
	case "evict":
		return r.evict(ctx, a)
	}
	return r.node.rollout(ctx, a)
}

func (r *rig) patchWorkload(ctx context.Context, a steps.Act, kind types.PatchType, as string, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = r.any.Resource(resources[a.TargetKind]).Namespace(a.Target.Namespace).Patch(ctx, a.Target.Name, kind, raw, metav1.PatchOptions{FieldManager: as})
	return err
}

// undo is kubectl rollout undo: the template of the previous revision comes back.
func (r *rig) undo(ctx context.Context, a steps.Act) error {
	if a.TargetKind != "Deployment" {
		list, err := r.set.AppsV1().ControllerRevisions(a.Target.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		revisions := slices.DeleteFunc(list.Items, func(c appsv1.ControllerRevision) bool { return !ownedBy(c.OwnerReferences, a) })
		slices.SortFunc(revisions, func(x, y appsv1.ControllerRevision) int { return cmp.Compare(x.Revision, y.Revision) })
		if len(revisions) < 2 {
			return fmt.Errorf("no last revision to roll back to")
		}
		return r.patchWorkload(ctx, a, types.StrategicMergePatchType, managerRollout, json.RawMessage(revisions[len(revisions)-2].Data.Raw))
	}
	list, err := r.set.AppsV1().ReplicaSets(a.Target.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	sets := slices.DeleteFunc(list.Items, func(s appsv1.ReplicaSet) bool { return !ownedBy(s.OwnerReferences, a) })
	slices.SortFunc(sets, func(x, y appsv1.ReplicaSet) int { return cmp.Compare(revisionOf(x), revisionOf(y)) })
	if len(sets) < 2 {
		return fmt.Errorf("no rollout history found for deployment %q", a.Target.Name)
	}
	template := sets[len(sets)-2].Spec.Template
	delete(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return r.patchWorkload(ctx, a, types.JSONPatchType, managerRollout, []map[string]any{{"op": "replace", "path": "/spec/template", "value": template}})
}

func ownedBy(owners []metav1.OwnerReference, a steps.Act) bool {
	return slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool { return o.Kind == a.TargetKind && o.Name == a.Target.Name })
}

func revisionOf(s appsv1.ReplicaSet) int {
	n, _ := strconv.Atoi(s.Annotations["deployment.kubernetes.io/revision"])
	return n
}

// evict deletes pods of a workload as draining a node does: those that are not ready
// first, then the oldest.
func (r *rig) evict(ctx context.Context, a steps.Act) error {
	pods, err := r.pods(ctx, a)
	if err != nil {
		return err
	}
	slices.SortStableFunc(pods, func(x, y corev1.Pod) int { return cmp.Compare(readiness(x), readiness(y)) })
	for _, pod := range firstOf(pods, a.Pods) {
		if err := ignoreNotFound(r.set.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})); err != nil {
			return err
		}
	}
	return nil
}

// pods lists the living pods of a workload, oldest first.
func (r *rig) pods(ctx context.Context, a steps.Act) ([]corev1.Pod, error) {
	list, err := r.set.CoreV1().Pods(a.Target.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods := slices.DeleteFunc(list.Items, func(p corev1.Pod) bool {
		kind, name := r.node.workloadOf(p.Namespace, p.OwnerReferences)
		return p.DeletionTimestamp != nil || kind != a.TargetKind || name != a.Target.Name
	})
	if len(pods) == 0 {
		return nil, fmt.Errorf("%s %s has no pods", a.TargetKind, a.Target.Name)
	}
	slices.SortStableFunc(pods, func(x, y corev1.Pod) int {
		return cmp.Or(x.CreationTimestamp.Compare(y.CreationTimestamp.Time), cmp.Compare(x.Name, y.Name))
	})
	return pods, nil
}

func readiness(p corev1.Pod) int {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return 1
		}
	}
	return 0
}

// firstOf is the first n pods, all for 0.
func firstOf(pods []corev1.Pod, n int) []corev1.Pod {
	if n <= 0 {
		return pods
	}
	return pods[:min(n, len(pods))]
}
