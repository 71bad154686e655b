package argocd_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/gates"
	"github.com/corewire/kick/kick/gates/argocd"
	"github.com/corewire/kick/kick/gates/gatestest"
	"github.com/corewire/kick/kick/model"
	core "github.com/corewire/kick/kick/model/gitops/argocd"
	"github.com/corewire/kick/kick/model/request"
)

const (
	app      = "Application argocd/shop"
	project  = "AppProject argocd/team"
	settings = "ConfigMap argocd/argocd-cm"
	tracking = "metadata annotations argocd.argoproj.io/tracking-id"
)

// objects as Argo CD 3.5 leaves them some time after a sync.
const objects = `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd, generation: 812, annotations: {team: a}}
spec:
  project: team
  destination: {server: https://kubernetes.default.svc, namespace: shop}
  source: {repoURL: https://git.example.com/shop.git, path: deploy, targetRevision: main, helm: {}, directory: {recurse: false}}
  syncPolicy: {automated: {prune: true}}
status:
  controllerNamespace: argocd
  reconciledAt: "2026-03-02T11:58:00Z"
  health: {status: Degraded}
  sync:
    status: Synced
    revision: abc
    comparedTo:
      destination: {server: https://kubernetes.default.svc, namespace: shop}
      source: {repoURL: https://git.example.com/shop.git, path: deploy, targetRevision: main}
  operationState: {phase: Succeeded, startedAt: "2026-03-02T11:00:00Z", finishedAt: "2026-03-02T11:00:04Z"}
  conditions: [{type: OrphanedResourceWarning, message: "Application has 1 orphaned resources"}]
  resources:
  - {version: v1, kind: Service, namespace: shop, name: web, status: Synced}
  - {group: apps, version: v1, kind: Deployment, namespace: shop, name: web, status: Synced}
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: team, namespace: argocd, labels: {tier: shops}}
spec:
  sourceNamespaces: ["team-*", "/^squad-[0-9]+$/"]
  syncWindows:
  - {kind: allow, schedule: "0 11 * * *", duration: 2h, applications: ["*"]}
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
spec: {}
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: freeze, namespace: argocd}
spec:
  syncWindows:
  - {kind: deny, schedule: "30 11 * * *", duration: 1h, clusters: ["*"]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd}
data: {timeout.reconciliation: 120s, timeout.reconciliation.jitter: 60s}
`

func world() *gatestest.World {
	w := &gatestest.World{
		Strips:  map[string]func(client.Object){"Application": argocd.Strip("apps/Deployment", "apps/StatefulSet")},
		Indexes: map[string]func(client.Object) []string{argocd.Index: argocd.IndexValues},
	}
	w.Add(objects)
	return w
}

func question() gates.Question {
	q := gatestest.Deployment()
	q.Annotations["argocd.argoproj.io/tracking-id"] = "shop:apps/Deployment:shop/web"
	return q
}

// set changes a field of the Application.
func set(path string, value any) func(*gatestest.World, *gates.Question) {
	return gatestest.In(app, path, value)
}

func resources(text ...string) []any {
	var all []any
	for _, t := range text {
		status, rest, _ := strings.Cut(t, " ")
		kind, name, _ := strings.Cut(rest, "/")
		entry := map[string]any{"group": "apps", "version": "v1", "kind": kind, "namespace": "shop", "name": name}
		switch status {
		case "pruned":
			entry["status"], entry["requiresPruning"] = "OutOfSync", true
		case "hook":
			entry["hook"] = true
		default:
			entry["status"] = status
		}
		all = append(all, entry)
	}
	return all
}

// another adds a second Application that lists the workload.
func another(namespace, name, server string) func(*gatestest.World, *gates.Question) {
	return func(w *gatestest.World, _ *gates.Question) {
		w.Add(`{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: ` + name + `, namespace: ` + namespace + `},
  spec: {destination: {server: "` + server + `"}}, status: {resources: [{group: apps, kind: Deployment, namespace: shop, name: web, status: Synced}]}}`)
	}
}

