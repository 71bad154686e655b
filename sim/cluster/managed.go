package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

	{Group: "argoproj.io", Kind: "Rollout"}: true,

	{Group: "secrets-store.csi.x-k8s.io", Kind: "SecretProviderClassPodStatus"}: true,
}

// trackUpdate keeps in.managedFields as the API server's field manager would for a
// create, update or patch. Writes of untracked kinds and of the control plane's own
// components leave what is recorded.
func (s *Server) trackUpdate(k *kind, live, in client.Object, o WriteOptions) {
	m := objectMeta(in)
	if !k.tracked || s.opts.Untracked(o.Manager) {
		m.ManagedFields = objectMeta(live).ManagedFields
		return
	}
	past := newPast(objectMeta(live).ManagedFields, m.ManagedFields)
	entries := k.owners(past, live, in, o, func(before, after client.Object) {
		manager, err := s.fieldManager(k, o.Subresource)
		if err != nil {
			panic(err) // the type has no schema: a mistake of the program
		}
		manager.UpdateNoErrors(before, after, o.Manager)
	})
	m.ManagedFields = past.present(entries, s.stamp())
}

// past replaces recorded times by their rank, seconds of the year 1600. The library
// stamps time.Now and then sorts and merges by time, so times of a virtual clock must
// be out of its way, whichever side of now they are on; and what it returns no longer
// depends on when anything was written.
type past struct{ times []time.Time }

var pastEpoch = time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC)

// newPast ranks the times of some lists of entries.
func newPast(lists ...[]metav1.ManagedFieldsEntry) past {
	var p past
	for _, entries := range lists {
		for _, e := range entries {
			if e.Time != nil {
				p.times = append(p.times, e.Time.Time)
			}
		}
	}
	slices.SortFunc(p.times, time.Time.Compare)
	p.times = slices.CompactFunc(p.times, time.Time.Equal)
	return p
}

// of copies entries with ranks for times.
func (p past) of(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	return moveTimes(entries, func(t metav1.Time) metav1.Time {
		rank, _ := slices.BinarySearchFunc(p.times, t.Time, time.Time.Compare)
		return metav1.Time{Time: pastEpoch.Add(time.Duration(rank) * time.Second)}
	})
}

// present undoes of, stamps the entries that the library touched, and restores the
// order of entries, which depends on their times.
func (p past) present(entries []metav1.ManagedFieldsEntry, now metav1.Time) []metav1.ManagedFieldsEntry {
	out := moveTimes(entries, func(t metav1.Time) metav1.Time {
		if t.Year() > pastEpoch.Year() {
			return now
		}
		return metav1.Time{Time: p.times[int(t.Sub(pastEpoch)/time.Second)]}
	})
	slices.SortStableFunc(out, compareEntries)
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

// compareEntries is the order in which the API server shows managedFields.
func compareEntries(a, b metav1.ManagedFieldsEntry) int {
	return cmp.Or(
		cmp.Compare(a.Operation, b.Operation),
		cmp.Compare(seconds(a.Time), seconds(b.Time)),
		cmp.Compare(a.Manager, b.Manager),
		cmp.Compare(a.APIVersion, b.APIVersion),
		cmp.Compare(a.Subresource, b.Subresource),
	)
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
	case subresource == "" && k.hasStatus, subresource == "finalize":
		paths = append(paths, fieldpath.MakePathOrDie("status"))
	case subresource == "status" && !builtIn(k.gk.Group):
		paths = append(paths, fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata"))
	case subresource == "status":
		paths = append(paths, fieldpath.MakePathOrDie("spec"))
		for _, name := range k.rules.statusKeeps {
			paths = append(paths, fieldpath.MakePathOrDie("metadata", name))
		}
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
// the schema is looked up by them. A custom resource stays as it is.
func (c converter) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	if u, ok := in.(runtime.Unstructured); ok {
		if c.k.crd != nil {
			return in, nil
		}
		return c.k.typed(u.UnstructuredContent())
	}
	if in.GetObjectKind().GroupVersionKind() == c.k.gvk {
		return in, nil
	}
	return c.k.withGVK(in.(client.Object)), nil
}

// typed reads the content of an object into its Go type.
func (k *kind) typed(content map[string]any) (client.Object, error) {
	out := k.empty()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, out); err != nil {
		return nil, err
	}
	out.GetObjectKind().SetGroupVersionKind(k.gvk)
	return out, nil
}

// managed is an object as the field manager sees it. Of a custom resource it sees the
// JSON: a Go struct always has all of its fields, and a new object would seem to add
// nothing but leaves.
func (k *kind) managed(obj client.Object, exists bool) client.Object {
	if k.crd == nil {
		return k.withGVK(obj)
	}
	out := &unstructured.Unstructured{Object: map[string]any{}}
	if exists {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			panic(fmt.Sprintf("%s %s: %v", k.gk.Kind, client.ObjectKeyFromObject(obj), err)) // a stored type always converts
		}
		out.Object = content
	}
	out.SetGroupVersionKind(k.gvk)
	return out
}

// Convert implements runtime.ObjectConvertor; the field manager does not call it.
func (c converter) Convert(any, any, any) error { panic("converter.Convert: not used") }

// ConvertFieldLabel implements runtime.ObjectConvertor; the field manager does not call it.
func (c converter) ConvertFieldLabel(schema.GroupVersionKind, string, string) (string, string, error) {
	panic("converter.ConvertFieldLabel: not used")
}

// Default implements runtime.ObjectDefaulter.
func (c converter) Default(in runtime.Object) {
	if obj, ok := in.(client.Object); ok && c.k.rules.defaults != nil {
		c.k.rules.defaults(obj)
	}
}

// New implements runtime.ObjectCreater.
func (c converter) New(schema.GroupVersionKind) (runtime.Object, error) {
	return c.k.managed(c.k.empty(), false), nil
}
