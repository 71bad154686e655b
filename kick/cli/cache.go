package cli

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/corewire/kick/kick/controllers"
)

// cache reads each kind of a namespace once and holds it as the operator's caches would:
// without the values of Secrets and ConfigMaps, found by the same indexes.
type cache struct {
	live     client.Reader
	scheme   *runtime.Scheme
	strip    map[schema.GroupVersionKind]func(client.Object)
	indexes  map[schema.GroupVersionKind]map[string]func(client.Object) []string
	read     map[place][]client.Object
	supposed []client.Object // stand in the place of what is there, or beside it
	view     string          // what is read of a kind that may not be read in all namespaces; "" is nothing
	narrowed func(error)     // is told of that, and why
}

var _ client.Reader = (*cache)(nil)

// place is all objects of a kind in a namespace; "" is every namespace.
type place struct {
	kind      schema.GroupVersionKind
	namespace string
}

func newCache(live client.Reader, scheme *runtime.Scheme, transforms []controllers.Transform, indexes []controllers.Index) (*cache, error) {
	c := &cache{
		live: live, scheme: scheme, read: map[place][]client.Object{},
		strip:   map[schema.GroupVersionKind]func(client.Object){},
		indexes: map[schema.GroupVersionKind]map[string]func(client.Object) []string{}, narrowed: func(error) {},
	}
	return c, c.learn(transforms, indexes)
}

// learn adds kinds, and ways to find objects.
func (c *cache) learn(transforms []controllers.Transform, indexes []controllers.Index) error {
	for _, t := range transforms {
		gvk, err := apiutil.GVKForObject(t.Object, c.scheme)
		if err != nil {
			return err
		}
		c.strip[gvk], c.indexes[gvk] = t.Apply, map[string]func(client.Object) []string{}
	}
	for _, i := range indexes {
		gvk, err := apiutil.GVKForObject(i.Object, c.scheme)
		if err != nil {
			return err
		}
		c.indexes[gvk][i.Name] = i.Values
	}
	return nil
}

// suppose lets an object stand in the cache without being in the cluster.
func (c *cache) suppose(obj client.Object) {
	c.supposed = append(c.supposed, obj)
	c.read = map[place][]client.Object{}
}

// objects are those of a place.
func (c *cache) objects(ctx context.Context, at place) ([]client.Object, error) {
	if known, ok := c.read[at]; ok {
		return known, nil
	}
	list, err := c.fetch(ctx, at)
	if err != nil {
		return nil, err
	}
	found, err := c.supposedOf(at)
	if err != nil {
		return nil, err
	}
	known := map[client.ObjectKey]bool{}
	for _, obj := range found {
		known[client.ObjectKeyFromObject(obj)] = true
	}
	err = meta.EachListItem(list, func(o runtime.Object) error {
		if obj, ok := o.(client.Object); ok && !known[client.ObjectKeyFromObject(obj)] {
			if strip := c.strip[at.kind]; strip != nil {
				strip(obj)
			}
			found = append(found, obj)
		}
		return nil
	})
	c.read[at] = found
	return found, err
}

// fetch reads a place. All namespaces are looked at for restarts that count against a limit;
// whoever may not do that is told about the namespace in view by what he may see.
func (c *cache) fetch(ctx context.Context, at place) (client.ObjectList, error) {
	list, err := c.list(at.kind)
	if err != nil {
		return nil, err
	}
	err = c.live.List(ctx, list, client.InNamespace(at.namespace))
	if at.namespace == "" && c.view != "" && apierrors.IsForbidden(err) {
		c.narrowed(err)
		err = c.live.List(ctx, list, client.InNamespace(c.view))
	}
	return list, err
}

// list is an empty list of a kind. The kinds of GitOps tools are in no scheme.
func (c *cache) list(kind schema.GroupVersionKind) (client.ObjectList, error) {
	kind.Kind += "List"
	if !c.scheme.Recognizes(kind) {
		foreign := &unstructured.UnstructuredList{}
		foreign.SetGroupVersionKind(kind)
		return foreign, nil
	}
	list, err := c.scheme.New(kind)
	if err != nil {
		return nil, err
	}
	return list.(client.ObjectList), nil
}

func (c *cache) supposedOf(at place) (found []client.Object, err error) {
	for _, obj := range c.supposed {
		gvk, err := apiutil.GVKForObject(obj, c.scheme)
		if err != nil {
			return nil, err
		}
		if gvk == at.kind && (at.namespace == "" || at.namespace == obj.GetNamespace()) {
			found = append(found, obj)
		}
	}
	return found, nil
}

// Get copies an object out of the list of its namespace.
func (c *cache) Get(ctx context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	gvk, err := apiutil.GVKForObject(obj, c.scheme)
	if err != nil {
		return err
	}
	all, err := c.objects(ctx, place{gvk, key.Namespace})
	if err != nil {
		return err
	}
	for _, found := range all {
		if found.GetName() == key.Name {
			reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(found).Elem())
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
}

// List filters by label and by index.
func (c *cache) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	gvk, err := apiutil.GVKForObject(list, c.scheme)
	if err != nil {
		return err
	}
	gvk.Kind = gvk.Kind[:len(gvk.Kind)-len("List")]
	var o client.ListOptions
	o.ApplyOptions(opts)
	keep, err := c.filter(gvk, &o)
	if err != nil {
		return err
	}
	all, err := c.objects(ctx, place{gvk, o.Namespace})
	if err != nil {
		return err
	}
	var kept []runtime.Object
	for _, obj := range all {
		if keep(obj) {
			kept = append(kept, obj)
		}
	}
	return meta.SetList(list, kept)
}

func (c *cache) filter(gvk schema.GroupVersionKind, o *client.ListOptions) (func(client.Object) bool, error) {
	selects := func(obj client.Object) bool {
		return o.LabelSelector == nil || o.LabelSelector.Matches(labels.Set(obj.GetLabels()))
	}
	if o.FieldSelector == nil || o.FieldSelector.Empty() {
		return selects, nil
	}
	want := o.FieldSelector.Requirements()[0]
	values := c.indexes[gvk][want.Field]
	if values == nil {
		return nil, fmt.Errorf("no index %s of %s", want.Field, gvk.Kind)
	}
	return func(obj client.Object) bool {
		return slices.Contains(values(obj), want.Value) && selects(obj)
	}, nil
}