func annotate(key, value string) func(*gatestest.World, *gates.Question) {
	return func(_ *gatestest.World, q *gates.Question) { q.Annotations["argocd.argoproj.io/"+key] = value }
}

func untracked(_ *gatestest.World, q *gates.Question) { q.Annotations = nil }

func unreconciled(_ *gatestest.World, q *gates.Question) { q.Unreconciled = true }

func stamped(_ *gatestest.World, q *gates.Question) {
	q.Workload.Stamp = model.Stamp{Raw: "x", At: gatestest.Now, Manager: model.FieldManager}
}

// moved puts the Application into another namespace.
func moved(namespace string) func(*gatestest.World, *gates.Question) {
	return func(w *gatestest.World, q *gates.Question) {
		w.Set(app, "metadata namespace", namespace)
		q.Annotations["argocd.argoproj.io/tracking-id"] = namespace + "_shop:apps/Deployment:shop/web"
	}
}

const globals = "- projectName: freeze\n  labelSelector: {matchExpressions: [{key: tier, operator: In, values: [shops]}]}\n"

// Proves: KICK-FEAT-009, KICK-FEAT-010, KICK-FEAT-012, KICK-FEAT-013.
func TestContract(t *testing.T) {
	gatestest.Contract(t, gatestest.Tool{
		Provider: argocd.New(core.Config{}), World: world, Question: question,
		Owner: app, Kinds: []string{"Application", "AppProject", "ConfigMap"},
		Cases: append(append(owners, states...), projects...),
	})
}

