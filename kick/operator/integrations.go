package operator

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/kick/api/secretsstore"
	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/gates"
	"github.com/corewire/kick/kick/gates/argocd"
	"github.com/corewire/kick/kick/gates/flux"
	"github.com/corewire/kick/kick/gates/kargo"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/sources"
	"github.com/corewire/kick/kick/sources/secretproviderclass"
	"github.com/corewire/kick/kick/workloads"
	"github.com/corewire/kick/kick/workloads/argorollout"
)

// tool is a GitOps tool that KICK can ask.
type tool struct {
	provider string // value of spec.gitOps.provider
	flag     string // turns it on
	value    string // of the chart, sets the flag
	kinds    []schema.GroupVersionKind
	any      bool // one of the kinds is enough
}

// The tools. A new one is one folder of gates, one entry here, and one line in Integrate.
var (
	argoCDTool = tool{
		provider: "ArgoCD", flag: "enable-argocd", value: "integrations.argocd.enabled",
		kinds: []schema.GroupVersionKind{argocd.Application, argocd.Project},
	}
	fluxTool = tool{
		provider: "Flux", flag: "enable-flux", value: "integrations.flux.enabled", any: true,
		kinds: []schema.GroupVersionKind{flux.Kustomization, flux.HelmRelease},
	}
	kargoTool = tool{
		provider: "Kargo", flag: "enable-kargo", value: "integrations.kargo.enabled",
		kinds: []schema.GroupVersionKind{kargo.Stage, kargo.Promotion},
	}
	// rolloutsTool is no provider: it brings a kind of workload.
	rolloutsTool = tool{
		provider: "ArgoRollouts", flag: "enable-argo-rollouts", value: "integrations.argoRollouts.enabled",
		kinds: []schema.GroupVersionKind{argorollouts.RolloutKind},
	}
	// csiTool is none either: it brings a kind of source.
	csiTool = tool{
		provider: "SecretsStoreCSI", flag: "enable-csi-integration", value: "integrations.secretsStoreCSI.enabled",
		kinds: []schema.GroupVersionKind{secretsstore.ClassKind, secretsstore.StatusKind},
	}
)

// fluxSources are the kinds of Flux's sources, in the versions that may be served, the
// newest first.
var fluxSources = []schema.GroupVersionKind{
	sourceKind("GitRepository", "v1"), sourceKind("OCIRepository", "v1"), sourceKind("OCIRepository", "v1beta2"),
	sourceKind("Bucket", "v1"), sourceKind("Bucket", "v1beta2"), sourceKind("ExternalArtifact", "v1"),
}

func sourceKind(kind, version string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "source.toolkit.fluxcd.io", Version: version, Kind: kind}
}

// ForeignKinds are all kinds of other tools that KICK may look at.
func ForeignKinds() []schema.GroupVersionKind {
	return slices.Concat(argoCDTool.kinds, fluxTool.kinds, fluxSources, kargoTool.kinds, rolloutsTool.kinds, csiTool.kinds)
}

// Probed are the foreign kinds that the options make matter.
func Probed(o *Options) []schema.GroupVersionKind {
	var all []schema.GroupVersionKind
	if o.EnableArgoCD {
		all = append(all, argoCDTool.kinds...)
	}
	if o.EnableFlux {
		all = append(append(all, fluxTool.kinds...), fluxSources...)
	}
	if o.EnableKargo {
		all = append(all, kargoTool.kinds...)
	}
	if o.EnableArgoRollouts {
		all = append(all, rolloutsTool.kinds...)
	}
	if o.EnableCSI {
		all = append(all, csiTool.kinds...)
	}
	return all
}

// Served says which foreign kinds the API server serves.
type Served func(schema.GroupVersionKind) bool

// Integrations are the GitOps tools of one installation.
type Integrations struct {
	// Registry has a provider for each tool that can be asked.
	Registry gates.Registry
	// Skipped says of each tool whose flag is on, but of which a kind is not installed,
	// what is missing and what to do.
	Skipped []string

	within    []string           // namespaces in which owners are looked for; none: all
	extra     workloads.Registry // kinds of workload that a tool brings
	told      sources.Registry   // kinds of source that a tool brings
	lacking   []string           // which of these are missing, and what to do
	kinds     []foreign
	workloads []index // of the cached workloads
	settings  types.NamespacedName
}

