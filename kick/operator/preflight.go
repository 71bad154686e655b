package operator

import (
	"bytes"
	"context"
	_ "embed" // the generated role
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/kick/api/secretsstore"
	"github.com/corewire/kick/kick/api/v1alpha1"
)

//go:embed rbac/role.yaml
var generatedRoles []byte

// crdResources are the resources of KICK's own group that it needs.
func (o *Options) crdResources() []string {
	needed := []string{"kickpolicies", "kickrequests", "sourceobservations"}
	if o.Notifications.Enabled {
		needed = append(needed, notificationCRD)
	}
	if o.Bundles.Enabled {
		needed = append(needed, bundleCRD)
	}
	return needed
}

// Preflight checks that the cluster has what KICK needs: its CRDs, every right of
// its role, and its own namespace. It reports all that is missing at once, and what to do about it.
func Preflight(ctx context.Context, config *rest.Config, o Options) error {
	installed, err := probe(config, Probed(&o))
	if err != nil {
		return err
	}
	return preflight(ctx, config, o, Integrate(&o, installed.has))
}

func preflight(ctx context.Context, config *rest.Config, o Options, i *Integrations) error {
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connect to the API server: %w", err)
	}
	if err := checkCRDs(c, o); err != nil {
		return err
	}
	roles, err := Roles()
	if err != nil {
		return err
	}
	var missing []error
	for _, r := range roles {
		for _, need := range r.needs(o, i) {
			if err := allowed(ctx, c, need); err != nil {
				missing = append(missing, err)
			}
		}
	}
	if len(missing) > 0 {
		return errors.Join(missing...)
	}
	return checkNamespace(ctx, c, o.Namespace)
}

// checkNamespace tries, without doing it, to make the lease: KICK has no right to
// look at namespaces, and one that is not there would leave every replica waiting.
func checkNamespace(ctx context.Context, c kubernetes.Interface, namespace string) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: LeaseName}}
	_, err := c.CoordinationV1().Leases(namespace).Create(ctx, lease, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	switch {
	case err == nil, apierrors.IsAlreadyExists(err):
		return nil
	case apierrors.IsNotFound(err):
		return fmt.Errorf("KICK's own namespace %s does not exist: kubectl create namespace %s, or name another one with --namespace", namespace, namespace)
	default:
		return fmt.Errorf("try to make lease %s/%s: %w", namespace, LeaseName, err)
	}
}

func checkCRDs(c kubernetes.Interface, o Options) error {
	gv := v1alpha1.GroupVersion.String()
	list, err := c.Discovery().ServerResourcesForGroupVersion(gv)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("ask the API server for %s: %w", gv, err)
	}
	served := map[string]bool{}
	if list != nil {
		for _, r := range list.APIResources {
			served[r.Name] = true
		}
	}
	var missing []error
	for _, name := range o.crdResources() {
		if !served[name] {
			missing = append(missing, fmt.Errorf("the CRD %s.%s is not installed: kubectl apply --server-side -f kick/api/crds, or install the chart with crds.enabled=true", name, v1alpha1.GroupVersion.Group))
		}
	}
	return errors.Join(missing...)
}

// Role is one generated role: cluster-wide, or for KICK's own namespace.
type Role struct {
	Name  string
	Own   bool // only in KICK's own namespace
	Rules []rbacv1.PolicyRule
}

// Roles are what KICK's service account needs at most, as generated from the code.
func Roles() ([]Role, error) {
	var roles []Role
	d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(generatedRoles), 4096)
	for {
		var doc struct {
			Kind     string                `json:"kind"`
			Metadata struct{ Name string } `json:"metadata"`
			Rules    []rbacv1.PolicyRule   `json:"rules"`
		}
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return roles, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the generated roles: %w", err)
		}
		if len(doc.Rules) > 0 {
			roles = append(roles, Role{Name: doc.Metadata.Name, Own: doc.Kind == "Role", Rules: doc.Rules})
		}
	}
}

