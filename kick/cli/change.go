package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/model"
)

// since asks for a watch from a version on.
func since(version string) *metav1.ListOptions { return &metav1.ListOptions{ResourceVersion: version} }

// manager is the field manager of what people change with the plugin.
const manager = "kubectl-kick"

func (a *app) toggle(verb string, suspend bool) *cobra.Command {
	short := "Let a policy restart again; what changed meanwhile is caught up"
	if suspend {
		short = "Put off the restarts of a policy; changes are kept"
	}
	return &cobra.Command{
		Use: verb + " policy/NAME", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, id, err := a.about(c, args, (*session).policy)
			if err != nil {
				return err
			}
			patch, err := json.Marshal(map[string]any{"spec": map[string]any{"suspend": suspend}})
			if err != nil {
				return err
			}
			policies := s.writes.Resource(v1alpha1.GroupVersion.WithResource("kickpolicies")).Namespace(id.Namespace)
			made, err := policies.Patch(s.ctx, id.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
			if err != nil {
				return fmt.Errorf("%s %s: %w", verb, id, err)
			}
			return s.did(made, fmt.Sprintf("%s: spec.suspend is %v", id, suspend))
		},
	}
}

func (a *app) restartNow() *cobra.Command {
	reason := ""
	c := &cobra.Command{
		Use: "now KIND/NAME --reason TEXT", Short: "Ask for a restart because of something KICK cannot see",
		Long:    "Ask for a restart because of something KICK cannot see. A KickRequest is created, and served under the rules of the\nworkload's policy: its windows and limits hold.",
		Example: "  kubectl kick now deployment/web --reason 'the license server was renewed'", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, target, err := a.about(c, args, (*session).target)
			if err != nil {
				return err
			}
			if strings.TrimSpace(reason) == "" {
				return usageError{fmt.Errorf("say why with --reason: it is all that tells others later")}
			}
			return s.ask(target, reason)
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why; kept in the request")
	return c
}

func (s *session) ask(target model.Key, reason string) error {
	w, err := s.snapshot(target)
	switch {
	case err != nil:
		return err
	case w.Workload == nil:
		return fmt.Errorf("%s does not exist", target)
	case len(w.Policies) == 0:
		return fmt.Errorf("%s: %s A request for it would be refused", target, s.unmanaged(target))
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&v1alpha1.KickRequest{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "KickRequest"},
		ObjectMeta: metav1.ObjectMeta{Namespace: target.Namespace, GenerateName: model.LabelValue(model.ObjectName(target)) + "-"},
		Spec: v1alpha1.KickRequestSpec{
			TargetRef: v1alpha1.TargetReference{APIVersion: w.Workload.APIVersion, Kind: v1alpha1.WorkloadKind(target.Kind), Name: target.Name},
			Trigger:   v1alpha1.TriggerManual, Reason: reason,
		},
	})
	if err != nil {
		return err
	}
	requests := s.writes.Resource(v1alpha1.GroupVersion.WithResource("kickrequests")).Namespace(target.Namespace)
	made, err := requests.Create(s.ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{FieldManager: manager})
	if err != nil {
		return fmt.Errorf("create a KickRequest for %s: %w", target, err)
	}
	waits := ""
	if r := w.Request; r != nil && !r.Status.Phase.Terminal() {
		waits = fmt.Sprintf("; its turn comes when KickRequest %s is done", r.ID.Name)
	}
	for i := range w.Policies {
		p := &w.Policies[i]
		for _, why := range idle(p.Suspended, p.DryRun) {
			_, _ = fmt.Fprintf(s.Stderr, "note: %s %s\n", p.ID, why)
		}
		if p.DryRun {
			_, _ = fmt.Fprintln(s.Stderr, "note: the request ends as DryRun, and is not made up for when dryRun is turned off: ask again then")
		}
	}
	return s.did(made, fmt.Sprintf("kickrequest.kick.corewire.io/%s created%s; kubectl kick why %s/%s -n %s tells how far it is", made.GetName(), waits, target.Kind, target.Name, target.Namespace))
}

// did tells what was written: as the object, as its name, or in words.
func (s *session) did(made *unstructured.Unstructured, words string) error {
	made.SetManagedFields(nil)
	if done, err := s.structured(made.Object); done {
		return err
	}
	if s.output == "name" {
		words = resource(model.Key{Kind: made.GetKind(), Name: made.GetName()})
	}
	_, err := fmt.Fprintln(s.Stdout, words)
	return err
}
