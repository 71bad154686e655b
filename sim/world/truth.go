package world

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SourceRef names a Secret, a ConfigMap or a SecretProviderClass.
type SourceRef struct{ Kind, Namespace, Name string }

// Content is what a source held: all keys and values of data and binaryData in one
// canonical form, equal if and only if the payload is. Absent says that there was no
// such object (which an optional reference allows); Bytes is then empty.
type Content struct {
	Bytes  string
	Absent bool
}

// Use says how a container reads a source.
type Use struct {
	Env      bool     // through env or envFrom
	Volume   bool     // through a mounted volume
	SubPath  bool     // one of the mounts is a subPath, which does not follow the source
	Optional bool     // every reference is optional
	All      bool     // the whole object is read; Keys is then empty
	Keys     []string // the keys that are read, sorted
}

// Load is what one container had read when it started: the ground truth that no
// timestamp of the API can give.
type Load struct {
	Pod       types.NamespacedName
	PodUID    types.UID
	Container string // "" for volumes of the pod that no container mounts
	Init      bool
	StartedAt time.Time // true time
	Restart   bool      // the container was restarted in place
	Sources   map[SourceRef]Content
	Uses      map[SourceRef]Use
	// Cached lists sources that came from the node's copy of an immutable object,
	// which may be older than anything the API server could have answered.
	Cached []SourceRef
}

// PodTruth is one running pod of a workload.
type PodTruth struct {
	Name    string
	UID     types.UID
	Node    string
	Created time.Time // true time
	Started time.Time // true time at which all containers first ran
	Ready   bool
	Told    map[SourceRef]Told // of each SecretProviderClass that it mounts
	Loads   []Load             // init containers first, in the order of the spec; the newest start of each
}

// Told is what the status object of a pod tells of a SecretProviderClass, whose content
// is the versions of its files.
type Told struct {
	Content Content
	At      time.Time // true time at which it was written so
}

// told is what status objects tell of the classes that a pod mounts.
func (p *podState) told() map[SourceRef]Told {
	var out map[SourceRef]Told
	for ref, m := range p.mounts {
		if m.csi == nil {
			continue
		}
		if out == nil {
			out = map[SourceRef]Told{}
		}
		out[ref] = Told{Content: files(m.csi.told).content(), At: m.csi.toldAt}
	}
	return out
}

// Pods lists the running, non-terminating pods of a workload (Deployment,
// ReplicaSet, StatefulSet, DaemonSet, Rollout, Job or a bare Pod), oldest first. A
// container that is down at the moment has no load.
func (w *World) Pods(namespace, kind, name string) []PodTruth {
	var out []PodTruth
	for _, p := range w.podStates(namespace, kind, name) {
		if p.started.IsZero() {
			continue
		}
		truth := PodTruth{
			Name: p.key.Name, UID: p.uid, Node: p.node, Created: p.created, Started: p.started, Ready: p.ready(), Told: p.told(),
		}
		for i := range p.containers {
			if c := &p.containers[i]; c.load != nil && (c.running || c.done) {
				truth.Loads = append(truth.Loads, *c.load)
			}
		}
		if p.unmounted != nil {
			truth.Loads = append(truth.Loads, *p.unmounted)
		}
		out = append(out, truth)
	}
	return out
}

// Current is what a source holds now.
func (w *World) Current(ref SourceRef) Content {
	return contentOf(w.server.Get(ref.groupKind(), ref.key()))
}

// podStates lists the living pods of a workload that a kubelet knows, oldest first.
func (w *World) podStates(namespace, kind, name string) []*podState {
	gk, ok := workloadKinds[kind]
	if !ok {
		return nil
	}
	object := w.server.Get(gk, types.NamespacedName{Namespace: namespace, Name: name})
	if object == nil {
		return nil
	}
	var out []*podState
	add := func(pod *corev1.Pod) {
		if p := w.kubelet.pods[pod.UID]; p != nil && pod.DeletionTimestamp == nil {
			out = append(out, p)
		}
	}
	if pod, ok := object.(*corev1.Pod); ok {
		add(pod)
		return out
	}
	for _, pod := range w.objects.pods(object.GetUID()) {
		add(pod)
	}
	for _, rs := range w.objects.replicaSets(object.GetUID()) {
		for _, pod := range w.objects.pods(rs.UID) {
			add(pod)
		}
	}
	slices.SortStableFunc(out, func(a, b *podState) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.key.Name, b.key.Name))
	})
	return out
}

// contentOf is the content of a Secret or a ConfigMap; nil is an absent one.
func contentOf(object client.Object) Content {
	payload := map[string]string{}
	switch o := object.(type) {
	case nil:
		return Content{Absent: true}
	case *corev1.Secret:
		for k, v := range o.Data {
			payload[k] = string(v)
		}
	case *corev1.ConfigMap:
		maps.Copy(payload, o.Data)
		for k, v := range o.BinaryData {
			payload[k] = string(v)
		}
	}
	keys := make([]string, 0, len(payload))
	for k := range payload {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var b strings.Builder
	// Lengths make the form injective whatever the values contain.
	for _, k := range keys {
		for _, part := range []string{k, payload[k]} {
			b.WriteString(strconv.Itoa(len(part)))
			b.WriteByte(':')
			b.WriteString(part)
		}
	}
	return Content{Bytes: b.String()}
}
