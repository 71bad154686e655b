package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KickRequest is one restart that is wanted of one workload: who wants it, what it waits for and
// how it ended. KICK opens one when a source changes; a user may create one to have a workload
// restarted under the rules of its policy.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=kreq,categories=kick
// +kubebuilder:metadata:labels="app.kubernetes.io/name=kick"
// +kubebuilder:selectablefield:JSONPath=`.spec.targetRef.kind`
// +kubebuilder:selectablefield:JSONPath=`.spec.targetRef.name`
// +kubebuilder:printcolumn:name="Kind",type=string,JSONPath=`.spec.targetRef.kind`,description="Kind of the workload"
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.spec.targetRef.name`,description="Name of the workload"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="Where the request stands"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Completed")].reason`,description="Why it stands there"
// +kubebuilder:printcolumn:name="Changed",type=date,JSONPath=`.status.latestObservedDependencyChange`,description="Time since the newest change the request answers"
// +kubebuilder:printcolumn:name="Started",type=date,priority=1,JSONPath=`.status.currentRollout.startedAt`,description="Time since KICK restarted the workload"
// +kubebuilder:printcolumn:name="Next Try",type=string,priority=1,JSONPath=`.status.gate.requeueAt`,description="When a waiting request is judged again at the latest"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Completed")].message`,description="The reason in a sentence"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type KickRequest struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the restart that is wanted.
	// +required
	Spec KickRequestSpec `json:"spec"`

	// status is how far the restart has come. Unset until KICK has seen the request, which means
	// Pending.
	// +optional
	Status KickRequestStatus `json:"status,omitzero"`
}

// KickRequestSpec is the restart that is wanted.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.changedAt) || self.trigger == 'Manual'`,message=`changedAt is for trigger Manual only: leave it out, or create the request with trigger Manual`,fieldPath=`.changedAt`
// +kubebuilder:validation:XValidation:rule=`!has(self.reason) || self.trigger == 'Manual'`,message=`reason is for trigger Manual only: leave it out, or create the request with trigger Manual`,fieldPath=`.reason`
type KickRequestSpec struct {
	// targetRef is the workload to restart, in the namespace of the request. Required, cannot be
	// changed.
	// +kubebuilder:validation:XValidation:rule=`self == oldSelf`,message=`targetRef cannot be changed: create another KickRequest for the other workload`
	// +required
	TargetRef TargetReference `json:"targetRef"`

	// trigger says where the wish comes from. Dependency: KICK opened the request, because a source
	// that the workload consumes has changed or was seen for the first time. Manual: somebody asks
	// for a restart because of something only they know. Cannot be changed. Default: Manual.
	// +kubebuilder:default=Manual
	// +kubebuilder:validation:XValidation:rule=`self == oldSelf`,message=`trigger cannot be changed: create another KickRequest with trigger Manual`
	// +optional
	Trigger Trigger `json:"trigger,omitempty"`

	// changedAt is the time of the change that the restart is to answer: pods that started later
	// are left alone. RFC 3339 with six decimals, for example 2026-03-01T12:00:00.000000Z. Only
	// with trigger Manual. A later time on a finished request asks for another restart. Unset: the
	// creation time of the request.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$') && timestamp(self) > timestamp('1970-01-01T00:00:00Z')`,message=`changedAt is a time in RFC 3339 with exactly six decimals, for example 2026-03-01T12:00:00.000000Z`
	// +optional
	ChangedAt *metav1.MicroTime `json:"changedAt,omitempty"`

	// reason tells people why the restart is wanted, at most 1024 characters. Only with trigger
	// Manual. Unset: no reason given.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Reason string `json:"reason,omitempty"`

	// gateOverride lets this restart pass its policy's GitOps gate although that is shut. The
	// policy's own windows and everything else still count. It goes on record in condition
	// GateOverridden and in an event before the workload is restarted. Unset: none.
	// +optional
	GateOverride *GateOverride `json:"gateOverride,omitempty"`
}

// GateOverride opens a GitOps gate by hand, for one workload and for a time.
type GateOverride struct {
	// until is when the override ends. RFC 3339 with six decimals, for example
	// 2026-03-01T12:00:00.000000Z. Required.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$') && timestamp(self) > timestamp('1970-01-01T00:00:00Z')`,message=`until is a time in RFC 3339 with exactly six decimals, for example 2026-03-01T12:00:00.000000Z`
	// +required
	Until metav1.MicroTime `json:"until"`

	// reason tells people who opened the gate and why, 1 to 256 characters. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +required
	Reason string `json:"reason"`
}

// Trigger says where the wish for a restart comes from.
// +kubebuilder:validation:Enum=Dependency;Manual
type Trigger string

// The triggers.
const (
	// TriggerDependency: KICK saw a source change, or saw it for the first time.
	TriggerDependency Trigger = "Dependency"
	// TriggerManual: somebody asks.
	TriggerManual Trigger = "Manual"
)

// WorkloadKind is a kind of workload that KICK can restart.
// +kubebuilder:validation:Enum=Deployment;StatefulSet;DaemonSet;Rollout
type WorkloadKind string

