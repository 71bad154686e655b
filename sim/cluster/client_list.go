package cluster

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// List implements client.Client. The items come in the order of etcd's keys.
func (c *apiClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	options := (&client.ListOptions{}).ApplyOptions(opts)
	if options.Continue != "" {
		return fmt.Errorf("list %T: Continue is not supported by the simulated API server", list)
	}
	k, err := c.server.kindOfList(list)
	if err != nil {
		return err
	}
	if err := k.checkFieldSelector(options.FieldSelector); err != nil {
		return err
	}
	found := k.selected(options)
	rest := int64(0)
	if options.Limit > 0 && int64(len(found)) > options.Limit {
		rest = int64(len(found)) - options.Limit
		found = found[:options.Limit]
	}
	if err := setItems(list, found); err != nil {
		return err
	}
	list.SetResourceVersion(strconv.FormatInt(c.server.revision, 10))
	list.SetContinue("")
	list.SetRemainingItemCount(nil)
	if rest > 0 {
		list.SetContinue("unsupported")
		list.SetRemainingItemCount(&rest)
	}
	return nil
}

// kindOfList finds the kind that a list type lists.
func (s *Server) kindOfList(list client.ObjectList) (*kind, error) {
	goType := reflect.TypeOf(list).Elem()
	if k := s.byType[goType]; k != nil {
		return k, nil
	}
	gvks, _, err := s.scheme.ObjectKinds(list)
	if err != nil {
		return nil, fmt.Errorf("list %T: %w", list, err)
	}
	gk := schema.GroupKind{Group: gvks[0].Group, Kind: strings.TrimSuffix(gvks[0].Kind, "List")}
	k, err := s.kindFor(gk)
	if err != nil {
		return nil, err
	}
	s.byType[goType] = k
	return k, nil
}

// selected returns the records that the selectors match.
func (k *kind) selected(options *client.ListOptions) []*record {
	span := k.span(options.Namespace)
	byLabel, byField := options.LabelSelector, options.FieldSelector
	if (byLabel == nil || byLabel.Empty()) && (byField == nil || byField.Empty()) {
		return span
	}
	var out []*record
	for _, r := range span {
		if byLabel != nil && !byLabel.Matches(labels.Set(r.object.GetLabels())) {
			continue
		}
		if byField != nil && !byField.Matches(k.selectableFields(r.object)) {
			continue
		}
		out = append(out, r)
	}
	return out
}

// selectableFields are the fields of an object that a field selector may name.
func (k *kind) selectableFields(obj client.Object) fields.Set {
	set := fields.Set{"metadata.name": obj.GetName(), "metadata.namespace": obj.GetNamespace()}
	switch o := obj.(type) {
	case *corev1.Pod:
		set["spec.nodeName"] = o.Spec.NodeName
		set["status.phase"] = string(o.Status.Phase)
	case *corev1.Secret:
		set["type"] = string(o.Type)
	case *corev1.Namespace:
		delete(set, "metadata.namespace")
		set["name"], set["status.phase"] = o.Name, string(o.Status.Phase)
	case *appsv1.ReplicaSet:
		set["status.replicas"] = strconv.Itoa(int(o.Status.Replicas))
	}
	if k.crd != nil {
		k.crd.selectableFields(set, k.crd.content(k, obj))
	}
	return set
}

// selectableFields adds those that the CRD declares.
func (c *crd) selectableFields(set fields.Set, content map[string]any) {
	for _, path := range c.selectable {
		value, _, err := unstructured.NestedString(content, strings.Split(path, ".")...)
		if err == nil {
			set[path] = value
		}
	}
}

// checkFieldSelector refuses a field that this kind does not index.
func (k *kind) checkFieldSelector(selector fields.Selector) error {
	if selector == nil || selector.Empty() {
		return nil
	}
	known := k.selectableFields(k.empty())
	for _, r := range selector.Requirements() {
		if !known.Has(r.Field) {
			return apierrors.NewBadRequest(fmt.Sprintf("field label not supported: %s", r.Field))
		}
	}
	return nil
}

// setItems fills a list with shallow copies, or with the shared pointers where the
// list type holds pointers.
func setItems(list client.ObjectList, found []*record) error {
	items := reflect.ValueOf(list).Elem().FieldByName("Items")
	if !items.IsValid() || items.Kind() != reflect.Slice {
		return fmt.Errorf("list %T: no slice named Items", list)
	}
	out := reflect.MakeSlice(items.Type(), len(found), len(found))
	for i, r := range found {
		v := reflect.ValueOf(r.object)
		if items.Type().Elem().Kind() != reflect.Pointer {
			v = v.Elem()
		}
		out.Index(i).Set(v)
	}
	items.Set(out)
	return nil
}

// RESTMapper maps the kinds of the scheme that the server can serve.
func (s *Server) RESTMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(s.scheme.PrioritizedVersionsAllGroups())
	for gvk, goType := range s.scheme.AllKnownTypes() {
		if _, ok := reflect.TypeAssert[client.Object](reflect.New(goType)); !ok {
			continue
		}
		k, err := s.kindFor(gvk.GroupKind())
		if err != nil || k.gvk != gvk {
			continue
		}
		scope := meta.RESTScopeNamespace
		if !k.namespaced {
			scope = meta.RESTScopeRoot
		}
		plural := gvk.GroupVersion().WithResource(k.resource.Resource)
		singular := gvk.GroupVersion().WithResource(strings.ToLower(gvk.Kind))
		mapper.AddSpecific(gvk, plural, singular, scope)
	}
	return mapper
}
