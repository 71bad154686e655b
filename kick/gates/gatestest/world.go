// Package gatestest is the contract that every provider of package gates keeps, and the
// small world it is tried in. It is test code.
package gatestest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/corewire/kick/kick/gates"
)

// World is a cluster that holds plain objects. Its zero value is empty.
type World struct {
	// Strips and Indexes make its cache: by kind, and by name of the index.
	Strips  map[string]func(client.Object)
	Indexes map[string]func(client.Object) []string
	// Missing kinds are not served, Forbidden ones may not be read.
	Missing, Forbidden map[string]bool
	// Broken, if set, is what every read ends in.
	Broken error

	objects []*unstructured.Unstructured
}

// Add puts the objects of a YAML stream into the world.
func (w *World) Add(documents string) {
	for document := range strings.SplitSeq(documents, "\n---\n") {
		var u unstructured.Unstructured
		raw, err := yaml.YAMLToJSON([]byte(document))
		if err == nil {
			err = u.UnmarshalJSON(raw)
		}
		if err != nil {
			panic(fmt.Sprintf("%v in\n%s", err, document))
		}
		w.objects = append(w.objects, &u)
	}
}

// Object is the object that "Kind namespace/name" names.
func (w *World) Object(id string) map[string]any {
	for _, o := range w.objects {
		if idOf(o) == id {
			return o.Object
		}
	}
	panic("no " + id)
}

// Set changes one field of an object; a nil value removes it. Keys are separated by
// blanks, since those of annotations hold dots and slashes.
func (w *World) Set(id, path string, value any) {
	object := w.Object(id)
	keys := strings.Fields(path)
	if value == nil {
		unstructured.RemoveNestedField(object, keys...)
		return
	}
	at := object
	for _, key := range keys[:len(keys)-1] {
		next, ok := at[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[key] = next
		}
		at = next
	}
	at[keys[len(keys)-1]] = value
}

// Remove takes an object away.
func (w *World) Remove(id string) {
	w.objects = slices.DeleteFunc(w.objects, func(o *unstructured.Unstructured) bool { return idOf(o) == id })
}

// Copy is an equal world that shares nothing.
func (w *World) Copy() *World {
	c := *w
	c.Missing, c.Forbidden = maps.Clone(w.Missing), maps.Clone(w.Forbidden)
	c.objects = nil
	for _, o := range w.objects {
		c.objects = append(c.objects, o.DeepCopy())
	}
	return &c
}

func idOf(o *unstructured.Unstructured) string {
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}

// Readers are the world as a provider reads it.
func (w *World) Readers() gates.Readers {
	return gates.Readers{Cache: &reader{w, true}, Live: &reader{w, false}}
}

// reader is one of the two ways to read.
type reader struct {
	world *World
	cache bool
}

func (r *reader) refuse(kind schema.GroupVersionKind, name string) error {
	resource := schema.GroupResource{Group: kind.Group, Resource: strings.ToLower(kind.Kind) + "s"}
	switch {
	case r.world.Missing[kind.Kind]:
		return &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
	case r.world.Forbidden[kind.Kind] && !r.cache:
		return apierrors.NewForbidden(resource, name, fmt.Errorf("no role"))
	}
	return r.world.Broken
}

// seen is the object as this way of reading shows it.
func (r *reader) seen(o *unstructured.Unstructured) *unstructured.Unstructured {
	o = o.DeepCopy()
	if strip := r.world.Strips[o.GetKind()]; r.cache && strip != nil {
		strip(o)
	}
	return o
}

// Get reads one object.
func (r *reader) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	kind := into.GetObjectKind().GroupVersionKind()
	if wrong := content.IsPathSegmentName(key.Namespace + key.Name); len(wrong) > 0 || key.Name == "" {
		return fmt.Errorf("a client asks nobody for the name %q", key.Name)
	}
	if err := r.refuse(kind, key.Name); err != nil {
		return err
	}
	for _, o := range r.world.objects {
		if o.GroupVersionKind() == kind && o.GetNamespace() == key.Namespace && o.GetName() == key.Name {
			into.(*unstructured.Unstructured).Object = r.seen(o).Object
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: strings.ToLower(kind.Kind) + "s"}, key.Name)
}

// List reads the objects of a kind, in a namespace or by an index.
func (r *reader) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	list := into.(*unstructured.UnstructuredList)
	kind := list.GroupVersionKind()
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	if err := r.refuse(kind, ""); err != nil {
		return err
	}
	var o client.ListOptions
	o.ApplyOptions(options)
	for _, object := range r.world.objects {
		seen := r.seen(object)
		if seen.GroupVersionKind() != kind || o.Namespace != "" && seen.GetNamespace() != o.Namespace {
			continue
		}
		if o.FieldSelector != nil {
			index := o.FieldSelector.Requirements()[0]
			values := r.world.Indexes[index.Field]
			if values == nil || !r.cache {
				return fmt.Errorf("no index %s", index.Field)
			}
			if !slices.Contains(values(seen), index.Value) {
				continue
			}
		}
		list.Items = append(list.Items, *seen)
	}
	return nil
}

var _ client.Reader = (*reader)(nil)
