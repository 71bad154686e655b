package cluster

import (
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// delta says which parts of an object a write changes. A write that changes none is
// not stored: no revision, no event.
type delta struct {
	meta   bool
	body   bool // anything besides metadata and a status with a subresource
	status bool
}

// none reports a write without effect.
func (d delta) none() bool { return !d.meta && !d.body && !d.status }

// compare finds what differs. Times of managedFields do not count: when nothing else
// differs the real server puts the old times back and skips the write.
func (k *kind) compare(in, old client.Object) delta {
	d := delta{meta: !sameMeta(objectMeta(in), objectMeta(old)), body: k.bodyDiffers(in, old)}
	if k.hasStatus {
		d.status = !k.sameStatus(reflect.ValueOf(in).Elem().Field(k.status), reflect.ValueOf(old).Elem().Field(k.status))
	}
	return d
}

// movesGeneration reports whether an update of the main resource counts as a new
// generation.
func (k *kind) movesGeneration(in, old client.Object) bool {
	switch k.rules.generation {
	case generationBody:
		return k.bodyDiffers(in, old)
	case generationAnnotations:
		return !maps.Equal(in.GetAnnotations(), old.GetAnnotations()) || k.bodyDiffers(in, old)
	case generationNone:
	}
	return false
}

// bodyDiffers compares all fields but metadata and a status with a subresource.
func (k *kind) bodyDiffers(in, old client.Object) bool {
	a, b := reflect.ValueOf(in).Elem(), reflect.ValueOf(old).Elem()
	for _, f := range k.body {
		if !f.equal(a.Field(f.index), b.Field(f.index)) {
			return true
		}
	}
	return false
}

// bodyField is a field that makes up the body of a kind, or its status.
type bodyField struct {
	index int
	equal equalFunc
}

// bodyFields lists the fields to compare in a kind's body.
func (k *kind) bodyFields() []bodyField {
	var out []bodyField
	for i := range k.goType.NumField() {
		name := k.goType.Field(i).Name
		if name == "TypeMeta" || name == "ObjectMeta" || i == k.status && k.hasStatus {
			continue
		}
		out = append(out, bodyField{i, equalOf(k.goType.Field(i).Type)})
	}
	return out
}

// sameMeta compares what a write can change in metadata.
func sameMeta(a, b *metav1.ObjectMeta) bool {
	return sameIdentity(a, b) &&
		maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations) &&
		slices.Equal(a.Finalizers, b.Finalizers) &&
		slices.EqualFunc(a.OwnerReferences, b.OwnerReferences, sameOwner) &&
		slices.EqualFunc(a.ManagedFields, b.ManagedFields, sameEntry)
}

// sameIdentity compares names and the fields that the server keeps.
func sameIdentity(a, b *metav1.ObjectMeta) bool {
	return a.Name == b.Name && a.Namespace == b.Namespace && a.GenerateName == b.GenerateName &&
		a.UID == b.UID && a.Generation == b.Generation &&
		a.CreationTimestamp.Equal(&b.CreationTimestamp) &&
		a.DeletionTimestamp.Equal(b.DeletionTimestamp) &&
		samePointer(a.DeletionGracePeriodSeconds, b.DeletionGracePeriodSeconds)
}

// sameOwner compares two owner references by value.
func sameOwner(a, b metav1.OwnerReference) bool {
	return a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name && a.UID == b.UID &&
		samePointer(a.Controller, b.Controller) && samePointer(a.BlockOwnerDeletion, b.BlockOwnerDeletion)
}

// sameEntry compares two managedFields entries except for their times.
func sameEntry(a, b metav1.ManagedFieldsEntry) bool {
	if a.Manager != b.Manager || a.Operation != b.Operation || a.APIVersion != b.APIVersion ||
		a.Subresource != b.Subresource || a.FieldsType != b.FieldsType {
		return false
	}
	if a.FieldsV1 == nil || b.FieldsV1 == nil {
		return a.FieldsV1 == b.FieldsV1
	}
	return a.FieldsV1.Equal(*b.FieldsV1)
}

// samePointer compares two optional values.
func samePointer[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
