// Package argocd asks Argo CD whether a workload may be restarted. It finds the
// Applications that may own it, reads them live together with their project and Argo
// CD's settings, and leaves the judgement to kick/model/gitops/argocd.
package argocd

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/corewire/kick/kick/gates"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/gitops/argocd"
	"github.com/corewire/kick/kick/model/request"
)

// The kinds that are read. Types come as plain maps: Argo CD's module cannot be
// imported.
var (
	Application = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Application"}
	Project     = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "AppProject"}
	configMap   = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// SettingsName is the ConfigMap of Argo CD's settings, in its control plane's namespace.
const SettingsName = "argocd-cm"

// Provider asks Argo CD.
type Provider struct {
	Config argocd.Config
}

var _ gates.Detectable = (*Provider)(nil)

// New returns the provider; an empty namespace is DefaultNamespace.
func New(c argocd.Config) *Provider {
	if c.Namespace == "" {
		c.Namespace = argocd.DefaultNamespace
	}
	return &Provider{Config: c}
}

// Name is "ArgoCD".
func (*Provider) Name() string { return "ArgoCD" }

// Detectable says that Auto may choose it.
func (*Provider) Detectable() {}

// Ask names the owner of the workload and judges it.
func (p *Provider) Ask(ctx context.Context, r gates.Readers, q gates.Question) (model.Gate, error) {
	owned, err := p.Owner(ctx, r, q)
	if err != nil {
		return gates.Settle(model.Gate{}, err, q.Now)
	}
	gate, err := p.Judge(ctx, r, owned)
	return gates.Settle(gate, err, q.Now)
}

// Owner is the question about the workload with its one owner filled in; the error is a
// gates.Shut if there is none. Its project is still to be read.
func (p *Provider) Owner(ctx context.Context, r gates.Readers, q gates.Question) (*argocd.Question, error) {
	settings, err := p.settings(ctx, r)
	if err != nil {
		return nil, err
	}
	workload := gitops.ObjectOf(q.Workload)
	track := argocd.TrackOf(&p.Config, settings, workload, q.Annotations)
	candidates, err := p.candidates(ctx, r, workload, track.App)
	if err != nil {
		return nil, err
	}
	app, gate := argocd.Owner(&p.Config, workload, track, candidates)
	if app == nil {
		return nil, &gates.Shut{Gate: gate}
	}
	return &argocd.Question{
		Config: &p.Config, Settings: settings, Workload: workload, Stamped: q.Workload.Stamp.ByKick(),
		App: app, Now: q.Now, Unreconciled: q.Unreconciled,
	}, nil
}

// Judge reads the project of the owner and gives the answer.
func (p *Provider) Judge(ctx context.Context, r gates.Readers, q *argocd.Question) (model.Gate, error) {
	var err error
	if q.Project, err = p.merged(ctx, r, q); err != nil {
		return model.Gate{}, err
	}
	return argocd.Judge(q), nil
}

// settings are Argo CD's. Without a ConfigMap nothing is set.
func (p *Provider) settings(ctx context.Context, r gates.Readers) (*argocd.Settings, error) {
	object, err := gates.Get(ctx, r.Live, configMap, p.Config.Namespace, SettingsName)
	if err != nil {
		return nil, err
	}
	where := fmt.Sprintf("ConfigMap %s/%s", p.Config.Namespace, SettingsName)
	f := gitops.Read(where, object)
	data := map[string]string{}
	for key := range f.Map("data") {
		data[key] = f.String("data", key)
	}
	if err := f.Err(); err != nil {
		return nil, misconfigured(err)
	}
	settings := argocd.ReadSettings(where, data)
	return &settings, nil
}

// misconfigured is the answer where what people wrote for Argo CD cannot be read.
func misconfigured(err error) error {
	return &gates.Shut{Gate: gitops.Closed(request.ConfigurationError, err.Error(), gitops.WakeOnProject)}
}

// candidates are the Applications that may own the workload and exist.
func (p *Provider) candidates(ctx context.Context, r gates.Readers, workload gitops.Object, tracked argocd.Ref) ([]*argocd.Application, error) {
	refs, err := p.refs(ctx, r, workload, tracked)
	if err != nil {
		return nil, err
	}
	var found []*argocd.Application
	for _, ref := range refs {
		object, err := gates.Get(ctx, r.Live, Application, ref.Namespace, ref.Name)
		if err != nil {
			return nil, err
		}
		if object == nil {
			continue
		}
		app, err := argocd.ReadApplication(ref, object, workload)
		if err != nil {
			return nil, gates.Malformed(err, gitops.WakeOnOwner)
		}
		found = append(found, app)
	}
	return found, nil
}

// refs are the Application that the annotations name, and those that the cache knows to
// list the workload.
func (p *Provider) refs(ctx context.Context, r gates.Readers, workload gitops.Object, tracked argocd.Ref) ([]argocd.Ref, error) {
	cached, err := gates.Owners(ctx, r.Cache, Application, Index, workload.Namespace)
	if err != nil {
		return nil, err
	}
	var refs []argocd.Ref
	if tracked != (argocd.Ref{}) && p.Config.Watches(tracked.Namespace) {
		refs = append(refs, tracked)
	}
	for i := range cached {
		ref := argocd.Ref{Namespace: cached[i].GetNamespace(), Name: cached[i].GetName()}
		if ref != tracked && p.Config.Watches(ref.Namespace) && gitops.Packed(gates.Listing(&cached[i]), workload) {
			refs = append(refs, ref)
		}
	}
	return refs, nil
}

// merged is the Application's project, with the windows of the global projects that
// match it. Nil: there is none of that name. As in Argo CD, the first global project
// that is missing ends their list.
func (p *Provider) merged(ctx context.Context, r gates.Readers, q *argocd.Question) (*argocd.Project, error) {
	project, err := p.project(ctx, r, q.App.Project)
	if err != nil || project == nil {
		return nil, err
	}
	names, err := q.Settings.GlobalsOf(project)
	if err != nil {
		return nil, misconfigured(err)
	}
	var globals []*argocd.Project
	for _, name := range names {
		global, err := p.project(ctx, r, name)
		if err != nil {
			return nil, err
		}
		if global == nil {
			break
		}
		globals = append(globals, global)
	}
	project.Merge(globals)
	return project, nil
}

// project reads one project; nil: there is none of that name.
func (p *Provider) project(ctx context.Context, r gates.Readers, name string) (*argocd.Project, error) {
	object, err := gates.Get(ctx, r.Live, Project, p.Config.Namespace, name)
	if err != nil || object == nil {
		return nil, err
	}
	project, err := argocd.ReadProject(p.Config.Namespace, name, object)
	if err != nil {
		return nil, misconfigured(err)
	}
	return project, nil
}
