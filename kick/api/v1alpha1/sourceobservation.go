package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FingerprintAbsent stands in the history for a time at which the source did not exist.
const FingerprintAbsent = "absent"

// SourceObservation is KICK's memory of one Secret, ConfigMap or SecretProviderClass: which contents it saw and when.
// Only KICK writes it; nobody else needs to, and an edit by hand can cost a restart or cause one.
// It holds sealed digests that mean nothing without the installation's key, and never content.
// There is no status: the whole object is KICK's record.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=kobs,categories=kick
// +kubebuilder:metadata:labels="app.kubernetes.io/name=kick"
// +kubebuilder:printcolumn:name="Kind",type=string,JSONPath=`.spec.source.kind`,description="Kind of the source"
// +kubebuilder:printcolumn:name="Source",type=string,JSONPath=`.spec.source.name`,description="Name of the source"
// +kubebuilder:printcolumn:name="Observed",type=date,JSONPath=`.spec.history[-1:].observed`,description="Time since the newest change KICK observed"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type SourceObservation struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the record. Written by KICK only.
	// +required
	Spec SourceObservationSpec `json:"spec"`
}

// SourceObservationSpec is what KICK remembers of a source.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.keyNamesTruncated) || !self.keyNamesTruncated || !has(self.keyNames)`,message=`keyNames is left empty when keyNamesTruncated is true`,fieldPath=`.keyNames`
type SourceObservationSpec struct {
	// source is the object the record is about. Required, cannot be changed.
	// +kubebuilder:validation:XValidation:rule=`self == oldSelf`,message=`source cannot be changed: delete the record, KICK makes another one`
	// +required
	Source SourceReference `json:"source"`

	// since is when KICK began to look at this namespace: the start of the leader that made the
	// record, or the creation of the policy that made it necessary, whichever is later. Workloads
	// created earlier were adopted. Required.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +required
	Since metav1.MicroTime `json:"since"`

	// resourceVersion is that of the source when its content was last recorded; the same one again
	// means that nothing changed. Empty: the source was absent.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	ResourceVersion string `json:"resourceVersion,omitempty"`

	// labels are those of the source when its content was last recorded. They tell whether a policy's dependencySelector covers a
	// source that does not exist any more. Unset: it had none, or was never seen to exist.
	// +kubebuilder:validation:MaxProperties=512
	// +optional
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// keyID names the installation key that sealed the digests of this record; it is not the key.
	// Digests of another key are not comparable. Unset: nothing is sealed, because the source was
	// never seen to exist.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	KeyID string `json:"keyID,omitempty"`

	// keyNames lists the sealed names of the payload's keys at the last recording, at most 256, in
	// ascending order. It tells whether a later write removed a key. Unset: the payload is empty or
	// the source absent, or keyNamesTruncated is true.
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +listType=set
	// +optional
	KeyNames []string `json:"keyNames,omitempty"`

	// keyNamesTruncated says that the payload has more than 256 keys and keyNames was left empty; a
	// later write then counts as one that may have removed a key. Default: false.
	// +optional
	KeyNamesTruncated bool `json:"keyNamesTruncated,omitempty"`

	// history lists the contents KICK saw, oldest first, 1 to 32. The last entry is the content
	// that stands now; the oldest is dropped when a 33rd comes. Of a SecretProviderClass these are the
	// rotations KICK saw. Required.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +required
	History []ObservedContent `json:"history"`

	// mounts lists what each pod mounted of a SecretProviderClass, in ascending order of their UIDs, at
	// most 1000: pods beyond are not followed. Unset: no pod has mounted it, or the source is of another kind.
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	// +optional
	Mounts []ObservedMount `json:"mounts,omitempty"`
}

// ObservedMount is what one pod mounted.
type ObservedMount struct {
	// podUID is the UID of the pod. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +required
	PodUID string `json:"podUID"`

	// resourceVersion is that of the pod's SecretProviderClassPodStatus when it was last recorded. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +required
	ResourceVersion string `json:"resourceVersion"`

	// history lists what the pod's status told, oldest first, 1 to 4. The first entry is what the pod
	// was seen with first, the last what its files hold now. Required.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +listType=atomic
	// +required
	History []ObservedContent `json:"history"`
}

// LabelValue is the value of a label: at most 63 characters.
// +kubebuilder:validation:MaxLength=63
type LabelValue string

// SourceKind is a kind of object whose changes KICK follows.
// +kubebuilder:validation:Enum=Secret;ConfigMap;SecretProviderClass
type SourceKind string

// The kinds of sources.
const (
	// SourceSecret is a core/v1 Secret.
	SourceSecret SourceKind = "Secret"
	// SourceConfigMap is a core/v1 ConfigMap.
	SourceConfigMap SourceKind = "ConfigMap"
	// SourceSecretProviderClass is a SecretProviderClass of the Secrets Store CSI driver.
	SourceSecretProviderClass SourceKind = "SecretProviderClass"
)

// SourceReference names a source in the namespace of the object that refers to it.
type SourceReference struct {
	// kind is the kind of the source: Secret, ConfigMap or SecretProviderClass. Required.
	// +required
	Kind SourceKind `json:"kind"`

	// name is the name of the source: a DNS subdomain of 1 to 253 characters. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,message=`name is that of the source: lower-case letters, digits, - and ., beginning and ending with a letter or digit`
	// +required
	Name string `json:"name"`
}

// ObservedContent is one content of a source and the span for which it stood. Its times belong to
// two clocks and are never compared across them.
type ObservedContent struct {
	// fingerprint is the sealed digest of the content, the word absent while the source did not
	// exist, or the word unseen for what came and went between its creation and KICK's look. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +required
	Fingerprint string `json:"fingerprint"`

	// observed is when KICK saw the content first, by KICK's clock; later than the entry before. It
	// is compared with the stamps KICK puts on workloads. Unset: it stood before KICK looked, and
	// nothing tells since when.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +optional
	Observed metav1.MicroTime `json:"observed,omitzero"`

	// written is when the content was written at the latest, by the API server's clock. It is
	// compared with the creation times of pods. Unset: nothing tells when.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +optional
	Written metav1.MicroTime `json:"written,omitzero"`

	// lastWrite is the newest time at which the source's own metadata says its content was written,
	// by the API server's clock, in whole seconds. Unset: the source was absent, or nothing tells when.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +optional
	LastWrite metav1.Time `json:"lastWrite,omitzero"`

	// baseline says that the content was found, not seen to change: it is dated by what the API
	// server recorded of it. Default: false.
	// +optional
	Baseline bool `json:"baseline,omitempty"`

	// knownUntil is the instant, by the API server's clock, at which this content is known to have
	// still stood. Unset: not known.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +optional
	KnownUntil *metav1.MicroTime `json:"knownUntil,omitempty"`
}

// Current returns the content that stands now, the newest of the history. It is the zero value for
// a record without history, which the API server does not admit.
func (o *SourceObservation) Current() ObservedContent {
	if len(o.Spec.History) == 0 {
		return ObservedContent{}
	}
	return o.Spec.History[len(o.Spec.History)-1]
}

// SourceObservationList is a list of SourceObservations.
//
// +kubebuilder:object:root=true
type SourceObservationList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the records.
	Items []SourceObservation `json:"items"`
}
