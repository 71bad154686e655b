package cluster

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kind is all the server knows and holds of one kind. One version of a kind is
// served: the CRD's storage version, else v1, else the scheme's preferred one.
type kind struct {
	gk         schema.GroupKind
	gvk        schema.GroupVersionKind
	resource   schema.GroupResource
	namespaced bool
	goType     reflect.Type // the struct, not the pointer
	spec       int          // index of the field Spec, -1 without
	status     int          // index of the field Status, -1 without
	hasStatus  bool         // a status subresource exists
	tracked    bool         // managedFields are kept
	logged     bool         // At answers
	rules      *rules
	crd        *crd          // nil for built-in kinds
	zero       client.Object // an empty object, never changed
	times      *timePlan
	body       []bodyField
	digests    []bodyDigest                           // set for a custom resource with Options.Fast
	sameStatus equalFunc                              // set when hasStatus
	managers   map[string]*managedfields.FieldManager // by subresource

	records map[types.NamespacedName]*record
	order   []*record
	history map[types.NamespacedName][]version
}

// clusterScoped lists the built-in kinds that live outside of namespaces.
var clusterScoped = map[schema.GroupKind]bool{
	{Kind: "Namespace"}:        true,
	{Kind: "Node"}:             true,
	{Kind: "PersistentVolume"}: true,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:                       true,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}:                true,
	{Group: "storage.k8s.io", Kind: "StorageClass"}:                                 true,
	{Group: "storage.k8s.io", Kind: "CSIDriver"}:                                    true,
	{Group: "storage.k8s.io", Kind: "CSINode"}:                                      true,
	{Group: "storage.k8s.io", Kind: "VolumeAttachment"}:                             true,
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:                             true,
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:                                    true,
	{Group: "networking.k8s.io", Kind: "IngressClass"}:                              true,
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:               true,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}:      true,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}: true,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:   true,
}

// builtIn tells the API server's own groups from those of custom resources.
func builtIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// kindFor finds a kind by its name, loading it at first use.
func (s *Server) kindFor(gk schema.GroupKind) (*kind, error) {
	if k := s.kinds[gk]; k != nil {
		return k, nil
	}
	if known, ok := s.blanks.Load(gk); ok {
		return s.load(known.(*kind).fork()), nil
	}
	gvk, err := s.servedVersion(gk)
	if err != nil {
		return nil, err
	}
	goType, ok := s.scheme.KnownTypes(gvk.GroupVersion())[gvk.Kind]
	if !ok {
		return nil, fmt.Errorf("no Go type for %s in the scheme", gvk)
	}
	if _, ok := reflect.TypeAssert[client.Object](reflect.New(goType)); !ok {
		return nil, fmt.Errorf("%s has no metadata", gvk)
	}
	k := s.newKind(gvk, goType)
	s.blanks.Store(gk, k.fork())
	return s.load(k), nil
}

// load begins to keep objects of a kind.
func (s *Server) load(k *kind) *kind {
	s.kinds[k.gk], s.byType[k.goType] = k, k
	return k
}

// kindOf finds the kind of an object by its Go type.
func (s *Server) kindOf(obj runtime.Object) (*kind, error) {
	goType := reflect.TypeOf(obj)
	if goType == nil || goType.Kind() != reflect.Pointer {
		return nil, fmt.Errorf("%T is not a pointer to an object", obj)
	}
	if k := s.byType[goType.Elem()]; k != nil {
		return k, nil
	}
	switch obj.(type) {
	case runtime.Unstructured:
		return nil, fmt.Errorf("unstructured objects are not supported by the simulated API server: use the Go type")
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return nil, fmt.Errorf("metadata-only objects are not supported by the simulated API server: use the Go type")
	}
	gvks, _, err := s.scheme.ObjectKinds(obj)
	if err != nil {
		return nil, err
	}
	k, err := s.kindFor(gvks[0].GroupKind())
	if err != nil {
		return nil, err
	}
	if k.goType != goType.Elem() {
		return nil, fmt.Errorf("%T: the simulated API server serves %s only", obj, k.gvk)
	}
	return k, nil
}

