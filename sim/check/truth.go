package check

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Source names a Secret, ConfigMap or SecretProviderClass.
type Source struct{ Kind, Namespace, Name string }

// String is how messages name a source.
func (s Source) String() string { return s.Kind + " " + s.Namespace + "/" + s.Name }

// Truth is what really runs, as the kubelet of the simulated cluster knows it.
type Truth interface {
	// Pods lists the running, non-terminating pods of a workload by name.
	Pods(namespace, kind, name string) []Pod
	// Current is the content of a source now.
	Current(Source) Content
}

// Content is all bytes of a source. Equal values are equal content; the zero
// value is a source that does not exist.
type Content struct {
	Exists bool
	Key    string // any injective form of the payload; never shown
}

// Pod is a running pod.
type Pod struct {
	Name       string
	Created    time.Time // as the API server dated it, whole seconds
	Ordinal    int       // of a StatefulSet's pod, else -1
	Down       bool      // some container of it does not run at the moment
	Mounted    map[Source]Mounted
	Containers []Container
}

// Container is a container of a running pod, at its latest start.
type Container struct {
	Name    string
	Started time.Time // true time at which it read its sources
	Again   bool      // it was restarted in place: this is not its first start
	Loaded  map[Source]Content
	Cached  map[Source]bool // the node served its old copy of an immutable source
}

// sourceOf names an object if it is a source.
func sourceOf(object client.Object) (Source, bool) {
	switch object.(type) {
	case *corev1.Secret:
		return Source{"Secret", object.GetNamespace(), object.GetName()}, true
	case *corev1.ConfigMap:
		return Source{"ConfigMap", object.GetNamespace(), object.GetName()}, true
	default:
		return Source{}, false
	}
}
