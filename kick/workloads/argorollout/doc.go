// Package argorollout teaches KICK about Rollouts of Argo Rollouts
// (argoproj.io/v1alpha1).
//
// A Rollout is restarted by spec.restartAt, not by its template: a new template would
// be a new canary. The tool's controller then evicts every pod made before that time,
// of all ReplicaSets, a few at a time. So its restart makes no revision, and nothing but
// the pods proves it: status.restartedAt also moves where the controller has dropped the
// restart (docs/decisions/0016).
package argorollout
