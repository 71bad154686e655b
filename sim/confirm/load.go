package confirm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// load is one start of a container.
type load struct {
	pod       types.NamespacedName
	uid       types.UID
	of        workload
	container string
	at        time.Time
	again     bool // it was restarted in place
	spec      *corev1.PodSpec
	report    *report // what it says it loaded; nil on a fake node
}

// noteStarts notes every container of a pod that began to run.
func (n *node) noteStarts(ctx context.Context, pod *corev1.Pod, at time.Time) {
	kind, name := n.workloadOf(pod.Namespace, pod.OwnerReferences)
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		var since string
		switch {
		case s.State.Running != nil:
			since = s.State.Running.StartedAt.UTC().Format(time.RFC3339)
		case s.State.Terminated != nil && s.State.Terminated.ExitCode == 0:
			since = s.State.Terminated.StartedAt.UTC().Format(time.RFC3339)
		default:
			continue
		}
		key := fmt.Sprint(pod.UID, "/", s.Name, "/", s.RestartCount, "/", s.ContainerID, "/", since)
		l := &load{
			pod: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, uid: pod.UID,
			of: workload{kind, pod.Namespace, name}, container: s.Name, at: at, again: s.RestartCount > 0, spec: &pod.Spec,
		}
		n.mu.Lock()
		known := n.loads[key] != nil
		if !known {
			n.loads[key] = l
			n.order = append(n.order, l)
		}
		n.mu.Unlock()
		if !known && n.rig.options.RealPods {
			go n.ask(ctx, l)
		}
	}
}

// running lists the newest start of every container of the pods of a workload that
// ran at an instant and were not about to end.
func (n *node) running(of workload, t time.Time) []*load {
	n.mu.Lock()
	defer n.mu.Unlock()
	newest := map[string]*load{}
	for _, l := range n.order {
		if l.of != of || l.at.After(t) {
			continue
		}
		object := n.rig.record.at(objectKey{"Pod", l.pod}, t)
		if object == nil || object.GetUID() != l.uid || object.GetDeletionTimestamp() != nil {
			continue
		}
		newest[string(l.uid)+"/"+l.container] = l
	}
	var out []*load
	for _, key := range slices.Sorted(maps.Keys(newest)) {
		out = append(out, newest[key])
	}
	return out
}

// content is what a source holds, keys and values; nil is an absent one.
type content map[string]string

// text is equal for two contents if and only if they are.
func (c content) text() string {
	if c == nil {
		return "absent"
	}
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(c)) {
		for _, part := range []string{k, c[k]} {
			b.WriteString(strconv.Itoa(len(part)) + ":" + part)
		}
	}
	return b.String()
}

func contentOf(object *unstructured.Unstructured) content {
	if object == nil {
		return nil
	}
	out := content{}
	if object.GetKind() == "Secret" {
		var s corev1.Secret
		if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &s) == nil {
			for k, v := range s.Data {
				out[k] = string(v)
			}
		}
		return out
	}
	var c corev1.ConfigMap
	if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &c) == nil {
		maps.Copy(out, c.Data)
		for k, v := range c.BinaryData {
			out[k] = string(v)
		}
	}
	return out
}

// loaded is what a container had of a source when it started, and whether that is
// certain: watches of different kinds tell of one instant in any order.
func (n *node) loaded(l *load, source objectKey) (held content, certain bool) {
	const blur = time.Second
	versions := n.rig.record.since(source, time.Time{})
	certain = true
	now := contentOf(n.rig.record.at(source, l.at))
	if l.report == nil {
		for _, v := range versions {
			if gap := v.at.Sub(l.at).Abs(); gap < blur && contentOf(v.object).text() != now.text() {
				certain = false
			}
		}
		return now, certain
	}
	names := l.names(source, versions)
	if l.carries(source, now, names) {
		return now, true
	}
	for _, v := range slices.Backward(versions) {
		if c := contentOf(v.object); !v.at.After(l.at.Add(blur)) && l.carries(source, c, names) {
			return c, true
		}
	}
	return nil, false
}
