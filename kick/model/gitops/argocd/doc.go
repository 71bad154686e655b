// Package argocd judges what Argo CD says of one workload: which Application owns it,
// and whether that Application lets it be restarted now.
//
// # Owner
//
// Two witnesses name Applications. The annotation argocd.argoproj.io/tracking-id does,
// if it describes the object it sits on, belongs to this installation of Argo CD, and
// objects are not tracked by label alone. And status.resources of an Application does,
// if it lists the workload other than for pruning. What either of them names counts if
// the Application exists and deploys to this cluster. Exactly one: the owner. None, or
// a tracking-id of another installation: OwnerUnknown. Several, or a warning about a
// shared resource that names the workload: AmbiguousOwner. A label proves nothing,
// since charts set the same one.
//
// # Gate
//
// The rules stand in one list, in the order of Judge; the first that objects decides.
// Those that ask whether the Application is reconciled are left out where a policy says
// requireReconciled: false. Health is not asked: a Degraded application is often the
// one that needs the restart. A failed operation is over, and does not count if the
// Application is Synced.
//
// Sync windows come last, and with them when the gate opens next (package syncwindow).
// The windows are the project's and those of every global project that matches it.
//
// # What is not read
//
// metadata.generation says nothing about an Application: its status is no subresource.
// Messages of conditions and operations are not repeated, since manifests and values
// end up in them.
//
// The package is pure. What reads the objects is kick/gates/argocd, and kick/gates/kargo,
// whose answer ends in this one.
package argocd
