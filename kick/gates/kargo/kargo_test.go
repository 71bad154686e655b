package kargo_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/gates"
	"github.com/corewire/kick/kick/gates/argocd"
	"github.com/corewire/kick/kick/gates/gatestest"
	"github.com/corewire/kick/kick/gates/kargo"
	core "github.com/corewire/kick/kick/model/gitops/argocd"
	"github.com/corewire/kick/kick/model/request"
)

const (
	app        = "Application argocd/shop"
	prod       = "Stage shop-project/prod"
	edge       = "Stage shop-project/edge"
	promotion  = "Promotion shop-project/prod.01hx"
	annotation = "metadata annotations kargo.akuity.io/authorized-stage"
)

const objects = `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd, annotations: {kargo.akuity.io/authorized-stage: "shop-project:prod"}}
spec:
  destination: {server: https://kubernetes.default.svc, namespace: shop}
  source: {repoURL: https://git.example.com/shop.git}
status:
  reconciledAt: "2026-03-02T11:58:00Z"
  sync:
    status: Synced
    comparedTo: {destination: {server: https://kubernetes.default.svc, namespace: shop}, source: {repoURL: https://git.example.com/shop.git}}
  resources: [{group: apps, version: v1, kind: Deployment, namespace: shop, name: web, status: Synced}]
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
spec: {syncWindows: [{kind: deny, schedule: "0 22 * * *", duration: 8h, applications: ["*"]}]}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: prod, namespace: shop-project}
status:
  autoPromotionEnabled: true
  lastPromotion: {name: prod.01hw, finishedAt: "2026-03-02T11:57:00Z", status: {phase: Succeeded}}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: edge, namespace: shop-project}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Promotion
metadata: {name: prod.01hx, namespace: shop-project}
spec: {stage: prod, freight: abc}
status: {phase: Pending}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Promotion
metadata: {name: edge.01hx, namespace: shop-project}
spec: {stage: edge}
status: {phase: Succeeded}
`

func world() *gatestest.World {
	w := &gatestest.World{
		Strips: map[string]func(client.Object){
			"Application": argocd.Strip("apps/Deployment"), "Promotion": kargo.StripPromotion, "Stage": gates.StripToName,
		},
		Indexes: map[string]func(client.Object) []string{argocd.Index: argocd.IndexValues, kargo.Index: kargo.IndexValues},
	}
	w.Add(objects)
	return w
}

func question() gates.Question {
	q := gatestest.Deployment()
	q.Annotations["argocd.argoproj.io/tracking-id"] = "shop:apps/Deployment:shop/web"
	return q
}

func unreconciled(_ *gatestest.World, q *gates.Question) { q.Unreconciled = true }

func stages(value string) gatestest.Change { return gatestest.In(app, annotation, value) }

func provider(tolerant bool) *kargo.Provider {
	return &kargo.Provider{Argo: argocd.New(core.Config{}), Tolerant: tolerant}
}