var owners = []gatestest.Case{
	{Name: "found by status.resources alone", Change: untracked, Reason: request.Allowed},
	{Name: "a tracking-id that cannot be read", Change: annotate("tracking-id", "shop"), Reason: request.Allowed},
	{Name: "a tracking-id that cannot be read, and nobody lists it", Change: gatestest.Both(annotate("tracking-id", "shop:Deployment:shop/web"), set("status resources", nil)), Reason: request.OwnerUnknown, Says: []string{`"shop:Deployment:shop/web"`, `"Deployment": want group/Kind`}},
	{Name: "a copied tracking-id, and nobody lists it", Change: gatestest.Both(annotate("tracking-id", "shop:apps/Deployment:shop/other"), set("status resources", nil)), Reason: request.OwnerUnknown, Says: []string{"describes another object"}},
	{Name: "a tracking-id of an Application that is gone", Change: annotate("tracking-id", "gone:apps/Deployment:shop/web"), Reason: request.Allowed},
	{Name: "a tracking-id of an Application that is gone, and nobody lists it", Change: gatestest.Both(annotate("tracking-id", "gone:apps/Deployment:shop/web"), set("status resources", nil)), Reason: request.OwnerUnknown, Says: []string{"names Application argocd/gone, which does not exist"}},
	{Name: "listed for pruning only", Change: gatestest.Both(untracked, set("status resources", resources("pruned Deployment/web"))), Reason: request.OwnerUnknown},
	{Name: "tracked, but listed for pruning only", Change: set("status resources", resources("pruned Deployment/web")), Reason: request.OwnerOutOfSync, Says: []string{app, "status.resources does not list Deployment shop/web as wanted"}},
	{Name: "listed by two", Change: another("argocd", "other", "https://kubernetes.default.svc"), Reason: request.AmbiguousOwner, Says: []string{"Application argocd/other and Application argocd/shop"}},
	{Name: "listed by one of another cluster, too", Change: another("argocd", "other", "https://prod.example.com"), Reason: request.Allowed},
	{Name: "listed by one of another namespace, too", Change: another("team-a", "shop", "https://kubernetes.default.svc"), Reason: request.AmbiguousOwner, Says: []string{"Application team-a/shop"}},
	{Name: "a warning about a shared resource", Change: set("status conditions", []any{map[string]any{"type": "SharedResourceWarning", "message": "Deployment/web is part of applications argocd/shop and b"}}), Reason: request.AmbiguousOwner, Says: []string{app, "SharedResourceWarning"}},
	{Name: "a warning about another shared resource", Change: set("status conditions", []any{map[string]any{"type": "SharedResourceWarning", "message": "Deployment/web2 is part of applications argocd/shop and b"}}), Reason: request.Allowed},
	{Name: "another cluster", Change: set("spec destination server", "https://prod.example.com"), Reason: request.OwnerUnknown, Says: []string{app, "spec.destination", `server "https://prod.example.com"`}},
	{Name: "no destination", Change: set("spec destination", nil), Reason: request.OwnerUnknown, Says: []string{app, "spec.destination"}},
	{Name: "this cluster with a slash", Change: gatestest.Both(set("spec destination server", "https://kubernetes.default.svc/"), set("status sync comparedTo destination server", "https://kubernetes.default.svc/")), Reason: request.Allowed},
	{Name: "this cluster by its name", Change: gatestest.Both(set("spec destination", map[string]any{"name": "in-cluster", "namespace": "shop"}), set("status sync comparedTo destination", map[string]any{"name": "in-cluster", "namespace": "shop"})), Reason: request.Allowed},
	{Name: "another installation", Change: annotate("installation-id", "blue"), Reason: request.OwnerUnknown, Says: []string{`installation-id is "blue"`, "another Argo CD"}},
	{Name: "another installation than ours", Change: gatestest.Both(annotate("installation-id", "blue"), gatestest.In(settings, "data installationID", "green")), Reason: request.OwnerUnknown, Says: []string{`"blue"`, `"green"`}},
	{Name: "our installation", Change: gatestest.Both(annotate("installation-id", "blue"), gatestest.In(settings, "data installationID", "blue")), Reason: request.Allowed},
	{Name: "our installation, listed but not marked", Change: gatestest.In(settings, "data installationID", "green"), Reason: request.Allowed},
	{Name: "our installation, neither listed nor marked", Change: gatestest.Both(gatestest.In(settings, "data installationID", "green"), set("status resources", nil)), Reason: request.OwnerUnknown, Says: []string{"it has no argocd.argoproj.io/installation-id"}},
	{Name: "tracking by label, listed", Change: gatestest.Both(untracked, gatestest.In(settings, "data application.resourceTrackingMethod", "label")), Reason: request.Allowed},
	{Name: "tracking by label, a leftover annotation", Change: gatestest.Both(gatestest.In(settings, "data application.resourceTrackingMethod", "label"), set("status resources", nil)), Reason: request.OwnerUnknown, Says: []string{"tracks by label"}},
	{Name: "annotation+label", Change: gatestest.In(settings, "data application.resourceTrackingMethod", "annotation+label"), Reason: request.Allowed},
	{Name: "a label of a chart proves nothing", Change: gatestest.Both(untracked, set("status resources", nil), func(_ *gatestest.World, q *gates.Question) {
		q.Workload.Labels["app.kubernetes.io/instance"] = "shop"
	}), Reason: request.OwnerUnknown},
	{Name: "an Application of an admitted namespace", Change: moved("team-a"), Reason: request.Allowed},
	{Name: "an Application of a namespace admitted by an expression", Change: moved("squad-7"), Reason: request.Allowed},
	{Name: "an Application of a namespace that is not admitted", Change: moved("other"), Reason: request.ProjectUnknown, Says: []string{"Application other/shop", "spec.sourceNamespaces of AppProject argocd/team", `"other"`}},
}

