package secretsstore

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is that of the driver's kinds.
var GroupVersion = schema.GroupVersion{Group: "secrets-store.csi.x-k8s.io", Version: "v1"}

// The kinds. Neither has a status subresource.
var (
	ClassKind  = GroupVersion.WithKind("SecretProviderClass")
	StatusKind = GroupVersion.WithKind("SecretProviderClassPodStatus")
)

// Driver is the name of the driver in a volume, and ClassAttribute the attribute of the
// volume that names the class, which is of the pod's namespace.
const (
	Driver         = "secrets-store.csi.k8s.io"
	ClassAttribute = "secretProviderClass"
)

// ManagedLabel is "true" on a Secret that the driver keeps.
const ManagedLabel = "secrets-store.csi.k8s.io/managed"

// AddToScheme adds the kinds to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &SecretProviderClass{}, &SecretProviderClassList{}, &SecretProviderClassPodStatus{}, &SecretProviderClassPodStatusList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// SecretProviderClass says what a provider is to mount. KICK looks at its labels, at
// whether it exists, and at which Secrets mirror it.
//
// +kubebuilder:object:root=true
type SecretProviderClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec ClassSpec `json:"spec,omitzero"`
}

// SecretProviderClassList is a list of them.
//
// +kubebuilder:object:root=true
type SecretProviderClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []SecretProviderClass `json:"items"`
}

// ClassSpec is what is wanted.
type ClassSpec struct {
	Provider   string            `json:"provider,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"`
	// SecretObjects are the Secrets that the driver makes out of what is mounted.
	SecretObjects []SecretObject `json:"secretObjects,omitempty"`
}

// SecretObject is one Secret that mirrors what is mounted.
type SecretObject struct {
	SecretName  string            `json:"secretName,omitempty"`
	Type        string            `json:"type,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Data        []ObjectData      `json:"data,omitempty"`
}

// ObjectData is one key of such a Secret, and the mounted object it is taken from.
type ObjectData struct {
	ObjectName string `json:"objectName,omitempty"`
	Key        string `json:"key,omitempty"`
}

// SecretProviderClassPodStatus tells what one pod has mounted of one class. Its owner is
// the pod.
//
// +kubebuilder:object:root=true
type SecretProviderClassPodStatus struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Status PodStatus `json:"status,omitzero"`
}

// SecretProviderClassPodStatusList is a list of them.
//
// +kubebuilder:object:root=true
type SecretProviderClassPodStatusList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []SecretProviderClassPodStatus `json:"items"`
}

// PodStatus is what was mounted.
type PodStatus struct {
	PodName                 string          `json:"podName,omitempty"`
	SecretProviderClassName string          `json:"secretProviderClassName,omitempty"`
	Mounted                 bool            `json:"mounted,omitempty"`
	TargetPath              string          `json:"targetPath,omitempty"`
	Objects                 []MountedObject `json:"objects,omitempty"`
}

// MountedObject is one mounted object and its version, an opaque string of the provider.
type MountedObject struct {
	ID      string `json:"id,omitempty"`
	Version string `json:"version,omitempty"`
}
