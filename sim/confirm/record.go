package confirm

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// resources are the kinds that scenarios hold or KICK touches, and how the API
// server calls them.
var resources = map[string]schema.GroupVersionResource{
	"Secret":            {Version: "v1", Resource: "secrets"},
	"ConfigMap":         {Version: "v1", Resource: "configmaps"},
	"Pod":               {Version: "v1", Resource: "pods"},
	"Deployment":        {Group: "apps", Version: "v1", Resource: "deployments"},
	"StatefulSet":       {Group: "apps", Version: "v1", Resource: "statefulsets"},
	"DaemonSet":         {Group: "apps", Version: "v1", Resource: "daemonsets"},
	"ReplicaSet":        {Group: "apps", Version: "v1", Resource: "replicasets"},
	"KickPolicy":        {Group: "kick.corewire.io", Version: "v1alpha1", Resource: "kickpolicies"},
	"KickRequest":       {Group: "kick.corewire.io", Version: "v1alpha1", Resource: "kickrequests"},
	"SourceObservation": {Group: "kick.corewire.io", Version: "v1alpha1", Resource: "sourceobservations"},
}

// version is one version of an object as the watch brought it; object is nil where
// it was deleted.
type version struct {
	at     time.Time
	object *unstructured.Unstructured
}

type objectKey struct {
	kind string
	types.NamespacedName
}

// record is everything that happened in the namespaces of a scenario, as watches
// brought it.
type record struct {
	mu       sync.Mutex
	versions map[objectKey][]version
	last     time.Time // of the last event
	listen   func(objectKey, version)
}

// watch records the namespaces until the context ends. It returns once all watches
// run.
func watch(ctx context.Context, api dynamic.Interface, namespaces []string, listen func(objectKey, version)) (*record, error) {
	r := &record{versions: map[objectKey][]version{}, last: time.Now(), listen: listen}
	for _, namespace := range namespaces {
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(api, 0, namespace, nil)
		for kind, resource := range resources {
			informer := factory.ForResource(resource).Informer()
			_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc:    func(o any) { r.see(kind, o, false) },
				UpdateFunc: func(_, o any) { r.see(kind, o, false) },
				DeleteFunc: func(o any) { r.see(kind, o, true) },
			})
			if err != nil {
				return nil, err
			}
		}
		factory.Start(ctx.Done())
		for resource, synced := range factory.WaitForCacheSync(ctx.Done()) {
			if !synced {
				return nil, fmt.Errorf("watch %s in %s: %w", resource.Resource, namespace, ctx.Err())
			}
		}
	}
	return r, nil
}

func (r *record) see(kind string, o any, deleted bool) {
	if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = gone.Obj
	}
	object, ok := o.(*unstructured.Unstructured)
	if !ok {
		return
	}
	key := objectKey{kind, types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}}
	v := version{at: time.Now(), object: object}
	if deleted {
		v.object = nil
	}
	r.mu.Lock()
	r.versions[key] = append(r.versions[key], v)
	r.last = v.at
	r.mu.Unlock()
	if r.listen != nil {
		r.listen(key, v)
	}
}

// quietSince is when something was last written.
func (r *record) quietSince() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// since lists the versions of an object that held at an instant or came later.
func (r *record) since(key objectKey, from time.Time) []version {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.versions[key]
	i := len(all)
	for i > 0 && !all[i-1].at.Before(from) {
		i--
	}
	return slices.Clone(all[max(i-1, 0):])
}

// at is an object at an instant, or nil.
func (r *record) at(key objectKey, t time.Time) *unstructured.Unstructured {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range slices.Backward(r.versions[key]) {
		if !v.at.After(t) {
			return v.object
		}
	}
	return nil
}

// keys lists the objects of a kind that ever were, in order.
func (r *record) keys(kind, namespace string) []objectKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []objectKey
	for key := range r.versions {
		if key.kind == kind && (namespace == "" || key.Namespace == namespace) {
			out = append(out, key)
		}
	}
	slices.SortFunc(out, func(a, b objectKey) int { return compareKeys(a.NamespacedName, b.NamespacedName) })
	return out
}

// living lists the objects of a kind as they are now.
func (r *record) living(kind, namespace string) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, key := range r.keys(kind, namespace) {
		if object := r.at(key, time.Now()); object != nil {
			out = append(out, object)
		}
	}
	return out
}

func compareKeys(a, b types.NamespacedName) int {
	if a.String() < b.String() {
		return -1
	}
	if a.String() > b.String() {
		return 1
	}
	return 0
}

// wait sleeps, or ends early with the context.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func applyOptions(manager string) metav1.ApplyOptions {
	return metav1.ApplyOptions{FieldManager: manager, Force: true}
}