// Needed reports whether KICK makes use of the role with these options.
func (r Role) Needed(o Options) bool {
	switch r.Name {
	case notificationRole:
		return o.Notifications.Enabled
	case bundleRole:
		return o.Bundles.Enabled
	case timelineRole:
		return o.Timeline.Enabled()
	case exposedRole:
		return o.Timeline.exposed()
	default:
		return true
	}
}

// where are the namespaces in which the role must hold; "" is all of them.
func (r Role) where(o Options) []string {
	switch {
	case !r.Needed(o):
		return nil
	case r.Own:
		return []string{o.Namespace}
	case len(o.WatchNamespaces) > 0 && r.Name != exposedRole: // reviews are in no namespace
		return o.WatchNamespaces
	default:
		return []string{metav1.NamespaceAll}
	}
}

// rolloutsResource is a workload, though its group is that of a GitOps tool.
const rolloutsResource = "rollouts"

// needs are the rights of the role that these options make use of. Those on kinds of
// GitOps tools are needed where their objects are looked for, and only if the tool is
// asked. Of Argo CD's namespace one ConfigMap is read.
func (r Role) needs(o Options, i *Integrations) []*authorizationv1.ResourceAttributes {
	var all []*authorizationv1.ResourceAttributes
	for _, rule := range r.Rules {
		for _, resource := range rule.Resources {
			all = append(all, each(rule, resource, r.needed(o, i, rule.APIGroups[0], resource))...)
			if resource == "configmaps" && r.Name != bundleRole && len(o.WatchNamespaces) > 0 && i.settings.Name != "" {
				for _, a := range each(rule, resource, []string{i.settings.Namespace}) {
					a.Name = i.settings.Name
					all = append(all, a)
				}
			}
		}
	}
	return all
}

// needed are the namespaces in which a resource is made use of.
func (r Role) needed(o Options, i *Integrations, group, resource string) []string {
	foreign := slices.ContainsFunc(ForeignKinds(), func(k schema.GroupVersionKind) bool { return k.Group == group })
	brought, on := i.brings(group, resource)
	switch {
	case brought && !on, foreign && !brought && !i.groups()[group]:
		return nil
	case !foreign || brought:
		return r.where(o)
	case len(o.GitOpsNamespaces) == 0:
		return []string{metav1.NamespaceAll}
	}
	return o.GitOpsNamespaces
}

// brings reports whether a resource is a workload, source or what tells of one, though its
// group is that of another tool, and whether KICK makes use of it.
func (i *Integrations) brings(group, resource string) (brought, on bool) {
	switch {
	case group == argorollouts.GroupVersion.Group && resource == rolloutsResource:
		return true, len(i.extra) > 0
	case group == secretsstore.GroupVersion.Group:
		return true, len(i.told) > 0
	}
	return false, false
}

// each is every verb of a rule on a resource, in every namespace.
func each(rule rbacv1.PolicyRule, resource string, namespaces []string) []*authorizationv1.ResourceAttributes {
	var all []*authorizationv1.ResourceAttributes
	for _, namespace := range namespaces {
		for _, verb := range rule.Verbs {
			all = append(all, access(namespace, verb, rule.APIGroups[0], resource))
		}
	}
	return all
}

// access splits a rule's resource into the parts that a review asks for.
func access(namespace, verb, group, resource string) *authorizationv1.ResourceAttributes {
	name, sub, _ := strings.Cut(resource, "/")
	return &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: group, Resource: name, Subresource: sub}
}

func allowed(ctx context.Context, c kubernetes.Interface, a *authorizationv1.ResourceAttributes) error {
	review, err := c.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: a},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("ask for the right to %s %s: %w", a.Verb, a.Resource, err)
	}
	if review.Status.Allowed {
		return nil
	}
	resource, where := a.Resource, "namespace "+a.Namespace
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	if a.Group != "" {
		resource += "." + a.Group
	}
	if a.Namespace == "" {
		where = "all namespaces"
	}
	return fmt.Errorf("cannot %s %s in %s: forbidden. Bind the roles of kick/operator/rbac to KICK's service account (the chart does, with rbac.mode=Cluster), or name the namespaces it may use in --watch-namespaces", a.Verb, resource, where)
}