var states = []gatestest.Case{
	{Name: "deleted", Change: set("metadata deletionTimestamp", "2026-03-02T11:59:00Z"), Reason: request.OwnerReconciling, Says: []string{app, "deletionTimestamp"}},
	{Name: "frozen", Change: set("metadata annotations argocd.argoproj.io/skip-reconcile", "true"), Reason: request.OwnerOutOfSync, Says: []string{app, "skip-reconcile"}},
	{Name: "not frozen", Change: set("metadata annotations argocd.argoproj.io/skip-reconcile", "false"), Reason: request.Allowed},
	{Name: "another control plane", Change: set("status controllerNamespace", "argocd-2"), Reason: request.ProviderUnavailable, Says: []string{app, "status.controllerNamespace", `"argocd-2"`, `"argocd"`}},
	{Name: "no control plane in the status", Change: set("status controllerNamespace", nil), Reason: request.Allowed},
	{Name: "an operation is asked for", Change: set("operation", map[string]any{"sync": map[string]any{}}), Reason: request.OwnerReconciling, Says: []string{app, "operation is set"}},
	{Name: "an operation runs", Change: gatestest.Both(set("status operationState phase", "Running"), set("status operationState startedAt", "2026-03-02T11:55:00Z")), Reason: request.OwnerReconciling, Says: []string{"status.operationState.phase", `"Running"`, "since 2026-03-02T11:55:00Z"}, WakeAt: "2026-03-02T12:55:00Z"},
	{Name: "an operation waits for its retry", Change: gatestest.Both(set("status operationState phase", "Running"), set("operation", map[string]any{})), Reason: request.OwnerReconciling},
	{Name: "an operation hangs", Change: gatestest.Both(set("status operationState phase", "Running"), set("status operationState startedAt", "2026-03-01T11:55:00Z")), Reason: request.OwnerReconciling, Says: []string{"it seems to hang"}},
	{Name: "an operation is ended", Change: set("status operationState phase", "Terminating"), Reason: request.OwnerReconciling},
	{Name: "an unknown phase", Change: set("status operationState phase", "Pondering"), Reason: request.OwnerReconciling, Says: []string{`"Pondering"`}},
	{Name: "the last operation failed", Change: set("status operationState phase", "Failed"), Reason: request.Allowed},
	{Name: "the last operation had an error", Change: set("status operationState phase", "Error"), Reason: request.Allowed},
	{Name: "never an operation", Change: set("status operationState", nil), Reason: request.Allowed},
	{Name: "a refresh is asked for", Change: set("metadata annotations argocd.argoproj.io/refresh", "normal"), Reason: request.OwnerReconciling, Says: []string{"argocd.argoproj.io/refresh"}},
	{Name: "a hydration is asked for", Change: set("metadata annotations argocd.argoproj.io/hydrate", "normal"), Reason: request.OwnerReconciling, Says: []string{"argocd.argoproj.io/hydrate"}},
	{Name: "a hydration runs", Change: set("status sourceHydrator currentOperation phase", "Hydrating"), Reason: request.OwnerReconciling, Says: []string{"Hydrating"}},
	{Name: "the source was changed", Change: set("spec source targetRevision", "v2"), Reason: request.OwnerReconciling, Says: []string{app, "spec.source", "status.sync.comparedTo.source"}},
	{Name: "the destination was changed", Change: set("spec destination namespace", "shop2"), Reason: request.OwnerReconciling, Says: []string{"spec.destination"}},
	{Name: "several sources, compared", Change: gatestest.Both(set("spec sources", []any{map[string]any{"repoURL": "a"}}), set("status sync comparedTo sources", []any{map[string]any{"repoURL": "a", "path": ""}})), Reason: request.Allowed},
	{Name: "several sources, one was changed", Change: gatestest.Both(set("spec sources", []any{map[string]any{"repoURL": "a"}}), set("status sync comparedTo sources", []any{map[string]any{"repoURL": "b"}})), Reason: request.OwnerReconciling, Says: []string{"spec.sources"}},
	{Name: "a source hydrator names another source", Change: gatestest.Both(set("spec sourceHydrator", map[string]any{"drySource": map[string]any{}}), set("spec source", nil)), Reason: request.Allowed},
	{Name: "never compared", Change: set("status reconciledAt", nil), Reason: request.OwnerReconciling, Says: []string{app, "status.reconciledAt"}},
	{Name: "a comparison error", Change: set("status conditions", []any{map[string]any{"type": "ComparisonError", "message": "s3cret"}}), Reason: request.OwnerOutOfSync, Says: []string{app, "ComparisonError"}},
	{Name: "an invalid spec", Change: set("status conditions", []any{map[string]any{"type": "InvalidSpecError"}}), Reason: request.OwnerOutOfSync},
	{Name: "an unknown error", Change: set("status conditions", []any{map[string]any{"type": "UnknownError"}}), Reason: request.OwnerOutOfSync},
	{Name: "a sync error does not count", Change: set("status conditions", []any{map[string]any{"type": "SyncError"}}), Reason: request.Allowed},
	{Name: "out of sync", Change: set("status sync status", "OutOfSync"), Reason: request.OwnerOutOfSync, Says: []string{app, "status.sync.status", `"OutOfSync"`, "when its owner changes"}},
	{Name: "unknown", Change: set("status sync status", "Unknown"), Reason: request.OwnerOutOfSync},
	{Name: "no sync status", Change: set("status sync status", nil), Reason: request.OwnerOutOfSync},
	{Name: "the gap after a sync", Change: set("status operationState finishedAt", "2026-03-02T11:59:00Z"), Reason: request.OwnerReconciling, Says: []string{"status.reconciledAt 2026-03-02T11:58:00Z", "finishedAt 2026-03-02T11:59:00Z"}},
	{Name: "compared in the second the sync ended", Change: set("status operationState finishedAt", "2026-03-02T11:58:00Z"), Reason: request.Allowed},
	{Name: "the workload is not listed", Change: set("status resources", resources("Synced Deployment/other")), Reason: request.OwnerOutOfSync, Says: []string{"status.resources does not list Deployment shop/web"}},
	{Name: "the workload differs", Change: set("status resources", resources("OutOfSync Deployment/web")), Reason: request.OwnerOutOfSync, Says: []string{"status of Deployment shop/web", `"OutOfSync"`}},
	{Name: "another resource differs", Change: set("status resources", resources("Synced Deployment/web", "OutOfSync Deployment/other")), Reason: request.Allowed},
	{Name: "the workload is a hook", Change: set("status resources", resources("hook Deployment/web")), Reason: request.OwnerOutOfSync},
	{Name: "KICK's own restart shut the gate", Change: gatestest.Both(stamped, set("status sync status", "OutOfSync"), set("status resources", resources("OutOfSync Deployment/web"))), Reason: request.OwnerOutOfSync, Says: []string{"kubectl.kubernetes.io/restartedAt", "spec.template.metadata.annotations empty or null"}},
	{Name: "an old comparison", Change: set("status reconciledAt", "2026-03-02T11:45:00Z"), Reason: request.OwnerOutOfSync, Says: []string{"more than 15m0s ago"}},
	{Name: "not quite an old comparison", Change: set("status reconciledAt", "2026-03-02T11:45:01Z"), Reason: request.Allowed},
	{Name: "comparisons are not made by time", Change: gatestest.Both(set("status reconciledAt", "2026-02-02T11:45:00Z"), set("status operationState", nil), gatestest.In(settings, "data timeout.reconciliation", "0s")), Reason: request.Allowed},
	{Name: "a time that is none", Change: set("status reconciledAt", "yesterday"), Reason: request.ProviderUnavailable, Says: []string{app, "status.reconciledAt", `"yesterday"`}},
	{Name: "an operation that began at the end of time", Change: gatestest.Both(set("status operationState phase", "Running"), set("status operationState startedAt", "9999-12-31T23:59:59Z")), Reason: request.OwnerReconciling, Says: []string{app, "9999-12-31T23:59:59Z", "looks again when"}},
	{Name: "resources that are none", Change: set("status resources", []any{"web"}), Reason: request.ProviderUnavailable, Says: []string{app, "status.resources[0]", `"web"`}},
	{Name: "unreconciled: out of sync does not count", Change: gatestest.Both(unreconciled, set("status sync status", "OutOfSync")), Reason: request.Allowed},
	{Name: "unreconciled: an operation does not count", Change: gatestest.Both(unreconciled, set("operation", map[string]any{})), Reason: request.Allowed},
	{Name: "unreconciled: a deletion does", Change: gatestest.Both(unreconciled, set("metadata deletionTimestamp", "2026-03-02T11:59:00Z")), Reason: request.OwnerReconciling},
	{Name: "unreconciled: windows do", Change: gatestest.Both(unreconciled, gatestest.In(project, "spec syncWindows", nil), gatestest.In(project, "spec syncWindows", []any{map[string]any{"kind": "deny", "schedule": "0 11 * * *", "duration": "2h", "applications": []any{"*"}}})), Reason: request.OutsideSchedule},
	{Name: "unreconciled: an owner is needed", Change: gatestest.Both(unreconciled, untracked, set("status resources", nil)), Reason: request.OwnerUnknown},
}

