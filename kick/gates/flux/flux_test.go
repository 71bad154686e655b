package flux_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/gates"
	"github.com/corewire/kick/kick/gates/flux"
	"github.com/corewire/kick/kick/gates/gatestest"
	"github.com/corewire/kick/kick/model/request"
)

const (
	kustomization = "Kustomization flux-system/shop"
	release       = "HelmRelease shop/web"
	repository    = "GitRepository flux-system/shop"
)

// kustomized is a workload applied by a Kustomization.
const kustomized = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop, namespace: flux-system, generation: 4}
spec: {interval: 10m, path: ./deploy, prune: true, sourceRef: {kind: GitRepository, name: shop}}
status:
  observedGeneration: 4
  lastAppliedRevision: main@sha1:abc
  lastAttemptedRevision: main@sha1:abc
  conditions: [{type: Ready, status: "True", reason: ReconciliationSucceeded, lastTransitionTime: "2026-03-02T11:55:00Z"}]
  inventory:
    entries:
    - {id: shop_web_apps_Deployment, v: v1}
    - {id: shop_web__Service, v: v1}
    - {id: _shop__Namespace, v: v1}
    - {id: shop_web_helm.toolkit.fluxcd.io_HelmRelease, v: v2}
    - {id: shop_system__reader_rbac.authorization.k8s.io_Role, v: v1}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: shop, namespace: flux-system}
status: {artifact: {revision: main@sha1:abc}}
`

// released is a workload of a HelmRelease, which a Kustomization applies.
const released = `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: web
  namespace: shop
  generation: 2
  labels: {kustomize.toolkit.fluxcd.io/name: shop, kustomize.toolkit.fluxcd.io/namespace: flux-system}
spec: {interval: 10m}
status:
  observedGeneration: 2
  lastAttemptedRevision: 1.2.3
  conditions:
  - {type: Ready, status: "True", reason: UpgradeSucceeded}
  - {type: Released, status: "True", reason: UpgradeSucceeded}
  history: [{status: deployed, version: 2}, {status: superseded, version: 1}]
  inventory: {entries: [{id: shop_web_apps_Deployment, v: v1}]}
