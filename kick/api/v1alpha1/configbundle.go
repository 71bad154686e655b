package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConfigBundle declares a ConfigMap that stays as declared. KICK creates the ConfigMap of the same
// name in the same namespace, owned by the bundle, and puts it right when somebody edits or deletes
// it. Labels and annotations of the bundle are carried over. Deleting the bundle deletes the
// ConfigMap.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=cb,categories=kick
// +kubebuilder:metadata:labels="app.kubernetes.io/name=kick"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the ConfigMap holds what is declared"
// +kubebuilder:printcolumn:name="Immutable",type=boolean,JSONPath=`.spec.immutable`,description="Whether the declaration can no longer be changed"
// +kubebuilder:printcolumn:name="Heals",type=integer,JSONPath=`.status.heals`,description="How often the ConfigMap was put right"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why the bundle is or is not ready"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ConfigBundle struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. Its labels and annotations are those of the ConfigMap
	// too, except for what tools use to recognise their own objects.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the ConfigMap is to hold. It may be empty ({}): then the ConfigMap is empty.
	// +required
	Spec ConfigBundleSpec `json:"spec"`

	// status is what KICK found. Unset until KICK has seen the bundle.
	// +optional
	Status ConfigBundleStatus `json:"status,omitzero"`
}

// ConfigBundleSpec is what the ConfigMap is to hold: exactly these keys, at most 1 MiB in all.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.message) || !has(self.data) || !('message' in self.data)`,message=`message is given twice, as spec.message and as spec.data.message: leave one of them out`,fieldPath=`.message`
// +kubebuilder:validation:XValidation:rule=`!has(self.message) || !has(self.binaryData) || !('message' in self.binaryData)`,message=`message is given twice, as spec.message and as spec.binaryData.message: leave one of them out`,fieldPath=`.message`
// +kubebuilder:validation:XValidation:rule=`!has(self.data) || !has(self.binaryData) || self.binaryData.all(k, !(k in self.data))`,message=`a key stands in spec.data and in spec.binaryData: leave it in one of them`,fieldPath=`.binaryData`
type ConfigBundleSpec struct {
	// message is the value of the ConfigMap's key message. Unset: there is no such key, unless data
	// has one.
	// +kubebuilder:validation:MaxLength=1048576
	// +optional
	Message *string `json:"message,omitempty"`

	// data holds more keys with text, at most 1024. A key consists of letters, digits, dashes, dots and
	// underscores. Unset: there are none.
	// +kubebuilder:validation:MaxProperties=1024
	// +kubebuilder:validation:XValidation:rule=`self.all(k, k.size() <= 253 && k.matches('^[-._a-zA-Z0-9]+$') && k != '.' && !k.startsWith('..'))`,message=`a key consists of at most 253 letters, digits, -, . and _, and neither is . nor begins with two dots`
	// +optional
	Data map[string]BundleText `json:"data,omitempty"`

	// binaryData holds more keys with any bytes, in base64, at most 1024. A key is formed as in data and
	// stands in one of the two only. Unset: there are none.
	// +kubebuilder:validation:MaxProperties=1024
	// +kubebuilder:validation:XValidation:rule=`self.all(k, k.size() <= 253 && k.matches('^[-._a-zA-Z0-9]+$') && k != '.' && !k.startsWith('..'))`,message=`a key consists of at most 253 letters, digits, -, . and _, and neither is . nor begins with two dots`
	// +optional
	BinaryData map[string]BundleBytes `json:"binaryData,omitempty"`

	// immutable makes the ConfigMap immutable. Once KICK has created it, a change of the spec, of
	// immutable too, is taken back: make another bundle for other content. Default: false.
	// +optional
	Immutable bool `json:"immutable,omitempty"`
}

// BundleText is one value of a ConfigBundle.
// +kubebuilder:validation:MaxLength=1048576
type BundleText string

// BundleBytes is one binary value of a ConfigBundle, in standard base64 with padding.
// +kubebuilder:validation:MaxLength=1398104
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`
type BundleBytes string

// ManagedConfigMap identifies the ConfigMap of a bundle.
type ManagedConfigMap struct {
	// name of the ConfigMap, that of the bundle. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`

	// namespace of the ConfigMap, that of the bundle. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Namespace string `json:"namespace"`

	// uid tells the ConfigMap from another one of its name. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +required
	UID string `json:"uid"`
}

// ConfigBundleStatus is what KICK found about a bundle.
type ConfigBundleStatus struct {
	// observedGeneration is the metadata.generation this status was judged at. A smaller number than
	// the bundle's means that the status is out of date. Unset or 0: not judged yet.
	// +kubebuilder:validation:Minimum=0
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// observedMetadata names the labels and annotations this status was judged at, since a change of
	// them moves no generation. It means nothing else. Unset: not judged yet.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	ObservedMetadata string `json:"observedMetadata,omitempty"`

	// configMap is the ConfigMap that the bundle manages. Unset: none was created yet.
	// +optional
	ConfigMap *ManagedConfigMap `json:"configMap,omitempty"`

	// immutable says that the declaration was accepted as an immutable one: it is on record and a
	// change of it is taken back. Default: false.
	// +optional
	Immutable bool `json:"immutable,omitempty"`

	// heals counts how often the ConfigMap was put right after somebody had edited or deleted it. 0:
	// never.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Heals int64 `json:"heals"`

	// lastHealTime is when that was done last. Unset: never.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +optional
	LastHealTime *metav1.MicroTime `json:"lastHealTime,omitempty"`

	// conditions holds Ready, which says whether the ConfigMap holds what is declared and, if not, what
	// to do, and Drifted, which says whether it differs by somebody else's doing and could not be put
	// right yet. Unset until the first visit.
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConfigBundleList is a list of ConfigBundles.
//
// +kubebuilder:object:root=true
type ConfigBundleList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the bundles.
	Items []ConfigBundle `json:"items"`
}
