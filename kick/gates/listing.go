package gates

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model/gitops"
)

// noteListing holds, in a cached object of a provider, the list of what it manages. It
// exists in memory only.
const noteListing = "cached.kick.corewire.io/manages"

// stripped marks a cached object in a field that the API server clears on every write,
// so that nobody can send one that passes for stripped.
const stripped = "stripped"

// StripToListing makes an object of a provider small before it enters the cache: its
// metadata without managedFields, the annotations to keep, and what it manages. It
// changes only the struct it is given, and may be called again.
func StripToListing(o client.Object, manages func(object map[string]any) []gitops.Object, annotations ...string) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok || u.GetSelfLink() == stripped {
		return
	}
	small := &unstructured.Unstructured{Object: map[string]any{}}
	small.SetGroupVersionKind(u.GroupVersionKind())
	small.SetNamespace(u.GetNamespace())
	small.SetName(u.GetName())
	small.SetUID(u.GetUID())
	small.SetResourceVersion(u.GetResourceVersion())
	small.SetGeneration(u.GetGeneration())
	small.SetLabels(maps.Clone(u.GetLabels()))
	small.SetSelfLink(stripped)
	kept := map[string]string{noteListing: gitops.Pack(manages(u.Object))}
	for _, key := range annotations {
		if value, found := u.GetAnnotations()[key]; found {
			kept[key] = value
		}
	}
	small.SetAnnotations(kept)
	u.Object = small.Object
}

// Listing is what a stripped object manages, packed; empty if it is not stripped, since
// an annotation of that name would then be somebody's.
func Listing(o client.Object) string {
	if o.GetSelfLink() != stripped {
		return ""
	}
	return o.GetAnnotations()[noteListing]
}

// StripToName makes an object small that is watched, and read live: it keeps nothing but what
// names it.
func StripToName(o client.Object) { Keep(o, nil) }

// Keep leaves of a cached object what names it, and some fields, whatever they hold. It
// changes only the struct it is given, and may be called again.
func Keep(o client.Object, fields [][]string) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return
	}
	small := map[string]any{}
	names := []string{"name", "namespace", "uid", "resourceVersion", "generation"}
	for _, name := range names {
		fields = append(fields, []string{"metadata", name})
	}
	for _, path := range append(fields, []string{"apiVersion"}, []string{"kind"}) {
		value, found, err := unstructured.NestedFieldNoCopy(u.Object, path...)
		if !found || err != nil {
			continue
		}
		at := small
		for _, key := range path[:len(path)-1] {
			inner, ok := at[key].(map[string]any)
			if !ok {
				inner = map[string]any{}
				at[key] = inner
			}
			at = inner
		}
		at[path[len(path)-1]] = value
	}
	u.Object = small
}
