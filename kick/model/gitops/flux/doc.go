// Package flux judges what Flux says of one workload: which Kustomization or HelmRelease
// owns it, and whether that owner lets it be restarted now.
//
// # Owner
//
// Labels on the workload name an owner, but people and backups copy labels, and they
// stay on what was orphaned. So a label is a hint that the owner's inventory confirms:
// an owner that has one and does not list the workload is none. (A HelmRelease before
// helm-controller 1.5 has no inventory; then the label alone counts.) An owner whose
// inventory lists the workload counts without a label. One that applies to another
// cluster (spec.kubeConfig) never counts. Exactly one: the owner.
//
// # Gate
//
// Flux tells in conditions whether it is done, but Ready=True may be old news: the
// object is suspended, its spec or its source is newer, or a reconcile was asked for.
// Each of these shuts the gate. So does the Kustomization that applies the HelmRelease,
// if it is not done itself, because the HelmRelease may be about to change.
//
// Reconciling=True stands for two things: busy, and failing with a retry to come. Ready
// tells which. Messages of conditions are not repeated, only reasons, since manifests
// end up in them.
//
// The package is pure; kick/gates/flux reads for it.
package flux