var projects = []gatestest.Case{
	{Name: "no such project", Change: set("spec project", "nowhere"), Reason: request.ProjectUnknown, Says: []string{app, "AppProject argocd/nowhere", "does not exist"}},
	{Name: "an empty project is default", Change: set("spec project", ""), Reason: request.Allowed},
	{Name: "an empty project, and no default", Change: gatestest.Both(set("spec project", nil), func(w *gatestest.World, _ *gates.Question) { w.Remove("AppProject argocd/default") }), Reason: request.ProjectUnknown, Says: []string{"AppProject argocd/default"}},
	{Name: "outside the allow window", Change: func(_ *gatestest.World, q *gates.Question) { q.Now = q.Now.Add(-2 * 60 * 60 * 1e9) }, Reason: request.OutsideSchedule, Says: []string{app, "AppProject argocd/team: spec.syncWindows[0]", `allow "0 11 * * *" UTC for 2h`, "looks again at 2026-03-02T11:00:00Z"}, WakeAt: "2026-03-02T11:00:00.000001Z"},
	{Name: "a global project denies", Change: gatestest.In(settings, "data globalProjects", globals), Reason: request.OutsideSchedule, Says: []string{"AppProject argocd/freeze: spec.syncWindows[0]", "looks again at 2026-03-02T12:30:00Z"}, WakeAt: "2026-03-02T12:30:00Z"},
	{Name: "a global project of others", Change: gatestest.Both(gatestest.In(settings, "data globalProjects", globals), gatestest.In(project, "metadata labels tier", "desks")), Reason: request.Allowed},
	{Name: "a project is not global for itself", Change: gatestest.Both(set("spec project", "freeze"), gatestest.In("AppProject argocd/freeze", "spec syncWindows", nil), gatestest.In(settings, "data globalProjects", "[{projectName: freeze}]")), Reason: request.Allowed},
	{Name: "a missing global project ends the list", Change: gatestest.In(settings, "data globalProjects", "- projectName: nowhere\n"+globals), Reason: request.Allowed},
	{Name: "a global project without a name", Change: gatestest.In(settings, "data globalProjects", "- labelSelector: {}\n"), Reason: request.Allowed},
	{Name: "a global project of a name that cannot be", Change: gatestest.In(settings, "data globalProjects", "- projectName: a/b\n"), Reason: request.Allowed},
	{Name: "a selector that cannot be read ends the list", Change: gatestest.In(settings, "data globalProjects", "- {projectName: default, labelSelector: {matchExpressions: [{key: tier, operator: Near}]}}\n"+globals), Reason: request.Allowed},
	{Name: "a selector that cannot be read leaves the ones before", Change: gatestest.In(settings, "data globalProjects", globals+"- {projectName: default, labelSelector: {matchExpressions: [{key: tier, operator: Near}]}}\n"), Reason: request.OutsideSchedule},
	{Name: "global projects that cannot be read", Change: gatestest.In(settings, "data globalProjects", "projectName: freeze"), Reason: request.ConfigurationError, Says: []string{settings, "data.globalProjects", `"projectName: freeze"`}},
	{Name: "a window that cannot be read", Change: gatestest.In(project, "spec syncWindows", []any{map[string]any{"kind": "allow", "schedule": "0 9 * * 7", "duration": "1h", "namespaces": []any{"shop"}}}), Reason: request.ConfigurationError, Says: []string{"AppProject argocd/team: spec.syncWindows[0].schedule", `"0 9 * * 7"`, "when the project"}},
	{Name: "a window of another type", Change: gatestest.In(project, "spec syncWindows", []any{map[string]any{"kind": int64(7)}}), Reason: request.ConfigurationError, Says: []string{"AppProject argocd/team", "spec.syncWindows[0].kind", `"7"`}},
	{Name: "no ConfigMap", Change: func(w *gatestest.World, _ *gates.Question) { w.Remove(settings) }, Reason: request.Allowed},
	{Name: "settings of another type", Change: gatestest.In(settings, "data", []any{"x"}), Reason: request.ConfigurationError, Says: []string{settings, "data"}},
}

