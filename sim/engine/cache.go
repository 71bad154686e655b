package engine

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/sim/cluster"
)

// cache is what one process has seen of the cluster. It hands out its objects
// without copying them, as the operator's cache does: whoever changes one breaks
// the next reader, here as there.
type cache struct {
	kinds  map[typeKey]*store // by the type of the object
	lists  map[typeKey]*store // by the type of its list
	byKind map[schema.GroupKind]*store
	order  []*store
}

var _ client.Reader = (*cache)(nil)

// typeKey tells kinds apart: by the Go type of an object or, where it has none of its
// own, by the kind that it names.
type typeKey struct {
	goType reflect.Type
	gvk    schema.GroupVersionKind
}

func keyOf(obj runtime.Object) typeKey {
	key := typeKey{goType: reflect.TypeOf(obj)}
	if _, loose := obj.(runtime.Unstructured); loose {
		key.gvk = obj.GetObjectKind().GroupVersionKind()
	}
	return key
}

// emptyList makes an empty list of a kind.
func emptyList(obj client.Object, gvk schema.GroupVersionKind, scheme *runtime.Scheme) (runtime.Object, error) {
	gvk.Kind += "List"
	if _, loose := obj.(runtime.Unstructured); loose {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		return list, nil
	}
	return scheme.New(gvk)
}

// store holds the objects of one kind.
type store struct {
	gvk       schema.GroupVersionKind
	kind      schema.GroupKind
	transform controllers.Transform
	loose     func(client.Object) client.Object // nil: the cache keeps Go types
	indexes   []controllers.Index
	objects   map[types.NamespacedName]client.Object
	keys      []types.NamespacedName            // sorted
	index     map[string][]types.NamespacedName // index name and value -> sorted keys
}

// newCache prepares an empty store for every kind of the wiring.
func newCache(w controllers.Wiring, scheme *runtime.Scheme, server *cluster.Server) (*cache, error) {
	c := &cache{kinds: map[typeKey]*store{}, lists: map[typeKey]*store{}, byKind: map[schema.GroupKind]*store{}}
	for _, t := range w.Transforms {
		gvk, err := apiutil.GVKForObject(t.Object, scheme)
		if err != nil {
			return nil, err
		}
		s := &store{gvk: gvk, kind: gvk.GroupKind(), transform: t}
		if _, loose := t.Object.(runtime.Unstructured); loose {
			s.loose = untyped(server)
		}
		s.reset()
		list, err := emptyList(t.Object, gvk, scheme)
		if err != nil {
			return nil, err
		}
		c.kinds[keyOf(t.Object)], c.lists[keyOf(list)], c.byKind[s.kind] = s, s, s
		c.order = append(c.order, s)
	}
	for _, i := range w.Indexes {
		s := c.kinds[keyOf(i.Object)]
		if s == nil {
			return nil, fmt.Errorf("index %s on %T, which is not cached", i.Name, i.Object)
		}
		s.indexes = append(s.indexes, i)
	}
	return c, nil
}

// untyped takes the Go type from an object of the server.
func untyped(server *cluster.Server) func(client.Object) client.Object {
	return func(obj client.Object) client.Object {
		u, err := server.Unstructured(obj)
		if err != nil {
			panic(err.Error()) // a stored object always converts
		}
		return u
	}
}

func (s *store) reset() {
	s.objects, s.keys = map[types.NamespacedName]client.Object{}, nil
	s.index = map[string][]types.NamespacedName{}
}

// shrink is the object as the cache keeps it.
func (s *store) shrink(obj client.Object) client.Object {
	var small client.Object
	if s.loose != nil {
		small = s.loose(obj)
	} else {
		small = shallow(obj)
	}
	s.transform.Apply(small)
	return small
}

// shallow copies the struct and shares what it refers to.
func shallow(obj client.Object) client.Object {
	v := reflect.New(reflect.TypeOf(obj).Elem())
	v.Elem().Set(reflect.ValueOf(obj).Elem())
	return v.Interface().(client.Object)
}

