package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

func (a *app) status() *cobra.Command {
	return &cobra.Command{
		Use: "status [KIND/NAME]", Short: "Show the policies and how far their workloads are, or one workload in a line",
		Long: "Show the policies and how far their workloads are. With a workload: one line, and exit code 3 while a restart of it\nis outstanding or has failed, unless its rollout got there after all.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.session(c)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return s.printPolicies()
			}
			return s.printOne(args[0])
		},
	}
}

func (s *session) printOne(text string) error {
	target, err := s.target(text)
	if err != nil {
		return err
	}
	got, err := s.judge(target)
	if err != nil {
		return err
	}
	if err := s.printLine(target, got); err != nil {
		return err
	}
	if got.outstanding() {
		return errUnmet
	}
	return nil
}

func (s *session) printLine(target model.Key, got *answer) error {
	if done, err := s.structured(got); done {
		return err
	}
	line := resource(target)
	if s.output != "name" {
		line = fmt.Sprintf("%s: %s. %s", target, s.paint(got.phase, strings.TrimSpace(got.Phase+" "+got.Reason)), strings.TrimSpace(plain(got.Message)+" "+got.besides()))
	}
	_, err := fmt.Fprintln(s.Stdout, line)
	return err
}

// outstanding reports whether a restart is still to come or to end, or has failed and has not
// got there since; what is not on record may need one.
func (out *answer) outstanding() bool {
	switch {
	case out.Managed && out.Unrecorded != "":
		return true
	case !out.Managed || out.Reason == string(request.Fresh) || out.Reason == string(request.NotRunning):
		return false
	case out.phase == request.Failed && out.ByNow != "":
		return false
	}
	return out.act || !out.phase.Terminal() || out.phase == request.Failed
}

var policyColumns = []string{"NAMESPACE", "POLICY", "READY", "MATCHED", "BLOCKED", "WINDOWS", "NEXT EDGE", "SUSPENDED", "DRY RUN"}

func (s *session) printPolicies() error {
	var list v1alpha1.KickPolicyList
	if err := s.cache.List(s.ctx, &list, client.InNamespace(s.namespace)); err != nil {
		return fmt.Errorf("list KickPolicies: %w", err)
	}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("KickPolicyList"))
	if done, err := s.structured(&list); done {
		return err
	}
	if len(list.Items) == 0 {
		_, err := fmt.Fprintln(s.Stderr, "No KickPolicy: KICK restarts nothing here.")
		return err
	}
	rows := make([][]string, 0, len(list.Items))
	for i := range list.Items {
		p := &list.Items[i]
		if s.output == "name" {
			_, _ = fmt.Fprintln(s.Stdout, "kickpolicy.kick.corewire.io/"+p.Name)
			continue
		}
		windows, edge := s.gateOf(p)
		rows = append(rows, []string{
			p.Namespace, p.Name, ready(p), strconv.Itoa(int(p.Status.MatchedWorkloads)), strconv.Itoa(int(p.Status.BlockedWorkloads)), windows, edge,
			strconv.FormatBool(p.Spec.Suspend), strconv.FormatBool(p.Spec.DryRun),
		})
	}
	if s.output == "name" {
		return nil
	}
	return s.table(policyColumns, 0, rows)
}

// ready is what the operator says of a policy.
func ready(p *v1alpha1.KickPolicy) string {
	for _, c := range p.Status.Conditions {
		if c.Type == v1alpha1.ConditionReady && p.Status.ObservedGeneration == p.Generation {
			return string(c.Status)
		}
	}
	return "Unknown"
}

// gateOf tells whether the windows of a policy are open, and when that changes.
func (s *session) gateOf(p *v1alpha1.KickPolicy) (windows, edge string) {
	m := gather.Policy(p)
	switch {
	case m.Invalid != "":
		return "unreadable", ""
	case len(p.Spec.Schedule.Windows) == 0:
		return "none", ""
	}
	at := m.Schedule.At(s.now)
	return openness(at.Open), stamp(at.Until)
}

func openness(open bool) string {
	if open {
		return "open"
	}
	return "shut"
}

func (a *app) windows() *cobra.Command {
	count := 5
	c := &cobra.Command{
		Use: "windows policy/NAME", Short: "List when the windows of a policy open and shut", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if count < 1 {
				return usageError{fmt.Errorf("--next %d: at least 1", count)}
			}
			s, id, err := a.about(c, args, (*session).policy)
			if err != nil {
				return err
			}
			var p v1alpha1.KickPolicy
			if err := s.cache.Get(s.ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, &p); err != nil {
				return fmt.Errorf("read %s: %w", id, err)
			}
			if m := gather.Policy(&p); m.Invalid != "" {
				return fmt.Errorf("%s: %s", id, m.Invalid)
			}
			for _, why := range idle(p.Spec.Suspend, p.Spec.DryRun) {
				_, _ = fmt.Fprintf(s.Stderr, "note: %s %s\n", id, why)
			}
			return s.printWindows(&p, count)
		},
	}
	c.Flags().IntVar(&count, "next", count, "how many openings to list")
	return c
}

// idle says why nothing is restarted under a policy, whatever its windows say.
func idle(suspended, dryRun bool) (why []string) {
	if suspended {
		why = append(why, "is suspended: nothing is restarted until spec.suspend is false; what changes meanwhile is kept")
	}
	if dryRun {
		why = append(why, "has spec.dryRun: what would be restarted is told, and nothing is restarted")
	}
	return why
}

// span is one time in which restarts are allowed.
type span struct {
	Opens string `json:"opens"`
	Shuts string `json:"shuts,omitempty"`

	opens, shuts time.Time
}

func (s *session) printWindows(p *v1alpha1.KickPolicy, count int) error {
	spans := openings(p, s.now, count)
	if done, err := s.structured(spans); done {
		return err
	}
	if len(spans) == 0 {
		_, err := fmt.Fprintln(s.Stdout, "No window opens any more: this policy restarts nothing.")
		return err
	}
	rows := make([][]string, 0, len(spans))
	for _, one := range spans {
		opens := stamp(one.opens)
		if one.opens.Equal(s.now) {
			opens = "now"
		}
		rows = append(rows, []string{opens, stamp(one.shuts)})
	}
	return s.table([]string{"OPENS", "SHUTS"}, 0, rows)
}

// openings are the next times in which restarts are allowed; the first may be under way.
func openings(p *v1alpha1.KickPolicy, now time.Time, count int) []span {
	schedule, at := gather.Policy(p).Schedule, now
	var out []span
	for looks := 0; len(out) < count && looks < 4*count; looks++ {
		state := schedule.At(at)
		if state.Open {
			out = append(out, span{moment(at), moment(state.Until), at, state.Until})
		}
		if state.Until.IsZero() {
			break
		}
		at = state.Until
	}
	return out
}
