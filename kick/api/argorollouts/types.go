package argorollouts

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// GroupVersion is that of Argo Rollouts.
var GroupVersion = schema.GroupVersion{Group: "argoproj.io", Version: "v1alpha1"}

// RolloutKind is the kind.
var RolloutKind = GroupVersion.WithKind("Rollout")

// HashLabel is the label of ReplicaSets and pods that names their template.
const HashLabel = "rollouts-pod-template-hash"

// AddToScheme adds the Rollout to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Rollout{}, &RolloutList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// Rollout is the part of an Argo Rollouts object that KICK reads, and that its toy
// controller needs. It is never written as a whole: a restart is a patch of one field.
//
// +kubebuilder:object:root=true
type Rollout struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   RolloutSpec   `json:"spec,omitzero"`
	Status RolloutStatus `json:"status,omitzero"`
}

// RolloutList is a list of them.
//
// +kubebuilder:object:root=true
type RolloutList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []Rollout `json:"items"`
}

// RolloutSpec is what is wanted.
type RolloutSpec struct {
	Replicas *int32                 `json:"replicas,omitempty"` // unset: 1
	Selector *metav1.LabelSelector  `json:"selector,omitempty"` // unset with workloadRef: that workload's
	Template corev1.PodTemplateSpec `json:"template,omitzero"`  // unset with workloadRef: that workload's
	// WorkloadRef names a workload whose template the Rollout runs.
	WorkloadRef     *WorkloadRef `json:"workloadRef,omitempty"`
	MinReadySeconds int32        `json:"minReadySeconds,omitempty"`
	Paused          bool         `json:"paused,omitempty"`
	// RestartAt: pods made before it are to be replaced once it has come. Whole seconds.
	RestartAt               *metav1.Time `json:"restartAt,omitempty"`
	ProgressDeadlineSeconds *int32       `json:"progressDeadlineSeconds,omitempty"`
	Strategy                Strategy     `json:"strategy,omitzero"`
}

// WorkloadRef names a workload of the same namespace.
type WorkloadRef struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Name       string `json:"name,omitempty"`
	ScaleDown  string `json:"scaleDown,omitempty"` // never, onsuccess or progressively
}

// Strategy is how a new template is rolled out; one of the two.
type Strategy struct {
	Canary    *Canary    `json:"canary,omitempty"`
	BlueGreen *BlueGreen `json:"blueGreen,omitempty"`
}

// Canary grows the new ReplicaSet step by step.
type Canary struct {
	MaxSurge       *intstr.IntOrString `json:"maxSurge,omitempty"`       // unset: 25%, up
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"` // unset: 25%, down
	Steps          []CanaryStep        `json:"steps,omitempty"`
}

// CanaryStep is one step; one of its fields.
type CanaryStep struct {
	SetWeight *int32     `json:"setWeight,omitempty"`
	Pause     *StepPause `json:"pause,omitempty"`
}

// StepPause waits for a duration, or without one until somebody promotes the Rollout.
type StepPause struct {
	Duration *intstr.IntOrString `json:"duration,omitempty"` // seconds, or text such as 5m
}

// BlueGreen grows the new ReplicaSet as a whole and then switches to it.
type BlueGreen struct {
	ActiveService         string              `json:"activeService,omitempty"`
	PreviewService        string              `json:"previewService,omitempty"`
	AutoPromotionEnabled  *bool               `json:"autoPromotionEnabled,omitempty"`  // unset: true
	ScaleDownDelaySeconds *int32              `json:"scaleDownDelaySeconds,omitempty"` // unset: 30
	MaxUnavailable        *intstr.IntOrString `json:"maxUnavailable,omitempty"`        // unset: 25%, down
}

// RolloutStatus is what the controller says.
type RolloutStatus struct {
	// ObservedGeneration is a number as text; before 0.10 it was a hash.
	ObservedGeneration string `json:"observedGeneration,omitempty"`
	// WorkloadObservedGeneration is the same of the workload that workloadRef names.
	WorkloadObservedGeneration string           `json:"workloadObservedGeneration,omitempty"`
	CurrentPodHash             string           `json:"currentPodHash,omitempty"`
	StableRS                   string           `json:"stableRS,omitempty"` // the pod hash of what serves
	CurrentStepIndex           *int32           `json:"currentStepIndex,omitempty"`
	CurrentStepHash            string           `json:"currentStepHash,omitempty"` // of the list of steps
	Phase                      string           `json:"phase,omitempty"`           // Healthy, Degraded, Progressing or Paused
	Message                    string           `json:"message,omitempty"`
	RestartedAt                *metav1.Time     `json:"restartedAt,omitempty"` // the restartAt that was dealt with; no proof of new pods
	Abort                      bool             `json:"abort,omitempty"`
	ControllerPause            bool             `json:"controllerPause,omitempty"`
	PauseConditions            []PauseCondition `json:"pauseConditions,omitempty"`
	Conditions                 []Condition      `json:"conditions,omitempty"`
	Replicas                   int32            `json:"replicas,omitempty"`
	UpdatedReplicas            int32            `json:"updatedReplicas,omitempty"`
	ReadyReplicas              int32            `json:"readyReplicas,omitempty"`
	AvailableReplicas          int32            `json:"availableReplicas,omitempty"`
	BlueGreen                  BlueGreenStatus  `json:"blueGreen,omitzero"`
}

// BlueGreenStatus is where the Services point.
type BlueGreenStatus struct {
	ActiveSelector  string `json:"activeSelector,omitempty"` // a pod hash
	PreviewSelector string `json:"previewSelector,omitempty"`
}

// PauseCondition says why and since when a rollout pauses.
type PauseCondition struct {
	Reason    string      `json:"reason"`
	StartTime metav1.Time `json:"startTime"`
}

// Condition is as a Deployment's.
type Condition struct {
	Type               string                 `json:"type"`
	Status             corev1.ConditionStatus `json:"status"`
	LastUpdateTime     metav1.Time            `json:"lastUpdateTime,omitzero"`
	LastTransitionTime metav1.Time            `json:"lastTransitionTime,omitzero"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
}