// TargetReference names a workload in the namespace of the object that refers to it.
// +kubebuilder:validation:XValidation:rule="(self.kind == 'Rollout') == (self.apiVersion == 'argoproj.io/v1alpha1')",message="a Rollout is of apiVersion argoproj.io/v1alpha1, the other kinds are of apps/v1"
type TargetReference struct {
	// apiVersion is the API group and version of the workload: apps/v1, or argoproj.io/v1alpha1
	// for a Rollout. Default: apps/v1.
	// +kubebuilder:validation:Enum=apps/v1;argoproj.io/v1alpha1
	// +kubebuilder:default=apps/v1
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`

	// kind is the kind of the workload: Deployment, StatefulSet, DaemonSet or Rollout. Required.
	// +required
	Kind WorkloadKind `json:"kind"`

	// name is the name of the workload: a DNS subdomain of 1 to 253 characters. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,message=`name is that of the workload: lower-case letters, digits, - and ., beginning and ending with a letter or digit`
	// +required
	Name string `json:"name"`
}

// KickRequestStatus is how far a restart has come.
type KickRequestStatus struct {
	// observedGeneration is the metadata.generation this status was judged at. Unset or 0: not
	// judged yet.
	// +kubebuilder:validation:Minimum=0
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase is where the request stands. Succeeded, NoLongerRequired, Failed and DryRun are
	// terminal. Unset: Pending.
	// +kubebuilder:validation:Enum="";Pending;WaitingForGate;WaitingForOwner;WaitingForApplicationSync;WaitingForRollout;Executing;Succeeded;NoLongerRequired;Failed;DryRun
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// openedAt is when the current episode began, by KICK's clock: a newer change on a terminal
	// request begins another one. Only a restart made after it can count as this request's. Unset:
	// the creation time of the request.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +optional
	OpenedAt *metav1.MicroTime `json:"openedAt,omitempty"`

	// completedAt is when the request became terminal, by KICK's clock; its retention is counted
	// from here. Unset: it is not terminal.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +optional
	CompletedAt *metav1.MicroTime `json:"completedAt,omitempty"`

	// latestObservedDependencyChange is when KICK observed the newest change the request answers,
	// by KICK's clock. It only grows. Unset: not judged yet, or nobody saw when its sources came to
	// hold what they do.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +optional
	LatestObservedDependencyChange *metav1.MicroTime `json:"latestObservedDependencyChange,omitempty"`

	// causes lists the sources whose changes the current episode answers, newest first, at most 16.
	// Older ones are left out. Unset: a request of trigger Manual, or not judged yet.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	Causes []Cause `json:"causes,omitempty"`

	// gate is the last decision on whether the restart may be made: what it waits for, or that
	// nothing stands in its way. Unset: not judged yet.
	// +optional
	Gate *GateStatus `json:"gate,omitempty"`

	// currentRollout is the rollout that KICK caused and watches, or last caused. Unset: KICK has
	// not restarted the workload in this episode.
	// +optional
	CurrentRollout *RolloutStatus `json:"currentRollout,omitempty"`

	// transitions lists the phases that were reached, oldest first, each once in an episode: from
	// openedAt to the end. It goes back beyond the current episode as far as 20 entries reach. Unset:
	// not judged yet.
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	// +optional
	Transitions []PhaseTransition `json:"transitions,omitempty"`

	// traceparent is the trace that tells of the current episode, as W3C Trace Context writes it.
	// Unset: nothing is traced.
	// +kubebuilder:validation:MaxLength=55
	// +kubebuilder:validation:Pattern=`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`
	// +optional
	Traceparent string `json:"traceparent,omitempty"`

	// conditions holds Completed: True in the phases Succeeded, NoLongerRequired and DryRun, False
	// in Failed, Unknown while in progress; reason and message say why. GateOverridden stands beside
	// it where spec.gateOverride opened the gate of the current episode; its message says what the
	// gate had against the restart, and the reason given. Unset until the first visit.
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Cause is a source whose change a request answers. It names the source and nothing of its content.
type Cause struct {
	// kind is the kind of the source: Secret or ConfigMap. Required.
	// +required
	Kind SourceKind `json:"kind"`

	// name is the name of the source, in the namespace of the request. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`

	// changedAt is when KICK observed the newest change of this source, by KICK's clock. Required.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +required
	ChangedAt metav1.MicroTime `json:"changedAt"`
}

// GateStatus is a decision on whether a restart may be made.
type GateStatus struct {
	// reason is the decision in one word, in CamelCase, for example OutsideSchedule or SourceMissing.
	// Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +required
	Reason string `json:"reason"`

	// message is the decision in a sentence with its facts, at most 1024 characters. Unset: the reason
	// says it all.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`

	// requeueAt is when the request is judged again at the latest, by KICK's clock. Unset: it is
	// judged again as soon as something it waits for changes, and not by time.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +optional
	RequeueAt *metav1.MicroTime `json:"requeueAt,omitempty"`
}

// PhaseTransition is a phase that a request reached, and why.
type PhaseTransition struct {
	// phase is the phase that was reached. Required.
	// +kubebuilder:validation:Enum=Pending;WaitingForGate;WaitingForOwner;WaitingForApplicationSync;WaitingForRollout;Executing;Succeeded;NoLongerRequired;Failed;DryRun
	// +required
	Phase Phase `json:"phase"`

	// at is when it was reached, by KICK's clock. Required.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +required
	At metav1.MicroTime `json:"at"`

	// reason is why, in one word, as status.gate.reason was then. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +required
	Reason string `json:"reason"`

	// message is why, in a sentence, at most 1024 characters. Unset: the reason says it all.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
}

// RolloutStatus is a rollout that KICK caused.
type RolloutStatus struct {
	// replicaSet is the name of the ReplicaSet (Deployment) or ControllerRevision (StatefulSet,
	// DaemonSet) that the restart made. Unset: it has not been seen yet.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ReplicaSet string `json:"replicaSet,omitempty"`

	// startedAt is the stamp that KICK put on the pod template, by KICK's clock. Required.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +required
	StartedAt metav1.MicroTime `json:"startedAt"`

	// generation is the metadata.generation of the workload that the stamp was found at. Unset or
	// 0: unknown.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Generation int64 `json:"generation,omitempty"`
}

// KickRequestList is a list of KickRequests.
//
// +kubebuilder:object:root=true
type KickRequestList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the requests.
	Items []KickRequest `json:"items"`
}