// put stores the new state (nil: gone) and returns the one before.
func (s *store) put(key types.NamespacedName, obj client.Object) (old client.Object) {
	old = s.objects[key]
	if old != nil {
		s.unindex(key, old)
	}
	if obj == nil {
		delete(s.objects, key)
		s.keys = remove(s.keys, key)
		return old
	}
	if old == nil {
		s.keys = insert(s.keys, key)
	}
	s.objects[key] = obj
	for _, i := range s.indexes {
		for _, value := range i.Values(obj) {
			s.index[i.Name+"="+value] = insert(s.index[i.Name+"="+value], key)
		}
	}
	return old
}

func (s *store) unindex(key types.NamespacedName, obj client.Object) {
	for _, i := range s.indexes {
		for _, value := range i.Values(obj) {
			s.index[i.Name+"="+value] = remove(s.index[i.Name+"="+value], key)
		}
	}
}

func compare(a, b types.NamespacedName) int {
	if n := strings.Compare(a.Namespace, b.Namespace); n != 0 {
		return n
	}
	return strings.Compare(a.Name, b.Name)
}

func insert(keys []types.NamespacedName, key types.NamespacedName) []types.NamespacedName {
	at, found := slices.BinarySearchFunc(keys, key, compare)
	if found {
		return keys
	}
	return slices.Insert(keys, at, key)
}

func remove(keys []types.NamespacedName, key types.NamespacedName) []types.NamespacedName {
	at, found := slices.BinarySearchFunc(keys, key, compare)
	if !found {
		return keys
	}
	return slices.Delete(keys, at, at+1)
}

// Get copies the cached struct into obj.
func (c *cache) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	s := c.kinds[keyOf(obj)]
	if s == nil {
		return fmt.Errorf("%T is not cached", obj)
	}
	found := s.objects[key]
	if found == nil {
		return apierrors.NewNotFound(schema.GroupResource{Group: s.kind.Group, Resource: s.kind.Kind}, key.Name)
	}
	reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(found).Elem())
	return nil
}

// List copies the matching structs into the list, by namespace and name.
func (c *cache) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	s := c.lists[keyOf(list)]
	if s == nil {
		return fmt.Errorf("%T is not cached", list)
	}
	var o client.ListOptions
	o.ApplyOptions(opts)
	keys, err := s.candidates(&o)
	if err != nil {
		return err
	}
	found := make([]reflect.Value, 0, len(keys))
	for _, key := range keys {
		obj := s.objects[key]
		if o.LabelSelector == nil || o.LabelSelector.Matches(labels.Set(obj.GetLabels())) {
			found = append(found, reflect.ValueOf(obj).Elem())
		}
	}
	items := reflect.ValueOf(list).Elem().FieldByName("Items")
	out := reflect.MakeSlice(items.Type(), len(found), len(found)) // objects are large: room for these only
	for i, obj := range found {
		out.Index(i).Set(obj)
	}
	items.Set(out)
	return nil
}

// candidates narrows by field index and namespace.
func (s *store) candidates(o *client.ListOptions) ([]types.NamespacedName, error) {
	keys := s.keys
	if o.FieldSelector != nil && !o.FieldSelector.Empty() {
		requirements := o.FieldSelector.Requirements()
		if len(requirements) != 1 {
			return nil, fmt.Errorf("the cache looks up one index at a time, not %q", o.FieldSelector)
		}
		if !slices.ContainsFunc(s.indexes, func(i controllers.Index) bool { return i.Name == requirements[0].Field }) {
			return nil, fmt.Errorf("index with name %s does not exist for %s", requirements[0].Field, s.kind)
		}
		keys = s.index[requirements[0].Field+"="+requirements[0].Value]
	}
	if o.Namespace == "" {
		return keys, nil
	}
	from, _ := slices.BinarySearchFunc(keys, types.NamespacedName{Namespace: o.Namespace}, compare)
	to, _ := slices.BinarySearchFunc(keys, types.NamespacedName{Namespace: o.Namespace + "\x00"}, compare)
	return keys[from:to], nil
}

// storeOf is the store of an object's kind.
func (c *cache) storeOf(obj client.Object) (*store, error) {
	s := c.kinds[keyOf(obj)]
	if s == nil {
		return nil, fmt.Errorf("a controller watches %T, which is not cached", obj)
	}
	return s, nil
}
