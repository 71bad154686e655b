package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/operator"
)

// finding is one thing that check looked at.
type finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Says string `json:"says"`
	Note bool   `json:"note,omitempty"` // told only; it need not be so
}

func (a *app) check() *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Look whether KICK is installed and leads, and what you may do", Args: cobra.NoArgs,
		Long: "Look whether KICK's kinds are served, whether a replica of it leads, which integrations are installed, and whether you\nhave the rights this plugin needs. Exit code 3 if something is missing.",
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.session(c)
			if err != nil {
				return err
			}
			return s.printFindings(s.findings())
		},
	}
}

func (s *session) findings() []finding {
	all := s.served()
	all = append(all, s.leader())
	all = append(all, s.rights()...)
	return append(all, s.integrations()...)
}

func (s *session) printFindings(all []finding) error {
	if done, err := s.structured(all); done && err != nil {
		return err
	} else if !done {
		for _, f := range all {
			word := "ok"
			switch {
			case f.Note:
				word = "note"
			case !f.OK:
				word = "MISSING"
			}
			_, _ = fmt.Fprintf(s.Stdout, "%-8s %s: %s\n", word, f.What, f.Says)
		}
	}
	for _, f := range all {
		if !f.OK && !f.Note {
			return errUnmet
		}
	}
	return nil
}

// served tells which of KICK's kinds the API server knows.
func (s *session) served() []finding {
	known, err := resources(s.core.Discovery(), v1alpha1.GroupVersion.String())
	var out []finding
	for _, name := range append(slices.Clone(required), "notificationpolicies") {
		f := finding{What: "CRD " + name + "." + v1alpha1.GroupVersion.Group, OK: known[name], Says: "served"}
		switch {
		case err != nil:
			f.Says = "not known: " + err.Error()
		case !f.OK:
			f.Says = "not installed: " + remedyCRDs
		}
		if !f.OK && err == nil && name == "notificationpolicies" {
			f.Note, f.Says = true, f.Says+", unless KICK runs with --enable-notifications=false"
		}
		out = append(out, f)
	}
	return out
}

// required are the kinds that there is no KICK without, by their resources.
var required = []string{"kickpolicies", "kickrequests", "sourceobservations"}

// remedyCRDs installs the kinds.
const remedyCRDs = "kubectl apply --server-side -f kick/api/crds, or install KICK with its chart"

// resources are those of a group and version that are served. A group that is not known has none.
func resources(server discovery.ServerResourcesInterface, groupVersion string) (map[string]bool, error) {
	known := map[string]bool{}
	list, err := server.ServerResourcesForGroupVersion(groupVersion)
	switch {
	case apierrors.IsNotFound(err):
		return known, nil
	case err != nil:
		return known, fmt.Errorf("ask the API server for %s: %w", groupVersion, err)
	}
	for i := range list.APIResources {
		known[list.APIResources[i].Name] = true
	}
	return known, nil
}

// absentError says which kinds of KICK's an API server does not serve.
type absentError struct{ names []string }

func (e absentError) Error() string {
	return fmt.Sprintf("the cluster does not serve all of KICK's kinds: CRD %s missing", strings.Join(e.names, ", "))
}

// absent finds out which kinds are not served; nil: none, or it cannot be asked.
func absent(server discovery.ServerResourcesInterface) error {
	known, err := resources(server, v1alpha1.GroupVersion.String())
	var names []string
	for _, name := range required {
		if !known[name] {
			names = append(names, name+"."+v1alpha1.GroupVersion.Group)
		}
	}
	if err != nil || len(names) == 0 {
		return nil
	}
	return absentError{names}
}

