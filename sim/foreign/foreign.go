// Package foreign has a Go type for each kind of a GitOps tool, as the simulated API
// server and scenarios need one. The types know nothing of what their spec and status
// hold: the tools' own types cannot be imported. Of Rollouts, which KICK restarts, and
// of the Secrets Store CSI driver's kinds it is KICK's type.
package foreign

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/kick/api/secretsstore"
)

// Free is a part of an object that may hold anything JSON can.
type Free map[string]any

// DeepCopy copies it.
func (f Free) DeepCopy() Free { return runtime.DeepCopyJSON(f) }

// UnmarshalJSON keeps whole numbers whole, as the API server's own clients do.
func (f *Free) UnmarshalJSON(raw []byte) error {
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	*f = fields
	return nil
}

// Resource is an object of the kind that K stands for.
type Resource[K any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec Free `json:"spec,omitempty"`
	// Operation is Argo CD's, beside spec and status.
	Operation Free `json:"operation,omitempty"`
	Status    Free `json:"status,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (r *Resource[K]) DeepCopyObject() runtime.Object {
	out := &Resource[K]{TypeMeta: r.TypeMeta, Spec: r.Spec.DeepCopy(), Operation: r.Operation.DeepCopy(), Status: r.Status.DeepCopy()}
	r.DeepCopyInto(&out.ObjectMeta)
	return out
}

// List is a list of them.
type List[K any] struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []Resource[K] `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *List[K]) DeepCopyObject() runtime.Object {
	out := &List[K]{TypeMeta: l.TypeMeta}
	l.DeepCopyInto(&out.ListMeta)
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Resource[K]))
	}
	return out
}

// What stands for the kinds.
type (
	application   struct{}
	project       struct{}
	kustomization struct{}
	helmRelease   struct{}
	gitRepository struct{}
	ociRepository struct{}
	bucket        struct{}
	stage         struct{}
	promotion     struct{}
)

// Application is Argo CD's.
type Application = Resource[application]

// AppProject is Argo CD's.
type AppProject = Resource[project]

// Kustomization is Flux's.
type Kustomization = Resource[kustomization]

// HelmRelease is Flux's.
type HelmRelease = Resource[helmRelease]

// GitRepository is Flux's.
type GitRepository = Resource[gitRepository]

// OCIRepository is Flux's.
type OCIRepository = Resource[ociRepository]

// Bucket is Flux's.
type Bucket = Resource[bucket]

// Stage is Kargo's.
type Stage = Resource[stage]

// Promotion is Kargo's.
type Promotion = Resource[promotion]

// adders put the types of a tool's kinds into a scheme.
var adders = map[string]func(*runtime.Scheme){
	"argo-rollouts": func(s *runtime.Scheme) { utilruntime.Must(argorollouts.AddToScheme(s)) },
	"argocd": func(s *runtime.Scheme) {
		add[application](s, "argoproj.io/v1alpha1", "Application")
		add[project](s, "argoproj.io/v1alpha1", "AppProject")
	},
	"flux": func(s *runtime.Scheme) {
		add[kustomization](s, "kustomize.toolkit.fluxcd.io/v1", "Kustomization")
		add[helmRelease](s, "helm.toolkit.fluxcd.io/v2", "HelmRelease")
		add[gitRepository](s, "source.toolkit.fluxcd.io/v1", "GitRepository")
		add[ociRepository](s, "source.toolkit.fluxcd.io/v1", "OCIRepository")
		add[bucket](s, "source.toolkit.fluxcd.io/v1", "Bucket")
	},
	"kargo": func(s *runtime.Scheme) {
		add[stage](s, "kargo.akuity.io/v1alpha1", "Stage")
		add[promotion](s, "kargo.akuity.io/v1alpha1", "Promotion")
	},
	"secrets-store-csi": func(s *runtime.Scheme) { utilruntime.Must(secretsstore.AddToScheme(s)) },
}

func add[K any](s *runtime.Scheme, apiVersion, kind string) {
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	s.AddKnownTypeWithName(gvk, &Resource[K]{})
	s.AddKnownTypeWithName(gvk.GroupVersion().WithKind(kind+"List"), &List[K]{})
	metav1.AddToGroupVersion(s, gvk.GroupVersion())
}

// Tools are the names of the tools whose kinds there are.
func Tools() []string {
	return []string{"argo-rollouts", "argocd", "flux", "kargo", "secrets-store-csi"}
}

// AddTo adds the kinds of some tools to a scheme. It reports a tool that it does not
// have.
func AddTo(s *runtime.Scheme, tools ...string) (missing string) {
	for _, tool := range tools {
		adder := adders[tool]
		if adder == nil {
			return tool
		}
		adder(s)
	}
	return ""
}