// Proves: KICK-FEAT-025.
func TestContract(t *testing.T) {
	gatestest.Contract(t, gatestest.Tool{
		Provider: provider(false), World: world, Question: question,
		Owner: app, Kinds: []string{"Application", "AppProject", "Stage"},
		Cases: []gatestest.Case{
			{Name: "no annotation (KICK-E2E-070)", Change: gatestest.In(app, annotation, nil), Reason: request.OwnerUnknown, Says: []string{app, "kargo.akuity.io/authorized-stage names no Stage"}},
			{Name: "an empty annotation", Change: stages(" , "), Reason: request.OwnerUnknown, Says: []string{app}},
			{Name: "no colon", Change: stages("prod"), Reason: request.OwnerUnknown, Says: []string{app, `"prod": want project:stage`}},
			{Name: "one of two without a colon", Change: stages("shop-project:prod,edge"), Reason: request.OwnerUnknown, Says: []string{`"edge"`}},
			{Name: "a star", Change: stages("shop-project:prod,shop-project:*"), Reason: request.OwnerUnknown, Says: []string{`"shop-project:*": a star is not allowed`}},
			{Name: "blanks and a trailing comma", Change: stages(" shop-project : prod , "), Reason: request.Allowed},
			{Name: "two that are idle (KICK-E2E-071)", Change: stages("shop-project:prod, shop-project:edge"), Reason: request.Allowed},
			{Name: "two, the second promotes", Change: gatestest.Both(stages("shop-project:prod,shop-project:edge"), gatestest.In(edge, "status currentPromotion name", "edge.01hy")), Reason: request.OwnerReconciling, Says: []string{edge, `"edge.01hy"`}},
			{Name: "the same one twice", Change: stages("shop-project:prod,shop-project:prod"), Reason: request.Allowed},
			{Name: "no such Stage", Change: stages("shop-project:prd"), Reason: request.OwnerUnknown, Says: []string{app, "Stage shop-project/prd, which does not exist"}},
			{Name: "a Stage of another project", Change: stages("other:prod"), Reason: request.OwnerUnknown, Says: []string{"Stage other/prod"}},

			{Name: "a promotion is active (KICK-E2E-068)", Change: gatestest.In(prod, "status currentPromotion", map[string]any{"name": "prod.01hx"}), Reason: request.OwnerReconciling, Says: []string{prod, "status.currentPromotion", `"prod.01hx"`, "when the Stage or a Promotion changes"}},
			{Name: "a promotion without a name", Change: gatestest.In(prod, "status currentPromotion", map[string]any{"freight": "x"}), Reason: request.ProviderUnavailable, Says: []string{prod, "status.currentPromotion"}},
			{Name: "a Promotion runs that the Stage does not name yet", Change: gatestest.In(promotion, "status phase", "Running"), Reason: request.OwnerReconciling, Says: []string{promotion, prod, `"Running"`}},
			{Name: "a Promotion of a phase nobody knows", Change: gatestest.In(promotion, "status phase", "Pondering"), Reason: request.OwnerReconciling, Says: []string{`"Pondering"`}},
			{Name: "a Promotion that was not seen yet", Change: gatestest.In(promotion, "status", nil), Reason: request.Allowed},
			{Name: "a Promotion that was aborted", Change: gatestest.In(promotion, "status phase", "Aborted"), Reason: request.Allowed},
			{Name: "a Promotion of another Stage runs", Change: gatestest.In("Promotion shop-project/edge.01hx", "status phase", "Running"), Reason: request.Allowed},

			{Name: "not compared since the promotion (KICK-E2E-069)", Change: gatestest.In(prod, "status lastPromotion finishedAt", "2026-03-02T11:59:00Z"), Reason: request.OwnerReconciling, Says: []string{app, "status.reconciledAt 2026-03-02T11:58:00Z is not after 2026-03-02T11:59:00Z", "Promotion shop-project/prod.01hw of Stage shop-project/prod ended", "when its owner changes"}},
			{Name: "compared in the second it ended", Change: gatestest.In(prod, "status lastPromotion finishedAt", "2026-03-02T11:58:00Z"), Reason: request.OwnerReconciling},
			{Name: "the end stands in the status", Change: gatestest.Both(gatestest.In(prod, "status lastPromotion finishedAt", nil), gatestest.In(prod, "status lastPromotion status finishedAt", "2026-03-02T11:59:00Z")), Reason: request.OwnerReconciling},
			{Name: "the later of two counts", Change: gatestest.Both(stages("shop-project:edge,shop-project:prod"), gatestest.In(edge, "status lastPromotion", map[string]any{"name": "edge.01hv", "finishedAt": "2026-03-02T11:59:30Z"})), Reason: request.OwnerReconciling, Says: []string{"Promotion shop-project/edge.01hv"}},
			{Name: "never a promotion", Change: gatestest.In(prod, "status", nil), Reason: request.Allowed},
			{Name: "an end that is no time", Change: gatestest.In(prod, "status lastPromotion finishedAt", "soon"), Reason: request.ProviderUnavailable, Says: []string{prod, "status.lastPromotion.finishedAt", `"soon"`}},

			{Name: "then Argo CD: out of sync", Change: gatestest.In(app, "status sync status", "OutOfSync"), Reason: request.OwnerOutOfSync, Says: []string{app}},
			{Name: "then Argo CD: a window", Change: func(_ *gatestest.World, q *gates.Question) { q.Now = q.Now.Add(12 * 3600 * 1e9) }, Reason: request.OwnerOutOfSync},
			{Name: "unreconciled: a promotion still counts", Change: gatestest.Both(unreconciled, gatestest.In(prod, "status currentPromotion", map[string]any{"name": "prod.01hx"})), Reason: request.OwnerReconciling},
			{Name: "unreconciled: the comparison does not", Change: gatestest.Both(unreconciled, gatestest.In(prod, "status lastPromotion finishedAt", "2026-03-02T11:59:00Z")), Reason: request.Allowed},
			{Name: "unreconciled: a window does", Change: gatestest.Both(unreconciled, func(_ *gatestest.World, q *gates.Question) { q.Now = q.Now.Add(12 * 3600 * 1e9) }), Reason: request.OutsideSchedule, WakeAt: "2026-03-03T06:00:00Z"},
			{Name: "another cluster", Change: gatestest.In(app, "spec destination server", "https://prod.example.com"), Reason: request.OwnerUnknown},
		},
	})
}

