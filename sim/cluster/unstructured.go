package cluster

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Serves reports whether the server has a kind, in that version.
func (s *Server) Serves(gvk schema.GroupVersionKind) bool {
	served, err := s.servedVersion(gvk.GroupKind())
	return err == nil && served == gvk
}

// HasStatus reports whether a kind is a custom one whose status can be written by an
// endpoint of its own alone.
func (s *Server) HasStatus(gvk schema.GroupVersionKind) bool {
	k, err := s.kindFor(gvk.GroupKind())
	return err == nil && k.crd != nil && k.hasStatus
}

// Unstructured is a stored object as one without a Go type, private to the caller.
func (s *Server) Unstructured(obj client.Object) (*unstructured.Unstructured, error) {
	k, err := s.kindOf(obj)
	if err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(k.withGVK(obj))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", k.gk.Kind, client.ObjectKeyFromObject(obj), err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// getUnstructured reads an object whose kind is named by itself.
func (c *apiClient) getUnstructured(key client.ObjectKey, into *unstructured.Unstructured) error {
	gvk := into.GroupVersionKind()
	if !c.server.Serves(gvk) {
		return &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
	}
	k, err := c.server.kindFor(gvk.GroupKind())
	if err != nil {
		return err
	}
	r := k.records[key]
	if r == nil {
		return apierrors.NewNotFound(k.resource, key.Name)
	}
	out, err := c.server.Unstructured(r.object)
	if err != nil {
		return err
	}
	into.Object = out.Object
	return nil
}