// foreign is a kind of a tool: how it is cached, and whom its events wake.
type foreign struct {
	schema.GroupVersionKind
	strip   func(client.Object)
	indexes []index
	wakes   wakes
}

// index is one of controllers.Index, but for its kind.
type index struct {
	name   string
	values func(client.Object) []string
}

// Integrate finds out which GitOps tools can be asked.
func Integrate(o *Options, served Served) *Integrations {
	i := &Integrations{within: o.GitOpsNamespaces, Registry: gates.Registry{
		Providers: []gates.Provider{gates.None{}}, Missing: map[string]string{}, Off: map[string]bool{}, Named: map[string]bool{kargoTool.provider: true},
	}}
	var argo *argocd.Provider
	if len(i.has(&argoCDTool, o.EnableArgoCD, served)) > 0 {
		argo = i.argoCD(o)
	}
	if kinds := i.has(&fluxTool, o.EnableFlux, served); len(kinds) > 0 {
		i.flux(kinds, served)
	}
	if len(i.has(&kargoTool, o.EnableKargo, served)) > 0 {
		i.kargo(o, argo)
	}
	if o.EnableArgoRollouts && i.brought(&rolloutsTool, served) {
		i.extra = append(i.extra, argorollout.Kind{})
	}
	if o.EnableCSI && i.brought(&csiTool, served) {
		i.told = append(i.told, secretproviderclass.Kind{})
	}
	return i
}

// Workloads are the kinds that this installation restarts.
func (i *Integrations) Workloads() workloads.Registry { return slices.Concat(workloadKinds, i.extra) }

// Sources are the kinds of source that this installation follows.
func (i *Integrations) Sources() sources.Registry { return slices.Concat(sourceKinds, i.told) }

// brought reports whether all kinds of a tool are installed that brings kinds of its own.
func (i *Integrations) brought(t *tool, served Served) bool {
	_, why := lacking(t, served)
	if why != "" {
		i.lacking = append(i.lacking, why)
		i.Skipped = append(i.Skipped, t.provider+": "+why)
	}
	return why == ""
}

// turned is what turns a tool on or off.
func (t *tool) turned(on bool) string {
	flag := "--" + t.flag
	if !on {
		flag += "=false"
	}
	return fmt.Sprintf("%s (chart value %s: %t)", flag, t.value, on)
}

// has are the kinds of a tool that are served, if it can be asked.
func (i *Integrations) has(t *tool, on bool, served Served) []schema.GroupVersionKind {
	if !on {
		i.Registry.Missing[t.provider] = "its integration is off: start KICK with " + t.turned(true)
		i.Registry.Off[t.provider] = true
		return nil
	}
	there, why := lacking(t, served)
	if why == "" {
		return there
	}
	i.Skipped = append(i.Skipped, t.provider+": "+why)
	if !t.any || len(there) == 0 {
		i.Registry.Missing[t.provider] = why
		return nil
	}
	return there
}

// lacking are the kinds of a tool that are served, and what to do about the others; empty:
// there are none.
func lacking(t *tool, served Served) (there []schema.GroupVersionKind, why string) {
	var missing []string
	for _, k := range t.kinds {
		if served(k) {
			there = append(there, k)
		} else {
			missing = append(missing, fmt.Sprintf("%s of %s", k.Kind, k.GroupVersion()))
		}
	}
	if len(missing) == 0 {
		return there, ""
	}
	return there, fmt.Sprintf("no kind %s is installed: install the CRDs of %s, which KICK then takes up within a minute, or turn the integration off with %s",
		strings.Join(missing, " and no kind "), t.provider, t.turned(false))
}

// restartable are the kinds KICK may restart, as "group/Kind".
func restartable() []string {
	var all []string
	for _, k := range append(workloadKinds, argorollout.Kind{}) {
		group, _, _ := strings.Cut(k.APIVersion(), "/")
		all = append(all, group+"/"+k.Name())
	}
	return all
}

