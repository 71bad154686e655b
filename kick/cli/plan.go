package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/observation"
	"github.com/corewire/kick/kick/model/request"
)

func (a *app) planning() *cobra.Command {
	file := ""
	c := &cobra.Command{
		Use: "plan -f FILE", Short: "Show what a policy would restart and what not, before it is applied; nothing is written",
		Long: "Show what the policies of a file would restart and what not, and why. A policy of the same name takes the place of the\none in the cluster; nothing is written. - reads standard input.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.session(c)
			if err != nil {
				return err
			}
			policies, err := s.readPolicies(file)
			if err != nil {
				return err
			}
			return s.plan(policies)
		},
	}
	c.Flags().StringVarP(&file, "filename", "f", "", "a file with KickPolicies")
	return c
}

// nothing heads the workloads that a policy would manage and not touch.
const nothing = "nothing to do"

// planned is what a policy would do.
type planned struct {
	Policy     string   `json:"policy"`
	Namespace  string   `json:"namespace"`
	Workloads  int      `json:"workloads"`
	Managed    int      `json:"managed"`
	Restart    []answer `json:"restart"`
	Wait       []answer `json:"wait"`
	Nothing    []answer `json:"nothing"`
	NotMatched []string `json:"notMatched"`
}

// plan supposes that all policies of a file stand, and tells what each of them does.
func (s *session) plan(policies []*v1alpha1.KickPolicy) error {
	judged := map[string][]*answer{}
	for _, p := range policies {
		if m := gather.Policy(p); m.Invalid != "" {
			return fmt.Errorf("KickPolicy %s/%s: %s", p.Namespace, p.Name, m.Invalid)
		}
		s.cache.suppose(p)
		judged[p.Namespace] = nil
	}
	for namespace := range judged {
		if err := s.supposeRecords(namespace); err != nil {
			return err
		}
		all, err := s.judgeAll(namespace)
		if err != nil {
			return err
		}
		judged[namespace] = all
	}
	plans := make([]planned, len(policies))
	for i, p := range policies {
		plans[i] = planOf(p, judged[p.Namespace])
	}
	if done, err := s.structured(plans); done {
		return err
	}
	for i := range plans {
		if err := s.printPlan(&plans[i]); err != nil {
			return err
		}
	}
	return nil
}

func planOf(p *v1alpha1.KickPolicy, all []*answer) planned {
	out := planned{Policy: p.Name, Namespace: p.Namespace, Workloads: len(all), Restart: []answer{}, Wait: []answer{}, Nothing: []answer{}, NotMatched: []string{}}
	for _, got := range all {
		out.sort(got, p.Name)
	}
	return out
}

// sort puts a workload where it belongs.
func (out *planned) sort(got *answer, policy string) {
	name := got.Kind + "/" + got.Name
	selected := false
	for _, p := range got.Policies {
		selected = selected || p == policy
	}
	if !selected {
		out.NotMatched = append(out.NotMatched, name)
		return
	}
	out.Managed++
	switch {
	case got.act:
		out.Restart = append(out.Restart, *got)
	case got.Reason == string(request.Fresh) || got.Reason == string(request.NotRunning) || got.phase.Terminal():
		out.Nothing = append(out.Nothing, *got)
	default:
		out.Wait = append(out.Wait, *got)
	}
}

// printPlan tells of those that something is to be done about, or would be but for dryRun; of all with -o wide, and
// with -o name nothing but what would be restarted.
func (s *session) printPlan(out *planned) error {
	if s.output == "name" {
		for i := range out.Restart {
			_, _ = fmt.Fprintln(s.Stdout, resource(model.Key{Kind: out.Restart[i].Kind, Name: out.Restart[i].Name}))
		}
		return nil
	}
	_, _ = fmt.Fprintf(s.Stdout, "KickPolicy %s/%s would manage %d of %d workload%s\n", out.Namespace, out.Policy, out.Managed, out.Workloads, plural(out.Workloads))
	for _, group := range []struct {
		title string
		found []answer
	}{{"restart now", out.Restart}, {"wait", out.Wait}, {nothing, out.Nothing}} {
		_, _ = fmt.Fprintf(s.Stdout, "  %-14s %d\n", group.title, len(group.found))
		for i := range group.found {
			got := &group.found[i]
			if group.title == nothing && s.output != "wide" && got.phase != request.DryRun {
				continue
			}
			_, _ = fmt.Fprintf(s.Stdout, "    %s/%s  %s\n", got.Kind, got.Name, strings.TrimSpace(got.Reason+": "+plain(got.Message)))
		}
	}
	if len(out.NotMatched) > 0 {
		_, _ = fmt.Fprintf(s.Stdout, "  %-14s %d  %s\n", "not matched", len(out.NotMatched), strings.Join(out.NotMatched, ", "))
	}
	_, err := fmt.Fprintln(s.Stdout, "nothing was changed")
	return err
}

// supposeRecords puts on record, in the cache alone, what KICK would at first sight.
func (s *session) supposeRecords(namespace string) error {
	if held, err := s.gather.HoldKey(s.ctx); err != nil {
		return err
	} else if !held { // KICK has not run here yet: any key will do
		key, err := ledger.KeyFrom(ledger.KeyObject(s.own, ledger.NewKeyBytes()))
		if err != nil {
			return err
		}
		s.gather.Keys.Hold(key)
	}
	sources, err := s.gather.References(s.ctx, namespace)
	if err != nil {
		return err
	}
	var supposed []*model.Record
	for _, id := range sources {
		look, err := s.gather.Source(s.ctx, id, gather.FromCache)
		if err != nil {
			return err
		}
		if look.Record != nil {
			continue
		}
		_, record := observation.Observe(observation.Input{
			Now: s.now, ServerNow: s.now, Allowance: s.gather.Settings.ClockAllowance, Key: s.gather.Keys.Key(),
			Source: look.Source, Since: s.now, NewestStamp: look.NewestStamp,
		})
		supposed = append(supposed, record)
	}
	for _, record := range supposed {
		s.cache.suppose(ledger.Observation(record))
	}
	return nil
}
