// Package toolcrds carries hand-written CustomResourceDefinitions of the GitOps tools
// that KICK asks, of the Secrets Store CSI driver, and of the Prometheus operator, whose kinds the chart may bring: group, kind, version, scope and subresources are those of the tools,
// the schemas take any field. It is test code: nobody needs them in a cluster where the
// tool itself is installed.
//
//	definitions := toolcrds.Of("argocd", "flux")
package toolcrds

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is one kind of a tool.
type Kind struct {
	schema.GroupVersionKind
	Plural string
	// Status: it has a status subresource. Argo CD's kinds have none.
	Status bool
}

// sets are the kinds by the name of their tool. All are namespaced.
var sets = map[string][]Kind{
	"argo-rollouts": {
		kind("argoproj.io/v1alpha1", "Rollout", "rollouts", true),
	},
	"argocd": {
		kind("argoproj.io/v1alpha1", "Application", "applications", false),
		kind("argoproj.io/v1alpha1", "AppProject", "appprojects", false),
	},
	"flux": {
		kind("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "kustomizations", true),
		kind("helm.toolkit.fluxcd.io/v2", "HelmRelease", "helmreleases", true),
		kind("source.toolkit.fluxcd.io/v1", "GitRepository", "gitrepositories", true),
		kind("source.toolkit.fluxcd.io/v1", "OCIRepository", "ocirepositories", true),
		kind("source.toolkit.fluxcd.io/v1", "Bucket", "buckets", true),
	},
	"kargo": {
		kind("kargo.akuity.io/v1alpha1", "Stage", "stages", true),
		kind("kargo.akuity.io/v1alpha1", "Promotion", "promotions", true),
	},
	"secrets-store-csi": {
		kind("secrets-store.csi.x-k8s.io/v1", "SecretProviderClass", "secretproviderclasses", false),
		kind("secrets-store.csi.x-k8s.io/v1", "SecretProviderClassPodStatus", "secretproviderclasspodstatuses", false),
	},
	"prometheus": {
		kind("monitoring.coreos.com/v1", "ServiceMonitor", "servicemonitors", true),
		kind("monitoring.coreos.com/v1", "PodMonitor", "podmonitors", true),
		kind("monitoring.coreos.com/v1", "PrometheusRule", "prometheusrules", true),
	},
}

func kind(apiVersion, name, plural string, status bool) Kind {
	return Kind{GroupVersionKind: schema.FromAPIVersionAndKind(apiVersion, name), Plural: plural, Status: status}
}

// Kinds are those of some tools, in a fixed order; an unknown tool has none.
func Kinds(tools ...string) []Kind {
	var all []Kind
	for _, tool := range slices.Sorted(slices.Values(tools)) {
		all = append(all, sets[tool]...)
	}
	return all
}

// Of are the definitions of some tools. The caller owns the result.
func Of(tools ...string) []*apiextensionsv1.CustomResourceDefinition {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, k := range Kinds(tools...) {
		all = append(all, k.definition())
	}
	return all
}

func (k Kind) definition() *apiextensionsv1.CustomResourceDefinition {
	anything := true
	free := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &anything}
	version := apiextensionsv1.CustomResourceDefinitionVersion{
		Name: k.Version, Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": free, "operation": free, "status": free},
		}},
	}
	if k.Status {
		version.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: k.Plural + "." + k.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: k.Group, Scope: apiextensionsv1.NamespaceScoped, Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version},
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: k.Plural, Singular: strings.ToLower(k.Kind), Kind: k.Kind, ListKind: k.Kind + "List",
			},
		},
	}
}