func (i *Integrations) argoCD(o *Options) *argocd.Provider {
	p := argocd.New(o.ArgoCD)
	i.Registry.Providers = append(i.Registry.Providers, p)
	i.settings = types.NamespacedName{Namespace: p.Config.Namespace, Name: argocd.SettingsName}
	i.workloads = append(i.workloads, index{argocd.WorkloadIndex, p.WorkloadIndexValues})
	i.kinds = append(i.kinds,
		foreign{argocd.Application, argocd.Strip(restartable()...), []index{
			{argocd.Index, argocd.IndexValues}, {kargo.StageIndex, kargo.StageIndexValues},
		}, (*waker).application},
		foreign{argocd.Project, gates.StripToName, nil, (*waker).everyone},
	)
	return p
}

func (i *Integrations) flux(kinds []schema.GroupVersionKind, served Served) {
	i.Registry.Providers = append(i.Registry.Providers, flux.New(kinds...))
	i.workloads = append(i.workloads, index{flux.WorkloadIndex, flux.WorkloadIndexValues})
	for _, k := range kinds {
		i.kinds = append(i.kinds, foreign{k, flux.Strip(restartable()...), []index{{flux.Index, flux.IndexValues}}, (*waker).fluxOwner})
	}
	known := map[string]bool{}
	for _, k := range fluxSources {
		if served(k) && !known[k.Kind] {
			known[k.Kind] = true
			i.kinds = append(i.kinds, foreign{k, gates.StripToName, nil, (*waker).everyone})
		}
	}
}

// kargo asks Argo CD as well; without it there is no Kargo.
func (i *Integrations) kargo(o *Options, argo *argocd.Provider) {
	if argo == nil {
		i.Registry.Missing[kargoTool.provider] = "it needs Argo CD: " + i.Registry.Missing[argoCDTool.provider]
		return
	}
	i.Registry.Providers = append(i.Registry.Providers, &kargo.Provider{Argo: argo, Tolerant: o.KargoTolerant})
	i.kinds = append(i.kinds,
		foreign{kargo.Stage, gates.StripToName, nil, (*waker).stage},
		foreign{kargo.Promotion, kargo.StripPromotion, []index{{kargo.Index, kargo.IndexValues}}, (*waker).promotion},
	)
}

// groups are the API groups of what is cached.
func (i *Integrations) groups() map[string]bool {
	groups := map[string]bool{}
	for _, k := range i.kinds {
		groups[k.Group] = true
	}
	return groups
}

// object is an empty object of a foreign kind.
func object(k schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(k)
	return u
}

// Indexes are those of the foreign kinds, and of the workloads by their owners.
func (i *Integrations) Indexes() []controllers.Index {
	var all []controllers.Index
	add := func(o client.Object, indexes []index) {
		for _, x := range indexes {
			all = append(all, controllers.Index{Object: o, Name: x.name, Values: x.values})
		}
	}
	for _, k := range i.Workloads() {
		add(k.New(), i.workloads)
	}
	all = append(all, workloadIndexes(i.extra)...)
	for _, k := range i.told {
		if told, is := k.(sources.Mounted); is {
			add(told.Status().New(), []index{{gather.IndexMounts, func(o client.Object) []string { return gather.MountsValues(told, o) }}})
		}
	}
	for _, k := range i.kinds {
		add(object(k.GroupVersionKind), k.indexes)
	}
	return all
}

// Transforms are those of the foreign kinds. Owners may live in any namespace, unless
// --gitops-namespaces says in which.
func (i *Integrations) Transforms() []controllers.Transform {
	all := make([]controllers.Transform, 0, len(i.kinds)+len(i.extra)+2*len(i.told))
	for _, k := range i.extra {
		all = append(all, stripped(k))
	}
	for _, k := range i.told {
		all = append(all, emptied(k))
		if told, is := k.(sources.Mounted); is {
			all = append(all, emptied(told.Status()))
		}
	}
	for _, k := range i.kinds {
		all = append(all, controllers.Transform{Object: object(k.GroupVersionKind), Apply: k.strip, Everywhere: true, Within: i.within})
	}
	return all
}
