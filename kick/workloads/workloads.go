// Package workloads is the port for the kinds of workload KICK can restart. Each
// kind is one folder below; the list of them is put together in package operator.
// This is the only place where kinds are told apart.
package workloads

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"maps"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model"
)

// Kind is what KICK has to know of one kind of workload. Reads and writes are
// done by others: an adapter only understands objects.
type Kind interface {
	// Name is the kind, e.g. "Deployment".
	Name() string
	// APIVersion is the group and version, e.g. "apps/v1".
	APIVersion() string
	// New returns an empty object, NewList an empty list.
	New() client.Object
	NewList() client.ObjectList
	// Objects are the workloads of such a list.
	Objects(client.ObjectList) []client.Object
	// Template is the pod template of the object.
	Template(client.Object) *corev1.PodTemplateSpec
	// Selector selects the pods of the object.
	Selector(client.Object) *metav1.LabelSelector
	// Stamp is the raw stamp of the object, StampPath the names of the fields that lead to
	// it, and StampValue how a time is written there.
	Stamp(client.Object) string
	StampPath() []string
	StampValue(time.Time) string
	// Rollout reads the progress from the object's status.
	Rollout(client.Object) model.Rollout
	// Revision returns an empty object of the kind that holds its revisions, named
	// RevisionKind; NewRevisions an empty list of them; Items are the objects of
	// such a list.
	RevisionKind() string
	Revision() client.Object
	NewRevisions() client.ObjectList
	Items(client.ObjectList) []client.Object
	// Describe reads the revisions the workload controls.
	Describe(workload client.Object, all []client.Object) []model.Revision
	// RevisionOf names the revision a pod belongs to; false: the pod is not the
	// workload's.
	RevisionOf(pod *corev1.Pod, workload client.Object, all []client.Object) (string, bool)
	// StripRevision makes a cached revision small.
	StripRevision(client.Object)
}

// Referrer is a kind whose objects may run the template of another workload, which
// they name.
type Referrer interface {
	Kind
	// Reference names that workload; false: the object runs its own template.
	Reference(client.Object) (model.Key, bool)
	// Resolve returns the object with the template, and where it has none of its own the
	// selector, of the workload it names.
	Resolve(obj client.Object, template *corev1.PodTemplateSpec, selector *metav1.LabelSelector) client.Object
}

// TemplateStamp is where workloads carry the stamp whose restart is a new revision: in
// an annotation of their template. Embed it in an adapter.
type TemplateStamp struct{}

var templateStampPath = []string{"spec", "template", "metadata", "annotations", model.StampAnnotation}

// StampPath leads to the annotation.
func (TemplateStamp) StampPath() []string { return templateStampPath }

// StampValue is RFC 3339, microseconds, UTC.
func (TemplateStamp) StampValue(at time.Time) string {
	return at.UTC().Format("2006-01-02T15:04:05.000000Z07:00")
}

// Registry is the list of kinds, in a fixed order.
type Registry []Kind

// ByName returns the kind with that name, or nil.
func (r Registry) ByName(name string) Kind {
	for _, k := range r {
		if k.Name() == name {
			return k
		}
	}
	return nil
}

// Notes that a cached object carries instead of what was dropped from it. They
// exist in memory only, and a value a user wrote there is overwritten.
const (
	noteStampManager = "cached.kick.corewire.io/stamp-manager"
	noteTemplateHash = "cached.kick.corewire.io/template-hash"
	noteStamp        = "cached.kick.corewire.io/stamp"
)

// Strip makes an object as small as the cache needs it: the owner of the stamp, which the
// path leads to, is noted, managedFields are dropped. It changes the object in place and may be
// called again.
func Strip(obj client.Object, stampPath []string) {
	if obj.GetSelfLink() == mark {
		return
	}
	note(obj, noteStampManager, stampManager(obj.GetManagedFields(), stampPath))
	obj.SetManagedFields(nil)
	obj.SetSelfLink(mark)
}

// mark tells a stripped object. It stands in a field that the API server clears on
// every write, so nobody can send an object that passes for stripped.
const mark = "stripped"

// StripReplicaSet is Strip for a revision that holds its template in the spec.
func StripReplicaSet(obj client.Object, template *corev1.PodTemplateSpec) {
	if len(template.Spec.Containers) == 0 { // stripped before
		return
	}
	note(obj, noteTemplateHash, TemplateHash(template))
	note(obj, noteStamp, template.Annotations[model.StampAnnotation])
	obj.SetManagedFields(nil)
	*template = corev1.PodTemplateSpec{}
}

// NotedHash and NotedStamp read what StripReplicaSet left.
func NotedHash(obj client.Object) string { return obj.GetAnnotations()[noteTemplateHash] }

// NotedStamp is the raw stamp of a stripped revision.
func NotedStamp(obj client.Object) string { return obj.GetAnnotations()[noteStamp] }

// ReplicaSetOf follows the pod's controller reference to a ReplicaSet of the workload.
// One that the cache has not seen yet is recognised by its name, which ends in the hash
// that the label of the pod repeats; the pod then has no known revision and is judged by
// its own creation alone. Leaving it out could hide a stale pod. One that is older than the
// workload is left out: it waits to be collected with another workload of that name.
func ReplicaSetOf(pod *corev1.Pod, workload client.Object, all []client.Object, label string) (string, bool) {
	ref := metav1.GetControllerOf(pod)
	if ref == nil {
		return "", false
	}
	for _, rs := range all {
		if rs.GetUID() == ref.UID {
			return rs.GetName(), true
		}
	}
	hash := pod.Labels[label]
	if pod.CreationTimestamp.Before(new(workload.GetCreationTimestamp())) {
		return "", false
	}
	return "", ref.Kind == "ReplicaSet" && hash != "" && ref.Name == workload.GetName()+"-"+hash
}

