package generate

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/foreign"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// The kinds of GitOps tools that stories change.
var (
	kustomizations = schema.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"}
	repositories   = schema.GroupVersionKind{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "GitRepository"}
	applications   = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Application"}
	projects       = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "AppProject"}
)

// Where the tools keep their objects, and the one name that these have.
const (
	spaceFlux = "flux-system"
	spaceArgo = "argocd"
	ownerName = "shop"
	revision  = "main@sha1:aaa"
	observed  = 1 // no story changes the spec of a Kustomization: what it says of its generation is an act of its own
)

// drawTool draws the GitOps tool of a world, and what its policies ask.
func (b *builder) drawTool() {
	b.tool = pick(b.maker, "tool", []v1alpha1.GitOpsProvider{v1alpha1.GitOpsFlux, v1alpha1.GitOpsArgoCD})
	b.asked = b.tool
	if b.seldom(4, "found by itself") {
		b.asked = v1alpha1.GitOpsAuto
	}
}

// giveTool lets the world's tool own the workloads given so far. Its objects are in their
// declared state.
func (b *builder) giveTool() {
	var owned []any
	for _, r := range b.world.Given {
		if o := r.Object; templateOf(o) != nil && !b.seldom(8, "not the tool's") {
			owned = append(owned, b.entry(o))
		}
	}
	if b.tool == v1alpha1.GitOpsFlux {
		b.install("flux")
		b.flux(owned)
		return
	}
	b.install("argocd")
	b.argo(owned)
}

// toolIn is the GitOps tool of a world; empty: it has none.
func toolIn(world *scenario.Scenario) string {
	for _, tool := range world.World.CRDs {
		if tool == "flux" || tool == "argocd" {
			return tool
		}
	}
	return ""
}

// entry is how the tool lists a workload that it owns.
func (b *builder) entry(o client.Object) map[string]any {
	of := o.GetObjectKind().GroupVersionKind()
	if b.tool == v1alpha1.GitOpsFlux {
		return map[string]any{"id": o.GetNamespace() + "_" + o.GetName() + "_" + of.Group + "_" + of.Kind, "v": of.Version}
	}
	return map[string]any{"group": of.Group, "version": of.Version, "kind": of.Kind, "namespace": o.GetNamespace(), "name": o.GetName(), "status": "Synced"}
}

func (b *builder) flux(owned []any) {
	meta := metav1.ObjectMeta{Namespace: spaceFlux, Name: ownerName}
	b.give(&foreign.GitRepository{
		TypeMeta: typeOf(repositories), ObjectMeta: meta, Spec: foreign.Free{"url": "https://git.example.com/shop", "interval": "1m"},
		Status: foreign.Free{"artifact": map[string]any{"revision": revision}},
	})
	b.give(&foreign.Kustomization{
		TypeMeta: typeOf(kustomizations), ObjectMeta: meta,
		Spec: foreign.Free{"interval": "10m", "path": "./deploy", "prune": true, "sourceRef": map[string]any{"kind": "GitRepository", "name": ownerName}},
		Status: foreign.Free{
			"observedGeneration": int64(observed), "lastAppliedRevision": revision, "lastAttemptedRevision": revision,
			"conditions": []any{ready("True")}, "inventory": map[string]any{"entries": owned},
		},
	})
}

func ready(status string) map[string]any {
	return map[string]any{"type": "Ready", "status": status, "reason": "Told", "lastTransitionTime": "2026-01-01T00:00:00Z"}
}

func (b *builder) argo(owned []any) {
	b.flag("argocd-stale-after", "-1s") // nobody compares anything here
	deploys := map[string]any{"server": "https://kubernetes.default.svc", "namespace": ownerName}
	spec := foreign.Free{}
	if all := b.syncWindows(); len(all) > 0 {
		spec["syncWindows"] = all
	}
	b.give(&foreign.AppProject{TypeMeta: typeOf(projects), ObjectMeta: metav1.ObjectMeta{Namespace: spaceArgo, Name: "default"}, Spec: spec})
	b.give(&foreign.Application{
		TypeMeta: typeOf(applications), ObjectMeta: metav1.ObjectMeta{Namespace: spaceArgo, Name: ownerName},
		Spec: foreign.Free{"project": "default", "destination": deploys},
		Status: foreign.Free{
			"controllerNamespace": spaceArgo, "reconciledAt": "2026-01-01T00:00:00Z",
			"sync": map[string]any{"status": "Synced", "comparedTo": map[string]any{"destination": deploys}}, "resources": owned,
		},
	})
}

