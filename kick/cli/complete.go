package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/model"
)

// resource is how kubectl writes an object's name with -o name.
func resource(k model.Key) string {
	return strings.ToLower(k.Kind) + "." + groups[k.Kind] + "/" + k.Name
}

// complete lets the shell complete the names of what is in the cluster, and the forms of
// output of each command.
func (a *app) complete(root *cobra.Command) {
	for _, c := range root.Commands() {
		switch c.Name() {
		case "why", "status", "now":
			c.ValidArgsFunction = a.names("deployment", "statefulset", "daemonset")
		case "windows", "suspend", "resume":
			c.ValidArgsFunction = a.names("policy")
		case "completion":
			c.RunE = func(*cobra.Command, []string) error {
				return usageError{errors.New("name a shell: bash, zsh, fish or powershell")}
			}
		default:
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
	_ = root.RegisterFlagCompletionFunc("output", func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return forms[c.Name()], cobra.ShellCompDirectiveNoFileComp
	})
}

// names completes KIND/NAME: the kind first, then what there is of it.
func (a *app) names(kinds ...string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		const plain = cobra.ShellCompDirectiveNoFileComp
		kind, _, found := strings.Cut(typed, "/")
		switch {
		case len(args) > 0:
			return nil, plain
		case !found:
			out := make([]string, len(kinds))
			for i, k := range kinds {
				out[i] = k + "/"
			}
			return out, plain | cobra.ShellCompDirectiveNoSpace
		}
		s, err := a.session(c)
		if err != nil {
			return nil, plain
		}
		there, err := s.existing(kind)
		if err != nil {
			return nil, plain
		}
		for i, name := range there {
			there[i] = kind + "/" + name
		}
		return there, plain
	}
}

// existing are the names of a kind in the namespace; only metadata is read.
func (s *session) existing(kind string) ([]string, error) {
	gvk := v1alpha1.GroupVersion.WithKind("KickPolicy")
	if !means(kind, gvk.Kind) {
		gvk.Kind = ""
		for _, k := range s.gather.Workloads {
			if means(kind, k.Name()) {
				gvk = schema.GroupVersionKind{Group: groups[k.Name()], Version: "v1", Kind: k.Name()}
			}
		}
	}
	if gvk.Kind == "" {
		return nil, nil
	}
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(gvk)
	list.Kind += "List"
	if err := s.live.List(s.ctx, &list, client.InNamespace(s.namespace)); err != nil {
		return nil, err
	}
	out := make([]string, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, list.Items[i].Name)
	}
	slices.Sort(out)
	return out, nil
}
