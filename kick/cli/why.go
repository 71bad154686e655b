package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/explain"
	"github.com/corewire/kick/kick/gather"
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
	ByNow     string   `json:"byNow,omitempty"` // what has become of a failure since
	// Unrecorded is what stands and is not on record, so that nothing of it was judged.
	Unrecorded string   `json:"unrecorded,omitempty"`
	Request    string   `json:"request,omitempty"`
	Asked      string   `json:"asked,omitempty"` // why somebody wanted it, in his words
	Since      string   `json:"since,omitempty"`
	LooksAt    string   `json:"looksAgainAt,omitempty"`
	WakesOn    []string `json:"wakesOn,omitempty"`
	// Queued are requests of people whose turn comes after the one that is told of.
	Queued  []string       `json:"queued,omitempty"`
	Sources []source       `json:"sources,omitempty"` // the one that changed last first
	Trail   []explain.Line `json:"trail,omitempty"`
	History []event        `json:"history,omitempty"` // of the request's episodes, oldest first

	phase        request.Phase
	act          bool
	since, looks time.Time
}

type source struct {
	Source  string `json:"source"`
	Changed string `json:"changed,omitempty"`
	Note    string `json:"note,omitempty"`

	changed time.Time
}

// event is a phase that the request reached.
type event struct {
	At      string `json:"at"`
	Phase   string `json:"phase"`
	Message string `json:"message"`

	at time.Time
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
		return nil, err
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
	v := decide.Foresee(snap, s.now)
	out.fill(snap, &v)
	return out, s.requests(out, target, toldOf(snap, &v))
}

// toldOf is the request that people are told of: the one that is open or that something is
// to be done about, else the one that ended last, whether KICK or somebody else made it.
func toldOf(snap *model.Snapshot, v *decide.Verdict) *model.Request {
	if r := snap.Request; r == nil || !r.Status.Phase.Terminal() || v.Action != decide.None {
		return r
	}
	return cmp.Or(snap.LastEnded, snap.Request)
}

// Tell is the request that why tells of, if there is one, and its sentence.
func Tell(snap *model.Snapshot, now time.Time) (request, message string) {
	var out answer
	v := decide.Foresee(snap, now)
	out.fill(snap, &v)
	if r := toldOf(snap, &v); r != nil {
		request = r.ID.Name
	}
	return request, out.Message
}

// requests adds what people said of the request that is told of, and the other open ones
// for the workload.
func (s *session) requests(out *answer, target model.Key, told *model.Request) error {
	var list v1alpha1.KickRequestList
	if err := s.cache.List(s.ctx, &list, client.InNamespace(target.Namespace)); err != nil {
		return fmt.Errorf("list KickRequests: %w", err)
	}
	for i := range list.Items {
		r := &list.Items[i]
		switch {
		case told == nil || gather.TargetOf(r) != target:
		case r.Name == told.ID.Name:
			out.Asked = r.Spec.Reason
		case !request.Phase(r.Status.Phase).Terminal():
			out.Queued = append(out.Queued, strings.TrimSuffix(r.Name+": "+r.Spec.Reason, ": "))
		}
	}
	slices.Sort(out.Queued)
	return nil
}

// behind says which open request of the same workload comes before an unjudged one.
func behind(all []v1alpha1.KickRequest, i int) string {
	for j := range all {
		if st := all[j].Status; st.Phase != "" && !request.Phase(st.Phase).Terminal() && gather.TargetOf(&all[j]) == gather.TargetOf(&all[i]) {
			return "Its turn comes when KickRequest " + all[j].Name + " is done."
		}
	}
	return ""
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
	if r := toldOf(snap, v); r != nil {
		out.Request, out.Since, out.since = r.ID.Name+" "+string(cmp.Or(r.Status.Phase, request.Pending)), moment(r.Status.OpenedAt), r.Status.OpenedAt
		for _, t := range r.Status.Transitions {
			out.History = append(out.History, event{moment(t.At), string(t.Phase), t.Message, t.At})
		}
		if st := r.Status; st.Phase.Terminal() && v.Action == decide.None {
			out.phase, out.Phase, out.Reason, out.Message = st.Phase, string(st.Phase), string(st.Reason), st.Message
			out.ByNow = recovered(snap, &st, v)
		}
		out.refused(&r.Status, v)
	}
	out.LooksAt, out.looks = moment(v.WakeAt), v.WakeAt
	out.WakesOn = wakes(v.WakeOn)
	out.Trail = explain.Trail(v)
	for i := range snap.Dependencies {
		d := &snap.Dependencies[i]
		out.Sources = append(out.Sources, describe(d))
		if d.Unrecorded && d.InScope && out.Unrecorded == "" {
			out.Unrecorded = fmt.Sprintf("But %s is not on record as it stands, so it is not judged yet. If that lasts, KICK does not run: kubectl kick check tells.", d.Source.ID)
		}
	}
	slices.SortStableFunc(out.Sources, func(a, b source) int { return b.changed.Compare(a.changed) })
}

