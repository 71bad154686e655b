package cli

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

func (a *app) list() *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "List the requests for restarts", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.session(c)
			if err != nil {
				return err
			}
			if err := s.printRequests(); err != nil || !a.watch {
				return err
			}
			return s.follow(&v1alpha1.KickRequestList{}, func(client.Object) error {
				s.cache.read = map[place][]client.Object{}
				s.now = gather.Now(clockOf(a.Now))
				return s.printRequests()
			})
		},
	}
	c.Flags().BoolVarP(&a.watch, "watch", "w", false, "print the list again with each change")
	return c
}

var requestColumns = []string{"NAMESPACE", "KIND", "NAME", "PHASE", "REASON", "CHANGED", "NEXT TRY", "REQUEST", "MESSAGE"}

func (s *session) printRequests() error {
	var list v1alpha1.KickRequestList
	if err := s.cache.List(s.ctx, &list, client.InNamespace(s.namespace)); err != nil {
		return fmt.Errorf("list KickRequests: %w", err)
	}
	slices.SortFunc(list.Items, func(a, b v1alpha1.KickRequest) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("KickRequestList"))
	if done, err := s.structured(&list); done {
		return err
	}
	if len(list.Items) == 0 {
		_, err := fmt.Fprintln(s.Stderr, "No request: nothing changed that a managed workload reads, or it is long done.")
		return err
	}
	rows := make([][]string, 0, len(list.Items))
	for i := range list.Items {
		r := gather.Request(&list.Items[i])
		if s.output == "name" {
			_, _ = fmt.Fprintln(s.Stdout, "kickrequest.kick.corewire.io/"+r.ID.Name)
			continue
		}
		target, st := gather.TargetOf(&list.Items[i]), r.Status
		phase := cmp.Or(st.Phase, request.Pending)
		rows = append(rows, []string{
			target.Namespace, target.Kind, target.Name, s.paint(phase, string(phase)), string(st.Reason), s.age(s.now, st.LatestChange), stamp(st.RequeueAt),
			r.ID.Name, st.Message,
		})
	}
	if s.output == "name" {
		return nil
	}
	return s.table(requestColumns, 2, rows)
}

func (a *app) tree() *cobra.Command {
	return &cobra.Command{
		Use: "tree", Short: "Show policies, the workloads they select, and what those read", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.session(c)
			if err != nil {
				return err
			}
			namespaces, err := s.managed()
			if err != nil {
				return err
			}
			for _, ns := range namespaces {
				if err := s.printTree(ns); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// managed are the namespaces in view that have a policy.
func (s *session) managed() ([]string, error) {
	var list v1alpha1.KickPolicyList
	if err := s.cache.List(s.ctx, &list, client.InNamespace(s.namespace)); err != nil {
		return nil, fmt.Errorf("list KickPolicies: %w", err)
	}
	var out []string
	for i := range list.Items {
		out = append(out, list.Items[i].Namespace)
	}
	slices.Sort(out)
	if len(out) == 0 {
		_, _ = fmt.Fprintln(s.Stderr, "No KickPolicy: KICK restarts nothing here.")
	}
	return slices.Compact(out), nil
}

func (s *session) printTree(namespace string) error {
	found, err := s.judgeAll(namespace)
	if err != nil {
		return err
	}
	byPolicy := map[string][]*answer{}
	for _, got := range found {
		for _, p := range got.Policies {
			byPolicy[p] = append(byPolicy[p], got)
		}
	}
	keys, err := s.gather.PolicyKeys(s.ctx, namespace)
	if err != nil {
		return err
	}
	slices.SortFunc(keys, func(a, b model.Key) int { return cmp.Compare(a.Name, b.Name) })
	for _, p := range keys {
		_, _ = fmt.Fprintf(s.Stdout, "KickPolicy %s/%s\n", namespace, p.Name)
		for i, got := range byPolicy[p.Name] {
			branch, below := "├─ ", "│  "
			if i == len(byPolicy[p.Name])-1 {
				branch, below = "└─ ", "   "
			}
			_, _ = fmt.Fprintf(s.Stdout, "%s%s %s  %s\n", branch, got.Kind, got.Name, s.paint(got.phase, got.Reason))
			for j, src := range got.Sources {
				leaf := "├─ "
				if j == len(got.Sources)-1 {
					leaf = "└─ "
				}
				_, _ = fmt.Fprintf(s.Stdout, "%s%s%s  %s%s\n", below, leaf, src.Source, src.Changed, src.Note)
			}
		}
	}
	return nil
}

// judgeAll asks about every workload of a namespace, in order.
func (s *session) judgeAll(namespace string) ([]*answer, error) {
	keys, err := s.gather.WorkloadKeys(s.ctx, namespace)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(keys, func(a, b model.Key) int { return cmp.Compare(a.String(), b.String()) })
	out := make([]*answer, 0, len(keys))
	for _, k := range keys {
		got, err := s.judge(k)
		if err != nil {
			return nil, err
		}
		out = append(out, got)
	}
	return out, nil
}