// syncWindows draws up to two windows.
func (b *builder) syncWindows() (all []any) {
	from := b.cadence()
	for _, kind := range []string{"allow", "deny"} {
		if !b.maybe("sync window") {
			continue
		}
		of := pick(b.maker, kind+" sync window", map[string][]span{"allow": from.allow[:2], "deny": from.deny[:2]}[kind])
		b.wait = max(b.wait, of.every+of.open)
		all = append(all, syncWindow(kind, of))
	}
	return all
}

func syncWindow(kind string, of span) map[string]any {
	return map[string]any{"kind": kind, "schedule": of.cron, "duration": of.open.String(), "applications": []any{"*"}}
}

func typeOf(k schema.GroupVersionKind) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: k.GroupVersion().String(), Kind: k.Kind}
}

// tell is what an object of a tool is made to say.
type tell struct {
	kind        schema.GroupVersionKind
	subresource string
	fields      map[string]any
}

// Each unrest is followed by the rest that undoes it.
var (
	fluxUnrest = []tell{
		{kustomizations, "status", map[string]any{"status": map[string]any{"conditions": []any{ready("False")}}}},
		{kustomizations, "status", map[string]any{"status": map[string]any{"conditions": []any{ready("Unknown")}}}},
		{kustomizations, "status", map[string]any{"status": map[string]any{"observedGeneration": int64(0)}}},
		{repositories, "status", map[string]any{"status": map[string]any{"artifact": map[string]any{"revision": "main@sha1:bbb"}}}},
	}
	fluxRest = []tell{
		{repositories, "status", map[string]any{"status": map[string]any{"artifact": map[string]any{"revision": revision}}}},
		{kustomizations, "status", map[string]any{"status": map[string]any{"observedGeneration": int64(observed), "conditions": []any{ready("True")}}}},
	}
	argoUnrest = []tell{
		{applications, "", map[string]any{"status": map[string]any{"sync": map[string]any{"status": "OutOfSync"}}}},
		{applications, "", map[string]any{"operation": map[string]any{"sync": map[string]any{"revision": "HEAD"}}}},
		{applications, "", map[string]any{"status": map[string]any{"operationState": map[string]any{"phase": "Running", "startedAt": "2026-01-01T00:00:00Z"}}}},
		{projects, "", map[string]any{"spec": map[string]any{"syncWindows": []any{syncWindow("deny", oftenThere.deny[0])}}}},
	}
	argoRest = []tell{
		{applications, "", map[string]any{"operation": nil, "status": map[string]any{"operationState": nil, "sync": map[string]any{"status": "Synced"}}}},
		{projects, "", map[string]any{"spec": map[string]any{"syncWindows": nil}}},
	}
)

// sync lets a tool work for a while: what it owns may not be restarted then. A source may
// change before, while it works, or with the step that ends it.
func (s *story) sync() {
	unrest, rest := fluxUnrest, fluxRest
	if s.tool == "argocd" {
		unrest, rest = argoUnrest, argoRest
	}
	if s.maybe("a change before") {
		s.edit()
		s.breathe()
	}
	for range 1 + s.below(2, "unrest") {
		s.told(pick(s.maker, "what the tool does", unrest))
		s.breathe()
	}
	if s.maybe("a change while it works") {
		s.edit()
	}
	s.at += pick(s.maker, "works for", []time.Duration{time.Second, 10 * time.Millisecond, 30 * time.Second, 5 * time.Minute, time.Hour})
	for _, one := range rest {
		s.told(one)
	}
}

func (s *story) told(t tell) {
	key := types.NamespacedName{Namespace: spaceFlux, Name: ownerName}
	switch t.kind {
	case applications:
		key.Namespace = spaceArgo
	case projects:
		key = types.NamespacedName{Namespace: spaceArgo, Name: "default"}
	}
	s.try(steps.PatchStep(scenario.NewPatch(t.kind, key, t.fields), "", t.subresource))
}
