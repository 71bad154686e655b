// Package secretproviderclass teaches KICK about the classes of the Secrets Store CSI
// driver, whose content each pod's status object tells.
package secretproviderclass

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/secretsstore"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/model/fingerprint"
	"github.com/corewire/kick/kick/sources"
)

// Kind is the adapter of SecretProviderClasses.
type Kind struct{}

var _ sources.Mounted = Kind{}

// Name is "SecretProviderClass".
func (Kind) Name() string { return discover.KindSecretProviderClass }

// New returns an empty class.
func (Kind) New() client.Object { return &secretsstore.SecretProviderClass{} }

// Digest is the same for every class: an edit of it reaches no pod that runs.
func (k Kind) Digest(client.Object) fingerprint.Digest { return fingerprint.Of(k.Name(), nil) }

// KeyNames are none.
func (Kind) KeyNames(client.Object) []string { return nil }

// Empty keeps the names of the Secrets that mirror the class.
func (Kind) Empty(o client.Object) {
	c := o.(*secretsstore.SecretProviderClass)
	mirrors := make([]secretsstore.SecretObject, 0, len(c.Spec.SecretObjects))
	for i := range c.Spec.SecretObjects {
		mirrors = append(mirrors, secretsstore.SecretObject{SecretName: c.Spec.SecretObjects[i].SecretName})
	}
	c.Spec = secretsstore.ClassSpec{SecretObjects: mirrors}
}

// Mirrors are the names of the Secrets that the driver makes of a class.
func (Kind) Mirrors(o client.Object) []string {
	c := o.(*secretsstore.SecretProviderClass)
	names := make([]string, 0, len(c.Spec.SecretObjects))
	for i := range c.Spec.SecretObjects {
		names = append(names, c.Spec.SecretObjects[i].SecretName)
	}
	return names
}

// Status is the kind of the objects that tell what a pod has mounted.
func (Kind) Status() sources.Kind { return Status{} }

// NewStatuses returns an empty list of them.
func (Kind) NewStatuses() client.ObjectList { return &secretsstore.SecretProviderClassPodStatusList{} }

// Statuses are the objects of a list.
func (Kind) Statuses(l client.ObjectList) []client.Object {
	items := l.(*secretsstore.SecretProviderClassPodStatusList).Items
	all := make([]client.Object, 0, len(items))
	for i := range items {
		all = append(all, &items[i])
	}
	return all
}

// Of is the class that a status is about, and the UID of its pod: the owner's, else the
// one in the path that is mounted.
func (Kind) Of(o client.Object) (class, pod string) {
	s := o.(*secretsstore.SecretProviderClassPodStatus)
	pod = podOf(s.OwnerReferences)
	if pod == "" {
		pod = podIn(s.Status.TargetPath)
	}
	return s.Status.SecretProviderClassName, pod
}

func podOf(owners []metav1.OwnerReference) string {
	for i := range owners {
		if owners[i].Kind == "Pod" {
			return string(owners[i].UID)
		}
	}
	return ""
}

// podIn is the UID in a path like /var/lib/kubelet/pods/<UID>/volumes/...
func podIn(path string) string {
	_, rest, found := strings.Cut(path, "/pods/")
	pod, _, more := strings.Cut(rest, "/")
	if !found || !more {
		return ""
	}
	return pod
}

// Status is the adapter of SecretProviderClassPodStatuses.
type Status struct{}

// Name is "SecretProviderClassPodStatus".
func (Status) Name() string { return secretsstore.StatusKind.Kind }

// New returns an empty status.
func (Status) New() client.Object { return &secretsstore.SecretProviderClassPodStatus{} }

// Digest fingerprints the versions of the mounted objects.
func (Status) Digest(o client.Object) fingerprint.Digest {
	s := o.(*secretsstore.SecretProviderClassPodStatus)
	versions := make(map[string]string, len(s.Status.Objects))
	for _, object := range s.Status.Objects {
		versions[object.ID] = object.Version
	}
	return fingerprint.Of(discover.KindSecretProviderClass, versions)
}

// KeyNames are none.
func (Status) KeyNames(client.Object) []string { return nil }

// Empty drops what is mounted.
func (Status) Empty(o client.Object) {
	o.(*secretsstore.SecretProviderClassPodStatus).Status.Objects = nil
}
