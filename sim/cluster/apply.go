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
	in, err := s.mergedOrRecalled(k, key, r, data, &o)
	if err != nil {
		return nil, err
	}
	if err := k.checkIdentity(in, key); err != nil {
		return nil, err
	}
	k.normalise(in)
	var old client.Object
	if r != nil {
		old = r.object
	}
	if in, err = k.decodePatched(in, old, &o); err != nil {
		return nil, err
	}
	if r != nil {
		return s.finishUpdate(k, r, in, o)
	}
	k.wipe(in)
	if !o.DryRun {
		in.SetResourceVersion("") // not looked at
	}
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

// mergedOrRecalled is merged, with Options.Fast from memory where possible.
func (s *Server) mergedOrRecalled(k *kind, key types.NamespacedName, r *record, data []byte, o *WriteOptions) (client.Object, error) {
	live := k.zero
	if r != nil {
		live = r.object
	}
	request := applyRequest{k: k, key: key, live: live, past: newPast(objectMeta(live).ManagedFields), data: data}
	var known *sourceApply
	if s.opts.Fast && k.logged && o.Subresource == "" {
		known = request.takeApart(*o)
	}
	if known != nil {
		if in, ok := known.recall(k, key); ok {
			objectMeta(in).ManagedFields = request.past.present(in.GetManagedFields(), s.stamp())
			return in, nil
		}
	}
	in, err := s.merged(request, o)
	if err != nil {
		return nil, err
	}
	if known != nil {
		known.learn(in)
	}
	m := objectMeta(in)
	m.ManagedFields = request.past.present(m.ManagedFields, s.stamp())
	return in, nil
}

// merged asks the field manager for the object that an apply makes of a stored one, or
// of none. Its owners carry ranks for times.
func (s *Server) merged(r applyRequest, o *WriteOptions) (client.Object, error) {
	k, there := r.k, r.live.GetUID() != ""
	patch, err := readApply(r.data)
	if err != nil {
		return nil, err
	}
	manager, err := s.fieldManager(k, o.Subresource)
	if err != nil {
		return nil, err
	}
	before := k.managed(r.live, there)
	before.SetManagedFields(r.past.of(objectMeta(r.live).ManagedFields))
	out, err := manager.Apply(before, patch, o.Manager, o.Force)
	if err != nil {
		if status := apierrors.APIStatus(nil); errors.As(err, &status) {
			return nil, err // a conflict, or a bad request
		}
		return nil, serverError(err.Error())
	}
	in, ok := out.(client.Object)
	if k.crd != nil && ok {
		in, o.content, err = k.loose(out.(*unstructured.Unstructured).Object)
	}
	if err != nil {
		return nil, serverError(err.Error())
	}
	if m := objectMeta(in); !there && m.UID != "" {
		return nil, apierrors.NewConflict(k.resource, m.Name, fmt.Errorf(
			"uid mismatch: the provided object specified uid %s, and no existing object was found", m.UID))
	}
	return in, nil
}
