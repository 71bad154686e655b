// Package sources is the port for the kinds of source a workload can read. Each
// kind is one folder below; the list of them is put together in package operator.
package sources

import (
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/model/fingerprint"
)

// Kind is what KICK has to know of one kind of source.
type Kind interface {
	// Name is the kind, e.g. "Secret".
	Name() string
	// New returns an empty object.
	New() client.Object
	// Digest is the fingerprint of an object that still holds its payload.
	Digest(client.Object) fingerprint.Digest
	// KeyNames are the names of the payload's keys, in any order.
	KeyNames(client.Object) []string
	// Empty drops the payload, keeping the names of its keys.
	Empty(client.Object)
}

// Mounted is a kind whose content is told by status objects, one for each pod that mounts
// it, and not by itself.
type Mounted interface {
	Kind
	// Status is the kind of the status objects.
	Status() Kind
	// NewStatuses returns an empty list of them, Statuses what is in one.
	NewStatuses() client.ObjectList
	Statuses(client.ObjectList) []client.Object
	// Of is the name of the source that a status object is about, and the UID of its pod;
	// empty: it tells neither.
	Of(client.Object) (source, pod string)
	// Mirrors are the names of the Secrets that are made of a source.
	Mirrors(client.Object) []string
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

// Refs are the sources of these kinds that a pod refers to and that may exist some day.
func (r Registry) Refs(spec *corev1.PodSpec) []discover.Ref {
	return slices.DeleteFunc(discover.Refs(spec), func(ref discover.Ref) bool {
		return r.ByName(ref.Kind) == nil || !model.Nameable(ref.Name)
	})
}

// Dependencies are the sources of these kinds that a pod reads, and how.
func (r Registry) Dependencies(spec *corev1.PodSpec) []discover.Dependency {
	return slices.DeleteFunc(discover.Dependencies(spec), func(d discover.Dependency) bool { return r.ByName(d.Kind) == nil })
}

// Notes that a cached source carries instead of its payload. They exist in memory
// only; no annotation of the source itself is kept.
const (
	noteDigest    = "cached.kick.corewire.io/digest"
	noteLastWrite = "cached.kick.corewire.io/last-write"
	noteUndated   = "cached.kick.corewire.io/undated"
)

// mark tells a stripped object. It stands in a field that the API server clears on
// every write, so nobody can send an object that passes for stripped.
const mark = "stripped"

// Strip replaces the payload by its fingerprint and the field owners by the date
// they give, before an object enters a cache (DESIGN sections 4 and 10): no cache
// of KICK ever holds a value. It changes the struct it is given and nothing that
// struct shares, and may be called again.
func Strip(k Kind, obj client.Object) {
	if obj.GetSelfLink() == mark {
		return
	}
	digest := k.Digest(obj)
	at, dated := lastWrite(obj, k.KeyNames(obj))
	notes := map[string]string{noteDigest: digest.Note(), noteLastWrite: at.UTC().Format(time.RFC3339)}
	if !dated {
		notes[noteUndated] = "true"
	}
	obj.SetAnnotations(notes)
	obj.SetManagedFields(nil)
	obj.SetSelfLink(mark)
	k.Empty(obj)
}

// Model is the source in plain values.
func Model(k Kind, obj client.Object) model.Source {
	Strip(k, obj)
	s := model.Source{
		ID:              model.Key{Kind: k.Name(), Namespace: obj.GetNamespace(), Name: obj.GetName()},
		Present:         true,
		UID:             string(obj.GetUID()),
		ResourceVersion: obj.GetResourceVersion(),
		Labels:          obj.GetLabels(),
		Created:         obj.GetCreationTimestamp().UTC(),
		Digest:          Digest(obj),
		KeyNames:        k.KeyNames(obj),
	}
	slices.Sort(s.KeyNames)
	s.LastWrite, s.Dated = LastWrite(obj), obj.GetAnnotations()[noteUndated] == ""
	if mounted, is := k.(Mounted); is {
		s.Mirrors = mounted.Mirrors(obj)
	}
	return s
}

// Status is what a status object tells, in plain values.
func Status(k Mounted, obj client.Object) model.Mounted {
	Strip(k.Status(), obj)
	_, pod := k.Of(obj)
	return model.Mounted{
		Pod: pod, Version: obj.GetResourceVersion(), Created: obj.GetCreationTimestamp().UTC(), Digest: Digest(obj), LastWrite: LastWrite(obj),
	}
}

// Digest reads what Strip noted.
func Digest(obj client.Object) fingerprint.Digest {
	return fingerprint.FromNote(obj.GetAnnotations()[noteDigest])
}

// LastWrite reads what Strip noted.
func LastWrite(obj client.Object) time.Time {
	t, _ := time.Parse(time.RFC3339, obj.GetAnnotations()[noteLastWrite])
	return t
}

// lastWrite is lambda: the newest time among the field owners that own content.
// Owners of labels or annotations alone say nothing about the content; a write
// that only removed a key moves no time at all, which the ledger allows for. An
// object without owners has its creation time, and is not dated by them; nor is one with
// a key that nobody owns, since whoever set it has given it up and took the date along.
func lastWrite(obj client.Object, keys []string) (newest time.Time, dated bool) {
	newest = obj.GetCreationTimestamp().Time
	owned := map[string]bool{}
	for _, f := range obj.GetManagedFields() {
		if f.Time == nil || f.Subresource != "" || !ownsContent(f.FieldsV1, owned) {
			continue
		}
		if !f.Time.Time.Before(newest) {
			newest, dated = f.Time.Time, true
		}
	}
	orphan := func(key string) bool { return !owned["f:"+key] }
	return newest, dated && !slices.ContainsFunc(keys, orphan)
}

// ownsContent reports whether an owner owns content, and notes which keys of it.
func ownsContent(f *metav1.FieldsV1, owned map[string]bool) bool {
	if f == nil {
		return false
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(f.GetRawBytes(), &top) != nil {
		return true // cannot be read: the cautious answer
	}
	owns := false
	for _, field := range []string{"f:data", "f:stringData", "f:binaryData", "f:immutable", "f:type", "f:status"} {
		part, ok := top[field]
		if !ok {
			continue
		}
		owns = true
		var keys map[string]json.RawMessage
		if json.Unmarshal(part, &keys) == nil {
			for key := range keys {
				owned[key] = true
			}
		}
	}
	return owns
}
