package check

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/foreign"
)

// toolState is what this judge makes of a GitOps tool itself, without asking KICK.
type toolState int

const (
	toolUnsure toolState = iota // more is going on than this judge reads; KICK's word is taken
	toolOpen
	toolShut
)

var (
	kustomizationKind = schema.GroupKind{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"}
	helmReleaseKind   = schema.GroupKind{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"}
	repositoryKind    = schema.GroupKind{Group: "source.toolkit.fluxcd.io", Kind: "GitRepository"}
	applicationKind   = schema.GroupKind{Group: "argoproj.io", Kind: "Application"}
	projectKind       = schema.GroupKind{Group: "argoproj.io", Kind: "AppProject"}
)

// ofTool reports whether a kind is one of a GitOps tool.
func ofTool(k schema.GroupKind) bool {
	return k.Group == applicationKind.Group || strings.HasSuffix(k.Group, ".toolkit.fluxcd.io")
}

// toolSays judges the owner of a workload by what stands in the cluster now. It knows
// the plain cases: one owner, in its declared state or not, and Argo CD's plain sync windows.
func (c *Context) toolSays(w workload) (toolState, string) {
	policies := c.policiesOf(w)
	if !asksTool(policies) || policies[0].Spec.GitOps.RequireReconciled != nil && !*policies[0].Spec.GitOps.RequireReconciled {
		return toolUnsure, ""
	}
	for _, r := range c.requestsOf(w) {
		if r.Spec.GateOverride != nil {
			return toolUnsure, ""
		}
	}
	switch policies[0].Spec.GitOps.Provider {
	case v1alpha1.GitOpsFlux:
		return c.fluxSays(w)
	case v1alpha1.GitOpsArgoCD:
		return c.argoSays(w)
	case v1alpha1.GitOpsNone, v1alpha1.GitOpsAuto, v1alpha1.GitOpsKargo:
	}
	return toolUnsure, ""
}

// toolEditedSince reports a write of a tool's object that came after the pass read it live.
func (c *Context) toolEditedSince(known Known) bool {
	return !c.toolEdit.IsZero() && !known.Policies.IsZero() && !c.toolEdit.Before(known.Policies)
}

func (c *Context) fluxSays(w workload) (toolState, string) {
	if len(c.API.List(helmReleaseKind, "")) > 0 {
		return toolUnsure, ""
	}
	id := strings.Join([]string{w.GetNamespace(), w.GetName(), "apps", w.kind}, "_")
	var owners []*foreign.Kustomization
	for _, o := range c.API.List(kustomizationKind, "") {
		k := o.(*foreign.Kustomization)
		if lists(k.Status, func(entry foreign.Free) bool { return entry.Text("id") == id }, "inventory", "entries") {
			owners = append(owners, k)
		}
	}
	if len(owners) != 1 || w.GetLabels()["kustomize.toolkit.fluxcd.io/name"] != "" || owners[0].DeletionTimestamp != nil {
		return toolUnsure, ""
	}
	k := owners[0]
	ready, _, _ := k.Status.Condition("Ready")
	name := "Kustomization " + k.Namespace + "/" + k.Name
	switch {
	case k.Spec.True("suspend"):
		return toolShut, name + " is suspended"
	case ready != "True":
		return toolShut, fmt.Sprintf("Ready of %s is %q", name, ready)
	case k.Status.Int("observedGeneration") != k.Generation:
		return toolShut, name + " has not observed its generation"
	}
	return c.applied(k)
}

// applied is open if a Kustomization has applied the newest revision of its repository.
func (c *Context) applied(k *foreign.Kustomization) (toolState, string) {
	revision := k.Status.Text("lastAppliedRevision")
	conditions, _ := k.Status.At("conditions").([]any) // others than Ready tell of more than is read here
	for _, o := range c.API.List(repositoryKind, k.Namespace) {
		if r := o.(*foreign.GitRepository); r.Name == k.Spec.Text("sourceRef", "name") && revision != "" && revision == k.Status.Text("lastAttemptedRevision") &&
			revision == r.Status.Text("artifact", "revision") && !r.Spec.True("suspend") && len(conditions) == 1 {
			return toolOpen, ""
		}
	}
	return toolUnsure, ""
}

func (c *Context) argoSays(w workload) (toolState, string) {
	var owners []*foreign.Application
	for _, o := range c.API.List(applicationKind, "") {
		a := o.(*foreign.Application)
		if lists(a.Status, func(r foreign.Free) bool {
			return r.Text("kind") == w.kind && r.Text("namespace") == w.GetNamespace() && r.Text("name") == w.GetName()
		}, "resources") {
			owners = append(owners, a)
		}
	}
	if len(owners) != 1 || w.GetAnnotations()["argocd.argoproj.io/tracking-id"] != "" || owners[0].DeletionTimestamp != nil {
		return toolUnsure, ""
	}
	a := owners[0]
	name := "Application " + a.Namespace + "/" + a.Name
	switch {
	case len(a.Operation) > 0:
		return toolShut, name + " has been asked for an operation"
	case a.Status.Text("operationState", "phase") == "Running":
		return toolShut, "an operation of " + name + " runs"
	case a.Status.Text("sync", "status") != "Synced":
		return toolShut, fmt.Sprintf("%s is %q", name, a.Status.Text("sync", "status"))
	}
	return c.windowsSay(a)
}

// windowsSay judges plain sync windows: UTC, and for all Applications.
func (c *Context) windowsSay(a *foreign.Application) (toolState, string) {
	for _, o := range c.API.List(projectKind, a.Namespace) {
		p := o.(*foreign.AppProject)
		if p.Name != a.Spec.Text("project") {
			continue
		}
		windows, plain := syncWindows(p.Spec)
		switch now := c.KickNow(); {
		case !plain:
			return toolUnsure, ""
		case !openAmong(windows, now) && !openAmong(windows, now.Add(time.Millisecond)) && !openAmong(windows, now.Add(-time.Millisecond)):
			return toolShut, "a sync window of AppProject " + p.Namespace + "/" + p.Name + " is shut"
		case len(windows) == 0 && a.Status.At("operationState") == nil && len(a.Annotations) == 0:
			return toolOpen, ""
		}
	}
	return toolUnsure, ""
}

// syncWindows reads the windows of a project; false: they are not plain.
func syncWindows(spec foreign.Free) (all []window, plain bool) {
	list, _ := spec.At("syncWindows").([]any)
	for _, item := range list {
		fields, ok := item.(map[string]any)
		if !ok {
			return nil, false
		}
		w := foreign.Free(fields)
		schedule, err := fiveFields.Parse(w.Text("schedule"))
		length, wrong := time.ParseDuration(w.Text("duration"))
		names, _ := w.At("applications").([]any)
		if err != nil || wrong != nil || len(names) != 1 || names[0] != "*" || len(w) != 4 {
			return nil, false
		}
		all = append(all, window{deny: w.Text("kind") == "deny", schedule: schedule, zone: time.UTC, duration: length})
	}
	return all, true
}

// lists reports whether a list at a path has an entry.
func lists(in foreign.Free, is func(foreign.Free) bool, path ...string) bool {
	list, _ := in.At(path...).([]any)
	for _, item := range list {
		if fields, ok := item.(map[string]any); ok && is(fields) {
			return true
		}
	}
	return false
}
