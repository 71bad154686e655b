// Package argorollouts has the types of Argo Rollouts (argoproj.io/v1alpha1) that KICK
// reads. They are borrowed, as those of Deployments are of k8s.io/api: the tool's own
// module cannot be imported beside the libraries that KICK is built on.
//
// +kubebuilder:object:generate=true
// +kubebuilder:skip
package argorollouts
