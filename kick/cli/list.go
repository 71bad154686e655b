package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

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
			version, err := s.printRequests()
			if err != nil || !a.watch {
				return err
			}
			return s.follow(&v1alpha1.KickRequestList{}, version, func(client.Object) error {
				s.now = gather.Now(clockOf(a.Now))
				_, err := s.printRequests()
				return err
			})
		},
	}
	c.Flags().BoolVarP(&a.watch, "watch", "w", false, "print the list again with each change")
	return c
}

var requestColumns = []string{"NAMESPACE", "KIND", "NAME", "PHASE", "REASON", "CHANGED", "NEXT TRY", "REQUEST", "MESSAGE", "ASKED FOR"}

// printRequests prints what there is now, and returns the version from which on to watch.
func (s *session) printRequests() (version string, err error) {
	var list v1alpha1.KickRequestList
	if err := s.live.List(s.ctx, &list, client.InNamespace(s.namespace)); err != nil {
		return "", fmt.Errorf("list KickRequests: %w", err)
	}
	return list.ResourceVersion, s.printList(&list)
}

func (s *session) printList(list *v1alpha1.KickRequestList) error {
	slices.SortFunc(list.Items, func(a, b v1alpha1.KickRequest) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("KickRequestList"))
	for i := range list.Items {
		list.Items[i].ManagedFields = nil // as kubectl has it
	}
	if done, err := s.structured(list); done {
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
		phase, changed, message := cmp.Or(st.Phase, request.Pending), st.LatestChange, st.Message
		if st.Phase == "" {
			changed, message = r.ChangeTime(), cmp.Or(behind(list.Items, i), message)
		}
		rows = append(rows, []string{
			target.Namespace, target.Kind, target.Name, s.paint(phase, string(phase)), string(st.Reason), s.age(s.now, changed), stamp(st.RequeueAt),
			r.ID.Name, plain(message), plain(list.Items[i].Spec.Reason),
		})
	}
	if s.output == "name" {
		return nil
	}
	return s.table(requestColumns, 3, rows)
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
			trees := []policyTree{}
			for _, ns := range namespaces {
				found, err := s.trees(ns)
				if err != nil {
					return err
				}
				trees = append(trees, found...)
			}
			if done, err := s.structured(trees); done {
				return err
			}
			return s.printTrees(trees)
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

// policyTree is a policy and what it selects.
type policyTree struct {
	Policy    string    `json:"policy"`
	Namespace string    `json:"namespace"`
	Workloads []*answer `json:"workloads"`
}

// trees are those of a namespace's policies, in order.
func (s *session) trees(namespace string) ([]policyTree, error) {
	found, err := s.judgeAll(namespace)
	if err != nil {
		return nil, err
	}
	keys, err := s.gather.PolicyKeys(s.ctx, namespace)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(keys, func(a, b model.Key) int { return cmp.Compare(a.Name, b.Name) })
	out := make([]policyTree, len(keys))
	for i, p := range keys {
		out[i] = policyTree{Policy: p.Name, Namespace: namespace, Workloads: []*answer{}}
		for _, got := range found {
			if slices.Contains(got.Policies, p.Name) {
				out[i].Workloads = append(out[i].Workloads, got)
			}
		}
	}
	return out, nil
}

func (s *session) printTrees(trees []policyTree) error {
	var out strings.Builder
	for i := range trees {
		t := &trees[i]
		fmt.Fprintf(&out, "KickPolicy %s/%s\n", t.Namespace, t.Policy)
		for j, got := range t.Workloads {
			branch, below := branches(j == len(t.Workloads)-1)
			fmt.Fprintf(&out, "%s%s %s  %s\n", branch, got.Kind, got.Name, s.paint(got.phase, got.Reason))
			for k, src := range got.Sources {
				leaf, _ := branches(k == len(got.Sources)-1)
				fmt.Fprintf(&out, "%s%s%s  %s%s\n", below, leaf, src.Source, stamp(src.changed), src.Note)
			}
		}
	}
	_, err := io.WriteString(s.Stdout, out.String())
	return err
}

// branches lead to a node, and past it to what is below it.
func branches(last bool) (to, past string) {
	if last {
		return "└─ ", "   "
	}
	return "├─ ", "│  "
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
