package cluster

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// apply is server-side apply: it merges the fields of the request, takes their
// ownership, and drops the fields that this manager applied before and names no more.
// A missing object is created.
func (s *Server) apply(k *kind, key types.NamespacedName, r *record, data []byte, o WriteOptions) (client.Object, error) {
	if o.Manager == "" {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "PatchOptions"}, "",
			field.ErrorList{field.Required(field.NewPath("fieldManager"), "is required for apply patch")})
	}
	if _, err := k.keptField(o.Subresource); err != nil {
		return nil, err
	}
	if r == nil && o.Subresource != "" {
		return nil, apierrors.NewNotFound(k.resource, key.Name)
	}
	in, err := s.merged(k, r, data, o)
	if err != nil {
		return nil, err
	}
	if in.GetNamespace() == "" && k.namespaced {
		in.SetNamespace(key.Namespace)
	}
	if err := checkIdentity(in, key); err != nil {
		return nil, err
	}
	k.normalise(in)
	if in, err = k.decode(in); err != nil {
		return nil, err
	}
	if r != nil {
		return s.finishUpdate(k, r, in, o)
	}
	k.wipe(in)
	return s.finishCreate(k, in, o)
}

// readApply reads an apply configuration, JSON or YAML.
func readApply(data []byte) (*unstructured.Unstructured, error) {
	raw, err := yaml.YAMLToJSON(data)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	out := &unstructured.Unstructured{Object: map[string]any{}}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &out.Object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	return out, nil
}

// merged asks the field manager for the object that an apply makes of a stored one, or
// of none.
func (s *Server) merged(k *kind, r *record, data []byte, o WriteOptions) (client.Object, error) {
	patch, err := readApply(data)
	if err != nil {
		return nil, err
	}
	live := k.zero
	if r != nil {
		live = r.object
	}
	manager, err := s.fieldManager(k, o.Subresource)
	if err != nil {
		return nil, err
	}
	past := newPast(objectMeta(live).ManagedFields)
	before := k.withGVK(live)
	objectMeta(before).ManagedFields = past.of(objectMeta(live).ManagedFields)
	out, err := manager.Apply(before, patch, o.Manager, o.Force)
	if err != nil {
		if status := apierrors.APIStatus(nil); errors.As(err, &status) {
			return nil, err // a conflict, or a bad request
		}
		return nil, serverError(err.Error())
	}
	in := out.(client.Object)
	m := objectMeta(in)
	m.ManagedFields = past.present(m.ManagedFields, s.stamp())
	if r == nil && m.UID != "" {
		return nil, apierrors.NewConflict(k.resource, m.Name, fmt.Errorf(
			"uid mismatch: the provided object specified uid %s, and no existing object was found", m.UID))
	}
	return in, nil
}
