// Package flux asks Flux whether a workload may be restarted. It reads the
// Kustomizations and HelmReleases that may own it, and the source they take manifests
// from, and leaves the judgement to kick/model/gitops/flux.
package flux

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/corewire/kick/kick/gates"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/gitops/flux"
)

// The kinds that own workloads, in the only versions that current controllers serve.
var (
	Kustomization = schema.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: flux.Kustomization}
	HelmRelease   = schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: flux.HelmRelease}
)

// sourceGroup and sourceVersions are those of a sourceRef without apiVersion.
const sourceGroup = "source.toolkit.fluxcd.io"

var sourceVersions = []string{"v1", "v1beta2"}

// Provider asks Flux.
type Provider struct {
	kinds []schema.GroupVersionKind
}

var _ gates.Detectable = (*Provider)(nil)

// New returns a provider that knows owners of the given kinds, which must be served.
// Flux may be installed without its Helm controller.
func New(kinds ...schema.GroupVersionKind) *Provider { return &Provider{kinds: kinds} }

// Name is "Flux".
func (*Provider) Name() string { return "Flux" }

// Detectable says that Auto may choose it.
func (*Provider) Detectable() {}

// Ask names the owner of the workload and judges it.
func (p *Provider) Ask(ctx context.Context, r gates.Readers, q gates.Question) (model.Gate, error) {
	gate, err := p.judge(ctx, r, q)
	return gates.Settle(gate, err, q.Now)
}

func (p *Provider) judge(ctx context.Context, r gates.Readers, q gates.Question) (model.Gate, error) {
	workload := gitops.ObjectOf(q.Workload)
	candidates, err := p.candidates(ctx, r, q.Workload.Labels, workload)
	if err != nil {
		return model.Gate{}, err
	}
	owner, gate := flux.Pick(workload, q.Workload.Labels, candidates)
	if owner == nil {
		return gate, nil
	}
	asked := &flux.Question{Owner: owner, Now: q.Now, Unreconciled: q.Unreconciled}
	if !q.Unreconciled {
		if err := p.surround(ctx, r, asked); err != nil {
			return model.Gate{}, err
		}
	}
	return flux.Judge(asked), nil
}

// candidates reads the owners that labels name, and those that the cache knows to list
// the workload.
func (p *Provider) candidates(ctx context.Context, r gates.Readers, labels map[string]string, workload gitops.Object) ([]*flux.Owner, error) {
	var found []*flux.Owner
	for _, kind := range p.kinds {
		refs, err := refs(ctx, r, kind, labels, workload)
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			owner, err := p.read(ctx, r, ref, workload)
			if err != nil {
				return nil, err
			}
			if owner != nil {
				found = append(found, owner)
			}
		}
	}
	return found, nil
}

func refs(ctx context.Context, r gates.Readers, kind schema.GroupVersionKind, labels map[string]string, workload gitops.Object) ([]flux.Ref, error) {
	cached, err := gates.Owners(ctx, r.Cache, kind, Index, workload.Namespace)
	if err != nil {
		return nil, err
	}
	var refs []flux.Ref
	labelled, named := flux.Labelled(kind.Kind, labels)
	if named {
		refs = append(refs, labelled)
	}
	for i := range cached {
		ref := flux.Ref{Kind: kind.Kind, Namespace: cached[i].GetNamespace(), Name: cached[i].GetName()}
		if ref != labelled && gitops.Packed(gates.Listing(&cached[i]), workload) {
			refs = append(refs, ref)
		}
	}
	return refs, nil
}

// read reads one owner live; nil: there is none of that name, or its kind is not known.
func (p *Provider) read(ctx context.Context, r gates.Readers, ref flux.Ref, managed gitops.Object) (*flux.Owner, error) {
	known := slices.IndexFunc(p.kinds, func(k schema.GroupVersionKind) bool { return k.Kind == ref.Kind })
	if known < 0 {
		return nil, nil
	}
	object, err := gates.Get(ctx, r.Live, p.kinds[known], ref.Namespace, ref.Name)
	if err != nil || object == nil {
		return nil, err
	}
	owner, err := flux.ReadOwner(ref, object, managed)
	if err != nil {
		return nil, gates.Malformed(err, gitops.WakeOnOwner)
	}
	return owner, nil
}

// surround reads what the owner depends on: its source, and for a HelmRelease the
// Kustomization that applies it.
func (p *Provider) surround(ctx context.Context, r gates.Readers, asked *flux.Question) error {
	if err := source(ctx, r, asked.Owner.Source); err != nil {
		return err
	}
	var err error
	if asked.Parent, err = p.parent(ctx, r, asked.Owner); err != nil || asked.Parent == nil {
		return err
	}
	return source(ctx, r, asked.Parent.Source)
}

// parent is the Kustomization that applies a HelmRelease; nil: none that is known here.
func (p *Provider) parent(ctx context.Context, r gates.Readers, o *flux.Owner) (*flux.Owner, error) {
	ref, named := flux.Labelled(flux.Kustomization, o.Labels)
	if o.Kind != flux.HelmRelease || !named {
		return nil, nil
	}
	managed := gitops.Object{Group: HelmRelease.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
	parent, err := p.read(ctx, r, ref, managed)
	if parent != nil && (parent.Remote || !parent.Holds) {
		parent = nil // a copied label
	}
	return parent, err
}

// source reads the revision of a source's newest artifact.
func source(ctx context.Context, r gates.Readers, s *flux.Source) error {
	if s == nil {
		return nil
	}
	if s.Missing = s.Kind == "" || s.Name == ""; s.Missing {
		return nil
	}
	object, err := sourceObject(ctx, r, s)
	if s.Missing = err == nil && object == nil; err != nil || s.Missing {
		return err
	}
	f := gitops.Read(s.String(), object)
	if s.Revision = f.String("status", "artifact", "revision"); f.Err() != nil {
		return gates.Malformed(f.Err(), gitops.WakeOnArtifact)
	}
	return nil
}

// sourceObject reads a source live; nil: there is none of that name. A kind that is not
// served in one version is looked for in the next.
func sourceObject(ctx context.Context, r gates.Readers, s *flux.Source) (object map[string]any, err error) {
	group, versions := sourceGroup, sourceVersions
	if declared, wrong := schema.ParseGroupVersion(s.APIVersion); s.APIVersion != "" && wrong == nil {
		group, versions = declared.Group, []string{declared.Version}
	}
	for _, version := range versions {
		kind := schema.GroupVersionKind{Group: group, Version: version, Kind: s.Kind}
		if object, err = gates.Get(ctx, r.Live, kind, s.Namespace, s.Name); !meta.IsNoMatchError(err) {
			break
		}
	}
	return object, err
}