`

func world(documents ...string) func() *gatestest.World {
	return func() *gatestest.World {
		strip := flux.Strip("apps/Deployment")
		w := &gatestest.World{
			Strips:  map[string]func(client.Object){"Kustomization": strip, "HelmRelease": strip},
			Indexes: map[string]func(client.Object) []string{flux.Index: flux.IndexValues},
		}
		for _, d := range documents {
			w.Add(d)
		}
		return w
	}
}

func labelled(prefix, namespace, name string) func() gates.Question {
	return func() gates.Question {
		q := gatestest.Deployment()
		q.Workload.Labels[prefix+".toolkit.fluxcd.io/namespace"], q.Workload.Labels[prefix+".toolkit.fluxcd.io/name"] = namespace, name
		return q
	}
}

func label(key, value string) gatestest.Change {
	return func(_ *gatestest.World, q *gates.Question) { q.Workload.Labels[key] = value }
}

func unlabelled(_ *gatestest.World, q *gates.Question) { q.Workload.Labels = nil }

func unreconciled(_ *gatestest.World, q *gates.Question) { q.Unreconciled = true }

func add(documents string) gatestest.Change {
	return func(w *gatestest.World, _ *gates.Question) { w.Add(documents) }
}

func conditions(text ...string) []any {
	var all []any
	for _, t := range text {
		f := strings.Fields(t)
		all = append(all, map[string]any{"type": f[0], "status": f[1], "reason": f[2], "message": "s3cret"})
	}
	return all
}

func entries(ids ...any) []any {
	var all []any
	for _, id := range ids {
		all = append(all, map[string]any{"id": id, "v": "v1"})
	}
	return all
}

// Proves: KICK-FEAT-014.
func TestKustomization(t *testing.T) {
	set := func(path string, value any) gatestest.Change { return gatestest.In(kustomization, path, value) }
	gatestest.Contract(t, gatestest.Tool{
		Provider: flux.New(flux.Kustomization, flux.HelmRelease), World: world(kustomized), Question: labelled("kustomize", "flux-system", "shop"),
		Owner: kustomization, Kinds: []string{"Kustomization", "GitRepository"},
		Cases: []gatestest.Case{
			{Name: "found by the inventory alone", Change: unlabelled, Reason: request.Allowed},
			{Name: "no labels, and nobody lists it", Change: gatestest.Both(unlabelled, set("status inventory", nil)), Reason: request.OwnerUnknown, Says: []string{"no labels of Flux"}},
			{Name: "labels without a namespace are no labels", Change: gatestest.Both(label("kustomize.toolkit.fluxcd.io/namespace", ""), set("status inventory entries", entries())), Reason: request.OwnerUnknown},
			{Name: "copied labels", Change: set("status inventory entries", entries("shop_other_apps_Deployment")), Reason: request.OwnerUnknown, Says: []string{kustomization, "status.inventory does not list it"}},
			{Name: "an inventory of nothing", Change: set("status inventory", map[string]any{}), Reason: request.OwnerUnknown, Says: []string{kustomization}},
			{Name: "labels of another owner that is gone", Change: gatestest.Both(label("kustomize.toolkit.fluxcd.io/name", "gone"), set("status inventory", nil)), Reason: request.OwnerUnknown, Says: []string{"Kustomization flux-system/gone", "does not exist here"}},
			{Name: "labels of another owner that is gone, but listed here", Change: label("kustomize.toolkit.fluxcd.io/name", "gone"), Reason: request.Allowed},
			{Name: "applied to another cluster", Change: set("spec kubeConfig", map[string]any{"secretRef": map[string]any{"name": "x"}}), Reason: request.OwnerUnknown, Says: []string{kustomization, "spec.kubeConfig"}},
			{Name: "both labels, and the inventory of the release does not list it", Change: gatestest.Both(add(released), gatestest.In(release, "status inventory entries", entries()), label("helm.toolkit.fluxcd.io/name", "web"), label("helm.toolkit.fluxcd.io/namespace", "shop")), Reason: request.Allowed},
			{Name: "both list it", Change: add(released), Reason: request.AmbiguousOwner, Says: []string{release, kustomization}},
			{Name: "an old release without an inventory", Change: gatestest.Both(add(released), gatestest.In(release, "status inventory", nil), label("helm.toolkit.fluxcd.io/name", "web"), label("helm.toolkit.fluxcd.io/namespace", "shop")), Reason: request.AmbiguousOwner},
			{Name: "an inventory that cannot be read", Change: set("status inventory entries", entries("shop_web_apps_Deployment", "nonsense")), Reason: request.ProviderUnavailable, Says: []string{kustomization, "status.inventory.entries[1].id", `"nonsense"`}},
			{Name: "an inventory of numbers", Change: set("status inventory entries", entries("shop_web_apps_Deployment", int64(7))), Reason: request.ProviderUnavailable, Says: []string{"status.inventory.entries[1].id", `"7"`}},

			{Name: "deleted", Change: set("metadata deletionTimestamp", "2026-03-02T11:59:00Z"), Reason: request.OwnerReconciling, Says: []string{kustomization, "deletionTimestamp"}},
			{Name: "suspended", Change: set("spec suspend", true), Reason: request.OwnerOutOfSync, Says: []string{kustomization, "spec.suspend", "requireReconciled: false"}},
			{Name: "not suspended", Change: set("spec suspend", false), Reason: request.Allowed},
			{Name: "stalled", Change: set("status conditions", conditions("Ready False BuildFailed", "Stalled True BuildFailed")), Reason: request.OwnerOutOfSync, Says: []string{"Stalled", `"BuildFailed"`}},
			{Name: "failed", Change: set("status conditions", conditions("Ready False HealthCheckFailed")), Reason: request.OwnerOutOfSync, Says: []string{"Ready is False", `"HealthCheckFailed"`}},
			{Name: "failed, and tries again", Change: set("status conditions", conditions("Ready False HealthCheckFailed", "Reconciling True ProgressingWithRetry")), Reason: request.OwnerOutOfSync, Says: []string{"Ready is False"}},
			{Name: "busy", Change: set("status conditions", conditions("Ready Unknown Progressing", "Reconciling True Progressing")), Reason: request.OwnerReconciling, Says: []string{kustomization, "Reconciling is True", "when its owner changes"}},
			{Name: "busy, with Ready still True", Change: set("status conditions", conditions("Ready True ReconciliationSucceeded", "Reconciling True Progressing")), Reason: request.OwnerReconciling},
			{Name: "waits for health", Change: gatestest.Both(set("spec wait", true), set("status conditions", conditions("Ready Unknown Progressing"))), Reason: request.OwnerReconciling, Says: []string{"waits for the health", "requireReconciled: false"}},
			{Name: "waits for health checks", Change: gatestest.Both(set("spec healthChecks", []any{map[string]any{}}), set("status conditions", conditions("Ready Unknown Progressing", "Reconciling True Progressing"))), Reason: request.OwnerReconciling, Says: []string{"waits for the health"}},
			{Name: "never reconciled", Change: set("status conditions", nil), Reason: request.OwnerReconciling, Says: []string{"no condition Ready"}},
			{Name: "a newer spec", Change: set("metadata generation", int64(5)), Reason: request.OwnerReconciling, Says: []string{"observedGeneration is 4", "generation 5"}},
			{Name: "nothing observed yet", Change: set("status observedGeneration", int64(-1)), Reason: request.OwnerReconciling},
			{Name: "asked to reconcile", Change: set("metadata annotations reconcile.fluxcd.io/requestedAt", "now"), Reason: request.OwnerReconciling, Says: []string{"requestedAt", `"now"`}},
			{Name: "asked to reconcile, and done", Change: gatestest.Both(set("metadata annotations reconcile.fluxcd.io/requestedAt", "now"), set("status lastHandledReconcileAt", "now")), Reason: request.Allowed},
			{Name: "another revision tried", Change: set("status lastAttemptedRevision", "main@sha1:def"), Reason: request.OwnerReconciling, Says: []string{`"main@sha1:def"`}},
			{Name: "no revision applied", Change: gatestest.Both(set("status lastAppliedRevision", nil), set("status lastAttemptedRevision", nil)), Reason: request.OwnerReconciling},
			{Name: "a newer artifact", Change: gatestest.In(repository, "status artifact revision", "main@sha1:def"), Reason: request.OwnerReconciling, Says: []string{kustomization, repository, `"main@sha1:def"`, "when the source changes"}},
			{Name: "no artifact", Change: gatestest.In(repository, "status", nil), Reason: request.OwnerReconciling, Says: []string{repository, "status.artifact.revision"}},
			{Name: "no source", Change: func(w *gatestest.World, _ *gates.Question) { w.Remove(repository) }, Reason: request.OwnerOutOfSync, Says: []string{repository, "does not exist"}},
			{Name: "no sourceRef", Change: set("spec sourceRef", nil), Reason: request.OwnerOutOfSync},
			{Name: "a sourceRef with a namespace", Change: set("spec sourceRef namespace", "elsewhere"), Reason: request.OwnerOutOfSync, Says: []string{"GitRepository elsewhere/shop"}},
			{Name: "a sourceRef with an apiVersion", Change: set("spec sourceRef apiVersion", "source.toolkit.fluxcd.io/v1"), Reason: request.Allowed},
			{Name: "a controller that stands still is flagged, not waited for", Change: set("status conditions", []any{map[string]any{"type": "Ready", "status": "True", "reason": "x", "lastTransitionTime": "2026-02-27T11:55:00Z"}}), Reason: request.Allowed, Says: []string{"may stand still"}},

			{Name: "unreconciled: a failure does not count", Change: gatestest.Both(unreconciled, set("status conditions", conditions("Ready False BuildFailed"))), Reason: request.Allowed},
			{Name: "unreconciled: nor does suspension", Change: gatestest.Both(unreconciled, set("spec suspend", true)), Reason: request.Allowed},
			{Name: "unreconciled: a deletion does", Change: gatestest.Both(unreconciled, set("metadata deletionTimestamp", "2026-03-02T11:59:00Z")), Reason: request.OwnerReconciling},
			{Name: "unreconciled: an owner is needed", Change: gatestest.Both(unreconciled, set("status inventory entries", entries())), Reason: request.OwnerUnknown},
		},
	})
}

// Proves: KICK-FEAT-014.
func TestHelmRelease(t *testing.T) {
	set := func(path string, value any) gatestest.Change { return gatestest.In(release, path, value) }
	parent := strings.Replace(kustomized, "    - {id: shop_web_apps_Deployment, v: v1}\n", "", 1)
	gatestest.Contract(t, gatestest.Tool{
		Provider: flux.New(flux.Kustomization, flux.HelmRelease), World: world(released, parent), Question: labelled("helm", "shop", "web"),
		Owner: release, Kinds: []string{"HelmRelease", "Kustomization"},
		Cases: []gatestest.Case{
			{Name: "found by the inventory alone", Change: unlabelled, Reason: request.Allowed},
			{Name: "no inventory yet, but labelled", Change: set("status inventory", nil), Reason: request.Allowed},
			{Name: "no inventory and no labels", Change: gatestest.Both(unlabelled, set("status inventory", nil)), Reason: request.OwnerUnknown},
			{Name: "installed on another cluster", Change: set("spec kubeConfig", map[string]any{}), Reason: request.OwnerUnknown, Says: []string{release, "spec.kubeConfig"}},
			{Name: "suspended", Change: set("spec suspend", true), Reason: request.OwnerOutOfSync, Says: []string{release, "spec.suspend"}},
			{Name: "busy, with Ready still True", Change: set("status conditions", conditions("Ready True UpgradeSucceeded", "Reconciling True Progressing")), Reason: request.OwnerReconciling, Says: []string{release}},
			{Name: "failed", Change: set("status conditions", conditions("Ready False UpgradeFailed")), Reason: request.OwnerOutOfSync, Says: []string{`"UpgradeFailed"`}},
			{Name: "stalled", Change: set("status conditions", conditions("Ready True x", "Stalled True RetriesExceeded")), Reason: request.OwnerOutOfSync, Says: []string{`"RetriesExceeded"`}},
			{Name: "a newer spec", Change: set("metadata generation", int64(3)), Reason: request.OwnerReconciling},
			{Name: "the newest release failed", Change: set("status history", []any{map[string]any{"status": "failed"}, map[string]any{"status": "deployed"}}), Reason: request.OwnerOutOfSync, Says: []string{"status.history[0].status", `"failed"`}},
			{Name: "no history is told", Change: set("status history", nil), Reason: request.Allowed},
			{Name: "its Kustomization is busy", Change: gatestest.In(kustomization, "status conditions", conditions("Ready Unknown Progressing")), Reason: request.OwnerReconciling, Says: []string{"HelmRelease shop/web is applied by Kustomization flux-system/shop"}},
			{Name: "its Kustomization has a newer artifact", Change: gatestest.In(repository, "status artifact revision", "main@sha1:def"), Reason: request.OwnerReconciling, Says: []string{"is applied by", repository}},
			{Name: "its Kustomization is gone", Change: func(w *gatestest.World, _ *gates.Question) { w.Remove(kustomization) }, Reason: request.Allowed},
			{Name: "its labels were copied", Change: gatestest.Both(gatestest.In(kustomization, "status inventory entries", entries()), gatestest.In(kustomization, "spec suspend", true)), Reason: request.Allowed},
			{Name: "its Kustomization applies to another cluster", Change: gatestest.Both(gatestest.In(kustomization, "spec kubeConfig", map[string]any{}), gatestest.In(kustomization, "spec suspend", true)), Reason: request.Allowed},
			{Name: "unreconciled: its Kustomization does not count", Change: gatestest.Both(unreconciled, gatestest.In(kustomization, "spec suspend", true)), Reason: request.Allowed},
		},
	})
}

// Flux may run without its Helm controller.
func TestWithoutHelmController(t *testing.T) {
	w := world(kustomized)()
	w.Missing = map[string]bool{"HelmRelease": true}
	gate, err := flux.New(flux.Kustomization).Ask(t.Context(), w.Readers(), labelled("kustomize", "flux-system", "shop")())
	if err != nil || !gate.Open {
		t.Errorf("%+v (%v)", gate, err)
	}
}

func TestNothingOfMessagesIsRepeated(t *testing.T) {
	w := world(kustomized)()
	w.Set(kustomization, "status conditions", conditions("Ready False BuildFailed"))
	gate, err := flux.New(flux.Kustomization).Ask(t.Context(), w.Readers(), labelled("kustomize", "flux-system", "shop")())
	if err != nil || gate.Open || strings.Contains(gate.Detail, "s3cret") {
		t.Errorf("%+v (%v)", gate, err)
	}
}