func TestAMissingStageMayBeTolerated(t *testing.T) {
	w, q := world(), question()
	w.Remove(prod)
	gate, err := provider(true).Ask(t.Context(), w.Readers(), q)
	if err != nil || !gate.Open {
		t.Errorf("%+v (%v)", gate, err)
	}
}

func TestKargoIsNeverDetected(t *testing.T) {
	if _, detectable := any(provider(false)).(gates.Detectable); detectable {
		t.Error("Auto may choose Kargo")
	}
}

func TestStripPromotion(t *testing.T) {
	shared := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kargo.akuity.io/v1alpha1", "kind": "Promotion",
		"metadata": map[string]any{"name": "p", "namespace": "n", "uid": "u", "resourceVersion": "7", "managedFields": []any{"x"}, "annotations": map[string]any{"a": "b"}},
		"spec":     map[string]any{"stage": "prod", "steps": []any{"x"}},
		"status":   map[string]any{"phase": "Running", "state": map[string]any{"x": "y"}},
	}}
	before, mine := shared.DeepCopy(), *shared
	kargo.StripPromotion(&mine)
	if diff := cmp.Diff(before.Object, shared.Object); diff != "" {
		t.Errorf("the shared object is changed:\n%s", diff)
	}
	want := map[string]any{
		"apiVersion": "kargo.akuity.io/v1alpha1", "kind": "Promotion",
		"metadata": map[string]any{"name": "p", "namespace": "n", "uid": "u", "resourceVersion": "7"},
		"spec":     map[string]any{"stage": "prod"}, "status": map[string]any{"phase": "Running"},
	}
	for range 2 {
		if diff := cmp.Diff(want, mine.Object); diff != "" {
			t.Errorf("stripped (-want +got):\n%s", diff)
		}
		kargo.StripPromotion(&mine)
	}
	if got := kargo.IndexValues(&mine); !cmp.Equal(got, []string{"prod"}) {
		t.Errorf("index %v", got)
	}
}

func TestStageIndex(t *testing.T) {
	for value, want := range map[string][]string{"a:b, c:d": {"a/b", "c/d"}, "a:*": nil, "": {}} {
		o := &unstructured.Unstructured{Object: map[string]any{"kind": "Application", "metadata": map[string]any{"name": "x", "annotations": map[string]any{"kargo.akuity.io/authorized-stage": value}}}}
		argocd.Strip("apps/Deployment")(o)
		if got := kargo.StageIndexValues(o); !cmp.Equal(got, want) {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}
