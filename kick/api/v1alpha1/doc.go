// Package v1alpha1 holds the kinds of API group kick.corewire.io, version v1alpha1.
//
// Its duty is the contract between KICK and its users: Go types, the markers from which the CRDs
// and deep copies are generated, and the values that phases and conditions take. It decides
// nothing, reads nothing and knows no clock; what a phase leads to is the business of kick/model,
// which does not import this package.
//
// Users write KickPolicy (which workloads KICK restarts, and when), NotificationPolicy (who is
// told), ConfigBundle (a ConfigMap that stays as declared) and, for a restart they ask for
// themselves, KickRequest. KICK writes the status of those four, the KickRequests it opens itself,
// and SourceObservation, its memory of the changes it saw.
//
// Two rules hold for every field. A string, list or map has an upper bound, so that an object stays
// small and validation stays cheap. And what the API server admits, these types decode: one object
// that does not decode would stop the cache of its kind, and with it every policy of the cluster.
// That is why times and durations carry patterns and rules beyond their format.
//
//	policy := &v1alpha1.KickPolicy{
//		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "restarts"},
//		Spec: v1alpha1.KickPolicySpec{
//			Schedule: v1alpha1.Schedule{Windows: []v1alpha1.Window{{
//				Type:     v1alpha1.WindowAllow,
//				Cron:     "0 2 * * *",
//				Duration: metav1.Duration{Duration: 2 * time.Hour},
//				TimeZone: "Europe/Berlin",
//			}}},
//		},
//	}
//
// +kubebuilder:object:generate=true
// +groupName=kick.corewire.io
package v1alpha1
