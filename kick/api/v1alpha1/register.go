package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of all kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "kick.corewire.io", Version: "v1alpha1"}

var (
	// SchemeBuilder collects the functions that AddToScheme runs.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme registers all kinds of this package with a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&ConfigBundle{}, &ConfigBundleList{},
		&KickPolicy{}, &KickPolicyList{},
		&KickRequest{}, &KickRequestList{},
		&NotificationPolicy{}, &NotificationPolicyList{},
		&SourceObservation{}, &SourceObservationList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