func TestNamespacesOfApplications(t *testing.T) {
	w, q := world(), question()
	moved("team-a")(w, &q)
	for _, test := range []struct {
		namespaces []string
		want       request.Reason
	}{
		{nil, request.Allowed}, {[]string{"team-a"}, request.Allowed}, {[]string{"team-b"}, request.OwnerUnknown},
	} {
		gate, err := argocd.New(core.Config{Namespaces: test.namespaces}).Ask(t.Context(), w.Readers(), q)
		if err != nil || gate.Reason != test.want {
			t.Errorf("looking at %v: %s (%v), want %s", test.namespaces, gate.Reason, err, test.want)
		}
	}
}

func TestClusters(t *testing.T) {
	for _, test := range []struct {
		name    string
		config  core.Config
		targets map[string]any
		want    request.Reason
	}{
		{"server", core.Config{Clusters: []string{"https://10.0.0.1"}}, map[string]any{"server": "https://10.0.0.1/"}, request.Allowed},
		{"name", core.Config{Clusters: []string{"home"}}, map[string]any{"name": "home"}, request.Allowed},
		{"another name", core.Config{Clusters: []string{"home"}}, map[string]any{"name": "away"}, request.OwnerUnknown},
		{"nothing", core.Config{Clusters: []string{""}}, map[string]any{}, request.OwnerUnknown},
	} {
		w := world()
		w.Set(app, "spec destination", test.targets)
		w.Set(app, "status sync comparedTo destination", test.targets)
		gate, err := argocd.New(test.config).Ask(t.Context(), w.Readers(), question())
		if err != nil || gate.Reason != test.want {
			t.Errorf("%s: %s %s (%v), want %s", test.name, gate.Reason, gate.Detail, err, test.want)
		}
	}
}

// Messages of Argo CD may hold what it failed to apply.
func TestNothingOfMessagesIsRepeated(t *testing.T) {
	for _, kind := range []string{"ComparisonError", "SharedResourceWarning"} {
		w := world()
		w.Set(app, "status conditions", []any{map[string]any{"type": kind, "message": "Deployment/web s3cret"}})
		gate, err := argocd.New(core.Config{}).Ask(t.Context(), w.Readers(), question())
		if err != nil || gate.Open || strings.Contains(gate.Detail, "s3cret") {
			t.Errorf("%s: %+v (%v)", kind, gate, err)
		}
	}
}