// servedVersion picks the one version of a kind that the server speaks.
func (s *Server) servedVersion(gk schema.GroupKind) (schema.GroupVersionKind, error) {
	if c := s.crds[gk]; c != nil {
		return c.gvk, nil
	}
	versions := s.scheme.VersionsForGroupKind(gk)
	if len(versions) == 0 {
		return schema.GroupVersionKind{}, runtime.NewNotRegisteredGVKErrForTarget(s.scheme.Name(), gk.WithVersion(""), schema.GroupVersion{Group: gk.Group})
	}
	for _, gv := range versions {
		if gv.Version == "v1" {
			return gv.WithKind(gk.Kind), nil
		}
	}
	return versions[0].WithKind(gk.Kind), nil
}

// newKind describes a kind by its type, its CRD or the rules of the built-in kinds.
func (s *Server) newKind(gvk schema.GroupVersionKind, goType reflect.Type) *kind {
	gk := gvk.GroupKind()
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	k := &kind{
		gk: gk, gvk: gvk, goType: goType,
		resource:   plural.GroupResource(),
		namespaced: !clusterScoped[gk],
		spec:       fieldIndex(goType, "Spec"),
		status:     fieldIndex(goType, "Status"),
		tracked:    trackedKinds[gk] || slices.Contains(s.opts.Tracked, gk),
		logged:     loggedKinds[gk] || slices.Contains(s.opts.Logged, gk),
		rules:      rulesFor(gk),
		crd:        s.crds[gk],
		times:      planTimes(goType),
		records:    map[types.NamespacedName]*record{},
		history:    map[types.NamespacedName][]version{},
		managers:   map[string]*managedfields.FieldManager{},
	}
	k.zero = k.empty()
	k.hasStatus = k.status >= 0 && builtIn(gk.Group)
	if k.crd != nil {
		k.resource = schema.GroupResource{Group: gk.Group, Resource: k.crd.plural}
		k.namespaced = k.crd.namespaced
		k.hasStatus = k.crd.hasStatus && k.status >= 0
	}
	if k.hasStatus {
		k.sameStatus = equalOf(goType.Field(k.status).Type)
	}
	k.body = k.bodyFields()
	if k.crd != nil && s.opts.Fast {
		k.digests = bodyDigests(goType)
	}
	return k
}

// loggedKinds are those whose past the kubelet's cache may show.
var loggedKinds = map[schema.GroupKind]bool{{Kind: "Secret"}: true, {Kind: "ConfigMap"}: true}

// fieldIndex returns the index of a direct struct field, -1 without one.
func fieldIndex(t reflect.Type, name string) int {
	f, ok := t.FieldByName(name)
	if !ok || len(f.Index) != 1 {
		return -1
	}
	return f.Index[0]
}

// shallow copies the struct and shares what it points to.
func (k *kind) shallow(obj client.Object) client.Object {
	out := reflect.New(k.goType)
	out.Elem().Set(reflect.ValueOf(obj).Elem())
	return out.Interface().(client.Object)
}

// empty makes a zero object of the kind.
func (k *kind) empty() client.Object { return reflect.New(k.goType).Interface().(client.Object) }

// withGVK returns a shallow copy that carries apiVersion and kind, for JSON.
func (k *kind) withGVK(obj client.Object) client.Object {
	out := k.shallow(obj)
	out.GetObjectKind().SetGroupVersionKind(k.gvk)
	return out
}

// sortedKinds lists the loaded kinds by name, so that nothing depends on map order.
func (s *Server) sortedKinds() []*kind {
	out := make([]*kind, 0, len(s.kinds))
	for _, k := range s.kinds {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b *kind) int { return strings.Compare(a.gk.String(), b.gk.String()) })
	return out
}

// objectMeta returns the metadata struct of a typed object.
func objectMeta(obj client.Object) *metav1.ObjectMeta {
	if a, ok := obj.(metav1.ObjectMetaAccessor); ok {
		if m, ok := a.GetObjectMeta().(*metav1.ObjectMeta); ok {
			return m
		}
	}
	panic(fmt.Sprintf("%T has no metav1.ObjectMeta", obj))
}
