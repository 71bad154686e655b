package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/observation"
	"github.com/corewire/kick/kick/model/request"
)

func (a *app) plan() *cobra.Command {
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
			for _, p := range policies {
				if err := s.planFor(p); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVarP(&file, "filename", "f", "", "a file with KickPolicies")
	return c
}

// readPolicies reads every KickPolicy of a file.
func (s *session) readPolicies(file string) ([]*v1alpha1.KickPolicy, error) {
	if file == "" {
		return nil, usageError{errors.New("name a file with -f")}
	}
	in := s.In
	if file != "-" {
		f, err := os.Open(file) //nolint:gosec // the user names it
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	raw, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	var out []*v1alpha1.KickPolicy
	for i, document := range strings.Split("\n"+string(raw), "\n---") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		p, err := s.readPolicy(document)
		if err != nil {
			return nil, fmt.Errorf("%s, document %d: %w", file, i+1, err)
		}
		out = append(out, p)
	}
	return out, nil
}

func (s *session) readPolicy(document string) (*v1alpha1.KickPolicy, error) {
	p := &v1alpha1.KickPolicy{}
	if err := yaml.UnmarshalStrict([]byte(document), p); err != nil {
		return nil, err
	}
	if p.Kind != "KickPolicy" {
		return nil, fmt.Errorf("kind %q: plan reads KickPolicies only", p.Kind)
	}
	if p.Namespace == "" {
		p.Namespace = s.namespace
	}
	if p.Namespace == "" || p.Name == "" {
		return nil, errors.New("metadata.name and a namespace (or -n) are needed")
	}
	return p, nil
}

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

func (s *session) planFor(p *v1alpha1.KickPolicy) error {
	if m := gather.Policy(p); m.Invalid != "" {
		return fmt.Errorf("KickPolicy %s/%s: %s", p.Namespace, p.Name, m.Invalid)
	}
	s.cache.suppose(p)
	if err := s.supposeRecords(p.Namespace); err != nil {
		return err
	}
	all, err := s.judgeAll(p.Namespace)
	if err != nil {
		return err
	}
	out := planned{Policy: p.Name, Namespace: p.Namespace, Workloads: len(all), Restart: []answer{}, Wait: []answer{}, Nothing: []answer{}, NotMatched: []string{}}
	for _, got := range all {
		out.sort(got, p.Name)
	}
	if done, err := s.structured(out); done {
		return err
	}
	return s.printPlan(&out)
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

func (s *session) printPlan(out *planned) error {
	_, _ = fmt.Fprintf(s.Stdout, "KickPolicy %s/%s would manage %d of %d workloads\n", out.Namespace, out.Policy, out.Managed, out.Workloads)
	for _, group := range []struct {
		title string
		found []answer
	}{{"restart now", out.Restart}, {"wait", out.Wait}, {"nothing to do", out.Nothing}} {
		_, _ = fmt.Fprintf(s.Stdout, "  %-14s %d\n", group.title, len(group.found))
		for i := range group.found {
			got := &group.found[i]
			_, _ = fmt.Fprintf(s.Stdout, "    %s/%s  %s\n", got.Kind, got.Name, strings.TrimSpace(got.Reason+": "+got.Message))
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
