package cluster

import (
	"sort"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// trackedKinds are those whose managedFields somebody reads: sources are dated by
// them, and a workload's restart stamp is attributed by them.
var trackedKinds = map[schema.GroupKind]bool{
	{Kind: "Secret"}:                     true,
	{Kind: "ConfigMap"}:                  true,
	{Group: "apps", Kind: "Deployment"}:  true,
	{Group: "apps", Kind: "StatefulSet"}: true,
	{Group: "apps", Kind: "DaemonSet"}:   true,
}

// pastYears moves recorded times out of the way of the library, which stamps
// time.Now: it sorts and merges by time, and virtual time may lie on either side of
// the real one. 400 Gregorian years are a whole number of days, so the way back is
// exact.
const pastYears = 400

// trackUpdate keeps in.managedFields as the API server's field manager would for a
// create, update or patch. Writes of untracked kinds, of the status subresource and
// of the control plane's own components leave what is recorded.
func (s *Server) trackUpdate(k *kind, live, in client.Object, o WriteOptions) {
	m := objectMeta(in)
	if !k.tracked || o.Subresource != "" || s.opts.Untracked(o.Manager) {
		m.ManagedFields = objectMeta(live).ManagedFields
		return
	}
	manager, err := s.fieldManager(k, "")
	if err != nil {
		panic(err) // the type has no schema: a mistake of the program
	}
	before := k.withGVK(live)
	objectMeta(before).ManagedFields = toPast(objectMeta(live).ManagedFields)
	m.ManagedFields = toPast(m.ManagedFields)
	in.GetObjectKind().SetGroupVersionKind(k.gvk)
	manager.UpdateNoErrors(before, in, o.Manager)
	in.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	m.ManagedFields = s.toPresent(m.ManagedFields)
}

// toPast copies entries with their times moved back; see pastYears.
func toPast(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	return moveTimes(entries, func(t metav1.Time) metav1.Time {
		return metav1.Time{Time: t.AddDate(-pastYears, 0, 0)}
	})
}

// toPresent undoes toPast, stamps the entries that the library touched with the API
// server's clock, and restores the order of entries, which depends on their times.
func (s *Server) toPresent(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	out := moveTimes(entries, func(t metav1.Time) metav1.Time {
		if back := t.AddDate(pastYears, 0, 0); t.Year() < 2000-pastYears/2 {
			return metav1.Time{Time: back}
		}
		return s.stamp()
	})
	sort.SliceStable(out, func(i, j int) bool { return entryLess(&out[i], &out[j]) })
	return out
}

// moveTimes copies entries, giving each its own time.
func moveTimes(entries []metav1.ManagedFieldsEntry, move func(metav1.Time) metav1.Time) []metav1.ManagedFieldsEntry {
	if entries == nil {
		return nil
	}
	out := make([]metav1.ManagedFieldsEntry, len(entries))
	for i, e := range entries {
		if e.Time != nil {
			t := move(*e.Time)
			e.Time = &t
		}
		out[i] = e
	}
	return out
}

// entryLess is the order in which the API server shows managedFields.
func entryLess(a, b *metav1.ManagedFieldsEntry) bool {
	if a.Operation != b.Operation {
		return a.Operation < b.Operation
	}
	if at, bt := seconds(a.Time), seconds(b.Time); at != bt {
		return at < bt
	}
	if a.Manager != b.Manager {
		return a.Manager < b.Manager
	}
	if a.APIVersion != b.APIVersion {
		return a.APIVersion < b.APIVersion
	}
	return a.Subresource < b.Subresource
}

func seconds(t *metav1.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}

// fieldManager returns the field manager of a kind's endpoint. It is made at first
// use: the schemas of all built-in kinds take some time to parse, once per process.
func (s *Server) fieldManager(k *kind, subresource string) (*managedfields.FieldManager, error) {
	if fm := k.managers[subresource]; fm != nil {
		return fm, nil
	}
	types, err := s.typeConverter(k)
	if err != nil {
		return nil, err
	}
	objects := converter{k}
	build := managedfields.NewDefaultFieldManager
	if !builtIn(k.gk.Group) {
		build = managedfields.NewDefaultCRDFieldManager
	}
	fm, err := build(types, objects, objects, objects, k.gvk, k.gvk.GroupVersion(), subresource, k.resetFields(subresource))
	if err != nil {
		return nil, err
	}
	k.managers[subresource] = fm
	return fm, nil
}

// typeConverter knows the schema of a kind: the built-in one, the CRD's, or none, in
// which case it is deduced from the objects and lists are atomic.
func (s *Server) typeConverter(k *kind) (managedfields.TypeConverter, error) {
	switch {
	case builtIn(k.gk.Group):
		return applyconfigurations.NewTypeConverter(s.scheme), nil
	case k.crd != nil:
		return k.crd.typeConverter()
	}
	return managedfields.NewDeducedTypeConverter(), nil
}

// resetFields are those an endpoint does not let a request set, so that nobody comes
// to own them there.
func (k *kind) resetFields(subresource string) map[fieldpath.APIVersion]fieldpath.Filter {
	var paths []fieldpath.Path
	switch {
	case subresource == "" && k.hasStatus:
		paths = append(paths, fieldpath.MakePathOrDie("status"))
	case subresource == "status" && !builtIn(k.gk.Group):
		paths = append(paths, fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata"))
	case subresource == "status":
		paths = append(paths, fieldpath.MakePathOrDie("spec"))
	default:
		return nil
	}
	filter := fieldpath.NewExcludeSetFilter(fieldpath.NewSet(paths...))
	return map[fieldpath.APIVersion]fieldpath.Filter{fieldpath.APIVersion(k.gvk.GroupVersion().String()): filter}
}

// converter lets the field manager work on the one version that is stored.
type converter struct{ k *kind }

var (
	_ runtime.ObjectConvertor = converter{}
	_ runtime.ObjectDefaulter = converter{}
	_ runtime.ObjectCreater   = converter{}
)

// ConvertToVersion returns the object as its Go type, with apiVersion and kind set:
// the schema is looked up by them.
func (c converter) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	if u, ok := in.(runtime.Unstructured); ok {
		out := c.k.empty()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.UnstructuredContent(), out); err != nil {
			return nil, err
		}
		out.GetObjectKind().SetGroupVersionKind(c.k.gvk)
		return out, nil
	}
	if in.GetObjectKind().GroupVersionKind() == c.k.gvk {
		return in, nil
	}
	return c.k.withGVK(in.(client.Object)), nil
}

// Convert implements runtime.ObjectConvertor; the field manager does not call it.
func (c converter) Convert(any, any, any) error { panic("converter.Convert: not used") }

// ConvertFieldLabel implements runtime.ObjectConvertor; the field manager does not call it.
func (c converter) ConvertFieldLabel(schema.GroupVersionKind, string, string) (string, string, error) {
	panic("converter.ConvertFieldLabel: not used")
}

// Default implements runtime.ObjectDefaulter.
func (c converter) Default(in runtime.Object) {
	if c.k.rules.defaults != nil {
		c.k.rules.defaults(in.(client.Object))
	}
}

// New implements runtime.ObjectCreater.
func (c converter) New(schema.GroupVersionKind) (runtime.Object, error) {
	return c.k.withGVK(c.k.empty()), nil
}
