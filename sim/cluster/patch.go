package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"
)

// maxBody is the largest request body the API server reads.
const maxBody = 3 * 1024 * 1024

// Patch applies a JSON, merge, strategic-merge or apply patch. A resourceVersion in
// the patch is a precondition (409); without one the patch lands on whatever is
// stored. A wrong uid is 422.
func (s *Server) Patch(gk schema.GroupKind, key types.NamespacedName, pt types.PatchType, data []byte, o WriteOptions) (client.Object, error) { //nolint:cyclop // the server's checks, in its order
	k, err := s.kindFor(gk)
	if err != nil {
		return nil, err
	}
	if !k.namespaced {
		key.Namespace = ""
	}
	if len(data) > maxBody {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	r := k.records[key]
	if pt == types.ApplyPatchType {
		o.verb = "apply"
		return s.apply(k, key, r, data, o)
	}
	o.verb = "patch"
	switch {
	case pt == types.StrategicMergePatchType && !builtIn(k.gk.Group):
		return nil, unsupportedPatch
	case pt != types.StrategicMergePatchType && !json.Valid(data):
		return nil, apierrors.NewBadRequest("invalid JSON patch")
	}
	if r == nil {
		return nil, apierrors.NewNotFound(k.resource, key.Name)
	}
	if _, err := k.keptField(o.Subresource); err != nil {
		return nil, err
	}
	in, err := k.patched(r.object, pt, data, &o)
	if err != nil {
		return nil, err
	}
	if err := k.checkIdentity(in, key); err != nil {
		return nil, err
	}
	k.normalise(in)
	if in, err = k.decodePatched(in, r.object, &o); err != nil {
		return nil, err
	}
	s.trackUpdate(k, r.object, in, o)
	return s.finishUpdate(k, r, in, o)
}

// checkIdentity refuses a patch that renames or moves the object.
func (k *kind) checkIdentity(in client.Object, key types.NamespacedName) error {
	if in.GetNamespace() == "" || !k.namespaced {
		in.SetNamespace(key.Namespace)
	}
	if in.GetName() == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", key.Name))
	}
	if in.GetName() != key.Name {
		return apierrors.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s) does not match the name on the URL (%s)", in.GetName(), key.Name))
	}
	if in.GetNamespace() != key.Namespace {
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// patched returns the object that a patch makes of a stored one, private to the write.
func (k *kind) patched(old client.Object, pt types.PatchType, data []byte, o *WriteOptions) (client.Object, error) {
	if pt == types.MergePatchType && k.rules.mergeInPlace {
		if in := k.mergeInPlace(old, data); in != nil {
			return in, nil
		}
	}
	current, err := json.Marshal(k.withGVK(old))
	if err != nil {
		return nil, err
	}
	result, err := k.patchJSON(current, pt, data)
	if err != nil {
		return nil, err
	}
	if k.crd != nil {
		content := map[string]any{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(result, &content); err != nil {
			return nil, unreadable(result, err)
		}
		in, content, err := k.loose(content)
		if err != nil {
			return nil, unreadable(result, err)
		}
		o.content = content
		return in, nil
	}
	in := k.empty()
	if err := kjson.UnmarshalCaseSensitivePreserveInts(result, in); err != nil {
		return nil, unreadable(result, err)
	}
	return in, nil
}

// unreadable is the answer to a patch whose result is no object of the kind.
func unreadable(result []byte, err error) error {
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
		field.Invalid(field.NewPath("patch"), string(result), err.Error())})
}

// patchJSON applies a patch to the JSON of an object with the real server's libraries.
func (k *kind) patchJSON(current []byte, pt types.PatchType, data []byte) ([]byte, error) {
	switch pt { //nolint:exhaustive // apply is not a patch of JSON
	case types.JSONPatchType:
		patch, err := jsonpatch.DecodePatch(data)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		out, err := patch.Apply(current)
		if err != nil {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
		}
		return out, nil
	case types.MergePatchType:
		var object map[string]any
		if err := json.Unmarshal(data, &object); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
		}
		out, err := jsonpatch.MergePatch(current, data)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return out, nil
	case types.StrategicMergePatchType:
		out, err := strategicpatch.StrategicMergePatch(current, data, k.empty())
		return out, strategicError(err)
	}
	return nil, unsupportedPatch
}

// strategicError is the answer to a strategic merge patch that cannot be merged.
func strategicError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, mergepatch.ErrBadJSONDoc), errors.Is(err, mergepatch.ErrBadPatchFormatForPrimitiveList),
		errors.Is(err, mergepatch.ErrBadPatchFormatForRetainKeys), errors.Is(err, mergepatch.ErrBadPatchFormatForSetElementOrderList),
		errors.Is(err, mergepatch.ErrUnsupportedStrategicMergePatchFormat):
		return apierrors.NewBadRequest(err.Error())
	case errors.Is(err, mergepatch.ErrNoListOfLists):
		return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return serverError(err.Error())
}

// unsupportedPatch is the answer to a patch type that a kind does not take: custom
// resources have no merge keys for a strategic merge.
var unsupportedPatch = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
	Message: "the body of the request was in an unknown format - accepted media types include: " +
		"application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
}}

// mergeInPlace decodes a merge patch onto a copy of the object, which gives the same
// result as patching its JSON as long as the patch holds only objects and scalars:
// decoding merges structs and maps. It returns nil when the patch may hold a null or
// an array, or does not fit, and the long way must decide.
func (k *kind) mergeInPlace(old client.Object, data []byte) client.Object {
	if bytes.IndexByte(data, '[') >= 0 || bytes.Contains(data, []byte("null")) {
		return nil
	}
	// An IntOrString decoded over another keeps the other's half.
	if bytes.Contains(data, []byte(`"rollingUpdate"`)) {
		return nil
	}
	in := k.shallow(old)
	if k.hasStatus {
		if bytes.Contains(data, []byte(`"status"`)) {
			return nil
		}
		reflect.ValueOf(in).Elem().Field(k.status).SetZero()
	}
	in = in.DeepCopyObject().(client.Object)
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, in); err != nil {
		return nil
	}
	if k.hasStatus {
		k.keep(in, old, k.status)
	}
	return in
}