// StripControllerRevision drops the data of a revision and notes its stamp.
func StripControllerRevision(obj client.Object, raw *[]byte) {
	if len(*raw) == 0 {
		return
	}
	var data struct {
		Spec struct {
			Template struct {
				Metadata struct {
					Annotations map[string]string `json:"annotations"`
				} `json:"metadata"`
			} `json:"template"`
		} `json:"spec"`
	}
	if json.Unmarshal(*raw, &data) == nil { // foreign data carries no stamp of ours
		note(obj, noteStamp, data.Spec.Template.Metadata.Annotations[model.StampAnnotation])
	}
	obj.SetManagedFields(nil)
	*raw = nil
}

func note(obj client.Object, key, value string) {
	old := obj.GetAnnotations()
	notes := make(map[string]string, len(old)+1)
	maps.Copy(notes, old)
	notes[key] = value
	obj.SetAnnotations(notes)
}

// TemplateHash is equal for templates that the Deployment controller holds equal:
// the label it adds itself does not count, nor does empty against unset.
func TemplateHash(t *corev1.PodTemplateSpec) string {
	plain := *t
	if _, hashed := t.Labels["pod-template-hash"]; hashed {
		plain.Labels = make(map[string]string, len(t.Labels))
		for k, v := range t.Labels {
			if k != "pod-template-hash" {
				plain.Labels[k] = v
			}
		}
	}
	h := fnv.New64a()
	_ = json.NewEncoder(h).Encode(&plain) // a template has no type that cannot be encoded
	return strconv.FormatUint(h.Sum64(), 36)
}

// stampManager names who owns the stamp: the manager whose entry holds the field,
// the most recent one if several share it.
func stampManager(fields []metav1.ManagedFieldsEntry, path []string) string {
	manager, newest := "", time.Time{}
	for i := range fields {
		f := &fields[i]
		if f.FieldsV1 == nil || f.Subresource != "" || !owns(f.FieldsV1.GetRawBytes(), path) {
			continue
		}
		var at time.Time
		if f.Time != nil {
			at = f.Time.Time
		}
		if manager == "" || at.After(newest) {
			manager, newest = f.Manager, at
		}
	}
	return manager
}

// owns reports whether fields that somebody owns hold the field at a path.
func owns(raw []byte, path []string) bool {
	if !bytes.Contains(raw, []byte("f:"+path[len(path)-1])) {
		return false // most owners: not worth taking apart
	}
	node := json.RawMessage(raw)
	for _, name := range path {
		var fields map[string]json.RawMessage
		if json.Unmarshal(node, &fields) != nil {
			return false
		}
		if node = fields["f:"+name]; node == nil {
			return false
		}
	}
	return true
}

// Model is the workload in plain values.
func Model(k Kind, obj client.Object) model.Workload {
	Strip(obj, k.StampPath())
	raw := k.Stamp(obj)
	stamp := model.Stamp{Raw: raw}
	if raw != "" {
		stamp.Manager = obj.GetAnnotations()[noteStampManager]
		if at, err := time.Parse(time.RFC3339Nano, raw); err == nil {
			stamp.At = at.UTC()
		}
	}
	return model.Workload{
		ID:          model.Key{Kind: k.Name(), Namespace: obj.GetNamespace(), Name: obj.GetName()},
		APIVersion:  k.APIVersion(),
		UID:         string(obj.GetUID()),
		Version:     obj.GetResourceVersion(),
		Generation:  obj.GetGeneration(),
		Created:     obj.GetCreationTimestamp().UTC(),
		Deleting:    obj.GetDeletionTimestamp() != nil,
		Labels:      obj.GetLabels(),
		Annotations: obj.GetAnnotations(),
		Stamp:       stamp,
		Rollout:     k.Rollout(obj),
	}
}

// Pointers gives the items of a list as objects, without copying them.
func Pointers[T any, P interface {
	*T
	client.Object
}](items []T) []client.Object {
	all := make([]client.Object, len(items))
	for i := range items {
		all[i] = P(&items[i])
	}
	return all
}

// Ordinal is the position of a StatefulSet's pod; -1 for any other pod. API servers
// before 1.28 do not label it, but it is the end of the name.
func Ordinal(p *corev1.Pod) int32 {
	position, labelled := p.Labels[appsv1.PodIndexLabel]
	if owner := metav1.GetControllerOf(p); !labelled && owner != nil && owner.Kind == "StatefulSet" {
		position = strings.TrimPrefix(p.Name, owner.Name+"-")
	}
	n, err := strconv.ParseInt(position, 10, 32)
	if err != nil {
		return -1
	}
	return int32(n)
}

// Controlled keeps the objects that the workload controls.
func Controlled(all []client.Object, workload client.Object) []client.Object {
	var kept []client.Object
	for _, o := range all {
		if ref := metav1.GetControllerOf(o); ref != nil && ref.UID == workload.GetUID() {
			kept = append(kept, o)
		}
	}
	return kept
}