// leader tells who leads, by the lease.
func (s *session) leader() finding {
	f := finding{What: "leader of " + s.own}
	lease, err := s.core.CoordinationV1().Leases(s.own).Get(s.ctx, operator.LeaseName, metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err): // which is found missing among the rights
		f.Note, f.Says = true, fmt.Sprintf("not known, for you lack the right to get leases of %s in namespace %s", coordinationv1.GroupName, s.own)
	case apierrors.IsNotFound(err):
		f.Says = fmt.Sprintf("there is no lease %s/%s, so no replica has led yet; if KICK runs elsewhere, use --kick-namespace", s.own, operator.LeaseName)
	case err != nil:
		f.Says = fmt.Sprintf("not known: lease %s/%s: %v", s.own, operator.LeaseName, err)
	case lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" || lease.Spec.RenewTime == nil || lease.Spec.LeaseDurationSeconds == nil:
		f.Says = "nobody leads: is a replica of KICK running?"
	default:
		silent := s.now.Sub(lease.Spec.RenewTime.Time)
		f.OK = silent < 2*time.Duration(*lease.Spec.LeaseDurationSeconds)*time.Second
		f.Says = *lease.Spec.HolderIdentity
		if !f.OK {
			f.Says += " has not been heard of since " + stamp(lease.Spec.RenewTime.Time)
		}
	}
	return f
}

// needs are the rights that the plugin makes use of; own: in KICK's own namespace.
var needs = []struct {
	group, resource, verb string
	own                   bool
}{
	{v1alpha1.GroupVersion.Group, "kickpolicies", "list", false}, {v1alpha1.GroupVersion.Group, "kickrequests", "list", false},
	{v1alpha1.GroupVersion.Group, "sourceobservations", "list", false},
	{"apps", "deployments", "list", false}, {"apps", "statefulsets", "list", false}, {"apps", "daemonsets", "list", false},
	{"apps", "replicasets", "list", false}, {"apps", "controllerrevisions", "list", false},
	{"", "secrets", "list", false}, {"", "configmaps", "list", false}, {"", "pods", "list", false}, {"", "secrets", "get", true}, {coordinationv1.GroupName, "leases", "get", true},
	{"events.k8s.io", "events", "list", false}, {"events.k8s.io", "events", "watch", false}, {v1alpha1.GroupVersion.Group, "kickrequests", "watch", false},
	{v1alpha1.GroupVersion.Group, "kickpolicies", "patch", false}, {v1alpha1.GroupVersion.Group, "kickrequests", "create", false},
}

// rights asks what the user may do.
func (s *session) rights() []finding {
	var out []finding
	for _, n := range needs {
		namespace, where := s.namespace, "all namespaces"
		if n.own {
			namespace = s.own
		}
		if namespace != "" {
			where = "namespace " + namespace
		}
		review, err := s.core.AuthorizationV1().SelfSubjectAccessReviews().Create(s.ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: namespace, Verb: n.verb, Group: n.group, Resource: n.resource,
			}},
		}, metav1.CreateOptions{})
		f := finding{What: "your right to " + n.verb + " " + n.resource, Says: "granted in " + where}
		switch {
		case err != nil:
			f.Says = err.Error()
		case review.Status.Allowed:
			f.OK = true
		default:
			f.Says = "not granted in " + where
		}
		out = append(out, f)
	}
	return out
}

// foreign are the tools KICK can work with.
var foreign = []struct{ name, groupVersion, resource string }{
	{"Argo CD", "argoproj.io/v1alpha1", "applications"}, {"Argo Rollouts", "argoproj.io/v1alpha1", "rollouts"},
	{"Flux Kustomizations", "kustomize.toolkit.fluxcd.io/v1", "kustomizations"}, {"Flux HelmReleases", "helm.toolkit.fluxcd.io/v2", "helmreleases"},
	{"Kargo", "kargo.akuity.io/v1alpha1", "stages"}, {"Secrets Store CSI", "secrets-store.csi.x-k8s.io/v1", "secretproviderclasses"},
}

func (s *session) integrations() []finding {
	var out []finding
	for _, tool := range foreign {
		f := finding{What: tool.name, Note: true, Says: "not installed (" + tool.resource + " of " + tool.groupVersion + ")"}
		known, err := resources(s.core.Discovery(), tool.groupVersion)
		switch {
		case err != nil:
			f.Says = "not known: " + err.Error()
		case known[tool.resource]:
			f.OK, f.Says = true, "installed"
		}
		out = append(out, f)
	}
	return out
}
