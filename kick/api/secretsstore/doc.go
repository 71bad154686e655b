// Package secretsstore has the types of the Secrets Store CSI driver
// (secrets-store.csi.x-k8s.io/v1) that KICK reads. They are borrowed, as those of
// Deployments are of k8s.io/api: the driver's own module is built on older libraries.
//
// +kubebuilder:object:generate=true
// +kubebuilder:skip
package secretsstore