// recovered says that a restart which failed has got there after all: its rollout came to its
// end when it had been given up. The request stays as it is, for nobody judges it anew.
func recovered(snap *model.Snapshot, told *model.RequestStatus, v *decide.Verdict) string {
	w := snap.Workload
	if told.Phase != request.Failed || w == nil || !w.Rollout.Observed || !w.Rollout.Complete {
		return ""
	}
	if why := v.Decisive.Reason; why != request.Fresh && why != request.NotRunning {
		return ""
	}
	return "By now the rollout is complete, and nothing is outstanding: " + explain.Step(v.Decisive)
}

// besides is what is to be said after the message; mostly nothing.
func (out *answer) besides() string { return strings.TrimSpace(out.ByNow + " " + out.Unrecorded) }

// refused tells of a restart that the API server does not take: no rule foresees that, and
// the operator, which sends it again now and then, has it on record.
func (out *answer) refused(st *model.RequestStatus, v *decide.Verdict) {
	if v.Action == decide.Stamp && st.Reason == request.PatchRejected && st.Phase.Waiting() {
		out.phase, out.act = st.Phase, false
		out.Phase, out.Reason, out.Message = string(st.Phase), string(st.Reason), st.Message
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
		out.changed = model.Told(d.Record.Current().Observed)
		out.Changed = moment(out.changed)
	}
	return out
}

// moment is a time for programs: RFC 3339, UTC; empty: never.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// stamp is a time for people; empty: never.
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
	_, _ = fmt.Fprintf(s.Stdout, "%s %s/%s: %s\n  %s\n", got.Kind, got.Namespace, got.Name, head, plain(got.Message))
	if more := got.besides(); more != "" {
		_, _ = fmt.Fprintf(s.Stdout, "  %s\n", more)
	}
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
		say("request", got.Request+", opened "+s.when(got.since))
	} else {
		say("request", got.Request)
	}
	say("asked for", plain(got.Asked))
	for _, one := range got.Queued {
		say("after that", plain(one))
	}
	for _, src := range got.Sources {
		say("source", strings.TrimSpace(src.Source+"\t"+s.when(src.changed)+src.Note))
	}
	say("looks again", s.next(got))
	_, _ = io.WriteString(w, "\n")
	for _, r := range got.Trail {
		say(string(r.Outcome), r.Rule+":\t"+plain(r.Message))
	}
	if len(got.History) > 0 {
		_, _ = io.WriteString(w, "\n")
	}
	for _, e := range got.History {
		say("history", stamp(e.at)+"\t"+e.Phase+":\t"+plain(e.Message))
	}
	return w.Flush()
}

// when is a time, and how long ago it was or how soon it comes.
func (s *session) when(at time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case at.After(s.now):
		return fmt.Sprintf("%s (in %s)", stamp(at), duration.HumanDuration(at.Sub(s.now)))
	}
	return fmt.Sprintf("%s (%s ago)", stamp(at), duration.HumanDuration(s.now.Sub(at)))
}

// next is when the workload is judged again.
func (s *session) next(got *answer) string {
	var parts []string
	if got.LooksAt != "" {
		parts = append(parts, "at "+s.when(got.looks))
	}
	if len(got.WakesOn) > 0 {
		parts = append(parts, "when this changes: "+strings.Join(got.WakesOn, ", "))
	}
	return strings.Join(parts, ", or ")
}

// wakes are the things that wake a request, each once: a rule and the gate it asks may wait
// for the same.
func wakes(on []model.WakeOn) (names []string) {
	for _, o := range on {
		if !slices.Contains(names, string(o)) {
			names = append(names, string(o))
		}
	}
	return names
}
