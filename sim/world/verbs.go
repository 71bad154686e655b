package world

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
)

// annRestartedAt is what kubectl rollout restart sets in the pod template.
const annRestartedAt = "kubectl.kubernetes.io/restartedAt"

// find returns a workload.
func (w *World) find(namespace, kind, name string) (client.Object, schema.GroupKind, error) {
	gk, ok := workloadKinds[kind]
	if !ok {
		return nil, gk, fmt.Errorf("world: %q is no kind of workload", kind)
	}
	object := w.server.Get(gk, types.NamespacedName{Namespace: namespace, Name: name})
	if object == nil {
		return nil, gk, fmt.Errorf("%s %s/%s not found", kind, namespace, name)
	}
	return object, gk, nil
}

// patch applies a patch as a user of kubectl does.
func (w *World) patch(object client.Object, gk schema.GroupKind, kind types.PatchType, body any, manager string) error {
	raw, ok := body.([]byte)
	if !ok {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return err
		}
	}
	_, err := w.server.Patch(gk, keyOf(object), kind, raw, cluster.WriteOptions{Manager: manager})
	return err
}

// Restart is kubectl rollout restart. Its stamp has whole seconds in the user's time
// zone; a second one within the same second is refused, as kubectl does.
func (w *World) Restart(namespace, kind, name string) error {
	object, gk, err := w.find(namespace, kind, name)
	if err != nil {
		return err
	}
	if d, ok := object.(*appsv1.Deployment); ok && d.Spec.Paused {
		return fmt.Errorf("can't restart paused deployment (run rollout resume first)")
	}
	template, err := templateFor(object, "restarting")
	if err != nil {
		return err
	}
	stamp := w.loop.Now().In(w.opt.UserZone).Format(time.RFC3339)
	if template.Annotations[annRestartedAt] == stamp {
		return fmt.Errorf("if restart has already been triggered within the past second, please wait before attempting to trigger another")
	}
	body := map[string]any{"spec": map[string]any{"template": map[string]any{
		"metadata": map[string]any{"annotations": map[string]string{annRestartedAt: stamp}},
	}}}
	return w.patch(object, gk, types.StrategicMergePatchType, body, managerRollout)
}

// Pause is kubectl rollout pause.
func (w *World) Pause(namespace, kind, name string) error {
	return w.setPaused(namespace, kind, name, true)
}

// Resume is kubectl rollout resume.
func (w *World) Resume(namespace, kind, name string) error {
	return w.setPaused(namespace, kind, name, false)
}

// setPaused pauses or resumes a Deployment; no other kind has the field.
func (w *World) setPaused(namespace, kind, name string, paused bool) error {
	object, gk, err := w.find(namespace, kind, name)
	if err != nil {
		return err
	}
	d, ok := object.(*appsv1.Deployment)
	switch {
	case !ok:
		return fmt.Errorf("pausing is not supported: %s", kind)
	case d.Spec.Paused && paused:
		return fmt.Errorf("deployments.apps %q is already paused", name)
	case !d.Spec.Paused && !paused:
		return fmt.Errorf("deployments.apps %q is not paused", name)
	}
	var value any // kubectl's patch removes the field to resume
	if paused {
		value = true
	}
	body := map[string]any{"spec": map[string]any{"paused": value}}
	return w.patch(object, gk, types.StrategicMergePatchType, body, managerRollout)
}

// Scale is kubectl scale.
func (w *World) Scale(namespace, kind, name string, replicas int32) error {
	object, gk, err := w.find(namespace, kind, name)
	if err != nil {
		return err
	}
	if gk != kindDeployment && gk != kindStatefulSet && gk != kindReplicaSet && gk != kindRollout {
		return fmt.Errorf("scaling is not supported: %s", kind)
	}
	body := map[string]any{"spec": map[string]any{"replicas": replicas}}
	return w.patch(object, gk, types.MergePatchType, body, managerKubectl)
}

// FailImage lets every pod of the workload that is created from now on start without
// ever turning ready, as with a broken image or a failing probe.
func (w *World) FailImage(namespace, kind, name string) error {
	if _, _, err := w.find(namespace, kind, name); err != nil {
		return err
	}
	w.failing[workload{kind, types.NamespacedName{Namespace: namespace, Name: name}}] = true
	return nil
}

// FixImage ends FailImage: new pods turn ready, and so do those that could not.
func (w *World) FixImage(namespace, kind, name string) error {
	if _, _, err := w.find(namespace, kind, name); err != nil {
		return err
	}
	delete(w.failing, workload{kind, types.NamespacedName{Namespace: namespace, Name: name}})
	for _, p := range w.podStates(namespace, kind, name) {
		if p.failing {
			p.failing = false
			w.kubelet.queue.add(p.key)
		}
	}
	return nil
}

// Evict deletes n pods of a workload, as draining a node does; 0 means all. Pods that
// are not ready go first, then the oldest. Their controller replaces them.
func (w *World) Evict(namespace, kind, name string, n int) error {
	pods, err := w.living(namespace, kind, name)
	if err != nil {
		return err
	}
	slices.SortStableFunc(pods, func(a, b *podState) int { return boolean(a.ready(), b.ready()) })
	for _, p := range firstOf(pods, n) {
		pod := w.server.Get(kindPod, p.key)
		if pod == nil {
			continue
		}
		if err := w.deleteAs(managerDrain, kindPod, pod); err != nil {
			return err
		}
	}
	return nil
}

// CrashContainers ends the containers of the n oldest running pods of a workload; 0
// means all. They are restarted in place: the pod stays, env is read anew.
func (w *World) CrashContainers(namespace, kind, name string, n int) error {
	pods, err := w.living(namespace, kind, name)
	if err != nil {
		return err
	}
	pods = slices.DeleteFunc(pods, func(p *podState) bool { return p.started.IsZero() })
	for _, p := range firstOf(pods, n) {
		if err := w.kubelet.crash(p); err != nil {
			return err
		}
	}
	return nil
}

// living returns the pods of a workload, oldest first; it is an error to have none.
func (w *World) living(namespace, kind, name string) ([]*podState, error) {
	if _, _, err := w.find(namespace, kind, name); err != nil {
		return nil, err
	}
	pods := w.podStates(namespace, kind, name)
	if len(pods) == 0 {
		return nil, fmt.Errorf("%s %s/%s has no pods", kind, namespace, name)
	}
	return pods, nil
}

// firstOf is the first n pods, all for 0.
func firstOf(pods []*podState, n int) []*podState {
	if n <= 0 {
		return pods
	}
	return pods[:min(n, len(pods))]
}
