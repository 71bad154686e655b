package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/corewire/kick/kick/explain"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
)

// answer is what why says, for programs too.
type answer struct {
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Managed   bool     `json:"managed"`
	Policies  []string `json:"policies,omitempty"`
	Phase     string   `json:"phase,omitempty"`
	Reason    string   `json:"reason"`
	Message   string   `json:"message"`
	Request   string   `json:"request,omitempty"`
	Since     string   `json:"since,omitempty"`
	LooksAt   string   `json:"looksAgainAt,omitempty"`
	WakesOn   []string `json:"wakesOn,omitempty"`
	Trail     []rule   `json:"trail,omitempty"`
	Sources   []source `json:"sources,omitempty"`

	phase request.Phase
	act   bool
}

type rule struct {
	Rule    string `json:"rule"`
	Outcome string `json:"outcome"`
	Message string `json:"message"`
}

type source struct {
	Source  string `json:"source"`
	Changed string `json:"changed,omitempty"`
	Note    string `json:"note,omitempty"`
}

func (a *app) why() *cobra.Command {
	return &cobra.Command{
		Use: "why KIND/NAME", Short: "Tell what KICK would do about a workload now, and why",
		Long:    "Tell what KICK would do about a workload now, and why. The operator's own rules are asked, with what stands in\nthe cluster and with the defaults of the operator's flags; nothing is written.",
		Example: "  kubectl kick why deployment/web -n shop", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, target, err := a.about(c, args, (*session).target)
			if err != nil {
				return err
			}
			got, err := s.judge(target)
			if err != nil {
				return err
			}
			if done, err := a.structured(got); done {
				return err
			}
			return s.printAnswer(got)
		},
	}
}

// judge asks the operator's rules about a workload.
func (s *session) judge(target model.Key) (*answer, error) {
	snap, err := s.snapshot(target)
	if err != nil {
		return nil, fmt.Errorf("%w; KICK's judgement needs the workloads, sources, pods and records of the namespace, and Secret %s/kick-installation-key", err, s.own)
	}
	out := &answer{Kind: target.Kind, Namespace: target.Namespace, Name: target.Name, Managed: len(snap.Policies) > 0}
	if snap.Workload == nil {
		return nil, fmt.Errorf("%s does not exist", target)
	}
	for i := range snap.Policies {
		out.Policies = append(out.Policies, snap.Policies[i].ID.Name)
	}
	if !out.Managed {
		out.Reason, out.Message = "NotManaged", s.unmanaged(target)
		return out, nil
	}
	v := decide.Decide(snap, s.now)
	out.fill(snap, &v)
	return out, nil
}

// unmanaged says which policies were looked at.
func (s *session) unmanaged(target model.Key) string {
	keys, err := s.gather.PolicyKeys(s.ctx, target.Namespace)
	if err != nil || len(keys) == 0 {
		return fmt.Sprintf("Namespace %s has no KickPolicy, so KICK leaves it alone.", target.Namespace)
	}
	names := make([]string, len(keys))
	for i := range keys {
		names[i] = keys[i].Name
	}
	return fmt.Sprintf("No workloadSelector of the namespace's policies (%s) matches the labels of %s.", strings.Join(names, ", "), target)
}

func (out *answer) fill(snap *model.Snapshot, v *decide.Verdict) {
	out.phase, out.act = v.Phase, v.Action == decide.Stamp || v.Decisive.Outcome == decide.Act
	out.Phase, out.Reason, out.Message = string(v.Phase), string(v.Decisive.Reason), explain.Step(v.Decisive)
	if r := snap.Request; r != nil {
		out.Request, out.Since = r.ID.Name+" "+string(cmp.Or(r.Status.Phase, request.Pending)), stamp(r.Status.OpenedAt)
		if st := r.Status; st.Phase.Terminal() && v.Action == decide.None {
			out.Reason, out.Message = string(st.Reason), st.Message
		}
	}
	out.LooksAt = stamp(v.WakeAt)
	for _, on := range v.WakeOn {
		out.WakesOn = append(out.WakesOn, string(on))
	}
	for i := range v.Trail {
		step := &v.Trail[i]
		if step.Outcome == decide.Act && v.Decisive.Outcome != decide.Act {
			continue // something stands against it
		}
		out.Trail = append(out.Trail, rule{step.Rule, string(step.Outcome), explain.Step(step)})
	}
	for i := range snap.Dependencies {
		out.Sources = append(out.Sources, describe(&snap.Dependencies[i]))
	}
}

func describe(d *model.Dependency) source {
	out := source{Source: d.Kind + " " + d.Name}
	switch {
	case !d.InScope:
		out.Note = "not in the policy's dependencySelector"
	case !d.Source.Present && d.Required():
		out.Note = "missing, and required"
	case d.Record == nil:
		out.Note = "not on record yet"
	default:
		out.Changed = stamp(d.Record.Current().Observed)
	}
	return out
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return explain.Time(t)
}

func (s *session) printAnswer(got *answer) error {
	head := got.Reason
	if got.Phase != "" {
		head = s.paint(got.phase, got.Phase) + " (" + got.Reason + ")"
	}
	_, _ = fmt.Fprintf(s.Stdout, "%s %s/%s: %s\n  %s\n", got.Kind, got.Namespace, got.Name, head, got.Message)
	if !got.Managed {
		return nil
	}
	w := tabwriter.NewWriter(s.Stdout, 0, 0, 2, ' ', 0)
	say := func(what, text string) {
		if text != "" {
			_, _ = fmt.Fprintf(w, "  %s\t%s\n", what, text)
		}
	}
	_, _ = io.WriteString(w, "\n")
	say("policy", strings.Join(got.Policies, ", "))
	if got.Since != "" {
		say("request", got.Request+", opened "+got.Since)
	} else {
		say("request", got.Request)
	}
	for _, src := range got.Sources {
		say("source", strings.TrimSpace(src.Source+"  "+src.Changed+src.Note))
	}
	say("looks again", next(got))
	_, _ = io.WriteString(w, "\n")
	for _, r := range got.Trail {
		say(r.Outcome, r.Rule+":\t"+r.Message)
	}
	return w.Flush()
}

// next is when the workload is judged again.
func next(got *answer) string {
	var parts []string
	if got.LooksAt != "" {
		parts = append(parts, "at "+got.LooksAt)
	}
	if len(got.WakesOn) > 0 {
		parts = append(parts, "when this changes: "+strings.Join(got.WakesOn, ", "))
	}
	return strings.Join(parts, ", or ")
}
