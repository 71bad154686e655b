package generate

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// policies gives a namespace its policy, and a second one that may select the same
// workloads.
func (b *builder) policies(namespace string) {
	b.give(newPolicy(namespace, "all", b.policySpec()))
	if !b.has[secondPolicy] {
		return
	}
	spec := b.policySpec()
	if spec.Discovery.WorkloadSelector == nil && b.maybe("disjoint") {
		spec.Discovery.WorkloadSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "worker"}}
	}
	b.give(newPolicy(namespace, "second", spec))
}

func newPolicy(namespace, name string, spec v1alpha1.KickPolicySpec) *v1alpha1.KickPolicy {
	return &v1alpha1.KickPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "KickPolicy"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       spec,
	}
}

func (b *builder) policySpec() v1alpha1.KickPolicySpec {
	spec := v1alpha1.KickPolicySpec{
		GitOps:  v1alpha1.GitOps{Provider: b.asked},
		Suspend: b.has[suspended] && b.maybe("suspended"),
		DryRun:  b.has[dryRuns] && b.maybe("dry run"),
	}
	if b.has[paces] {
		spec.Restart = v1alpha1.Restart{
			SettleDelay: pick(b.maker, "settle delay", spans(-1, 0, 5*time.Second, 30*time.Second, 10*time.Minute)),
			MinInterval: pick(b.maker, "min interval", b.minIntervals()),

			MaxConcurrent:  pick(b.maker, "max concurrent", []*int32{nil, new(int32(1)), new(int32(2))}),
			RolloutTimeout: pick(b.maker, "rollout timeout", spans(-1, 2*time.Minute, time.Hour)),
		}
		if least := spec.Restart.MinInterval; least != nil {
			b.wait = max(b.wait, least.Duration)
		}
	}
	if b.has[selectors] {
		spec.Discovery.WorkloadSelector = pick(b.maker, "workload selector", workloadSelectors)
	}
	if b.has[sourceLabels] {
		spec.Discovery.DependencySelector = pick(b.maker, "dependency selector", dependencySelectors)
	}
	spec.Schedule.Windows = b.windows()
	return spec
}

// spans are durations as a policy holds them; a negative one stands for none.
func spans(durations ...time.Duration) []*metav1.Duration {
	out := make([]*metav1.Duration, len(durations))
	for i, d := range durations {
		if d >= 0 {
			out[i] = &metav1.Duration{Duration: d}
		}
	}
	return out
}

var workloadSelectors = []*metav1.LabelSelector{
	nil, {}, {MatchLabels: map[string]string{"app": "web"}},
	{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: labelRestart, Operator: metav1.LabelSelectorOpNotIn, Values: []string{"off"}}}},
	{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: labelRestart, Operator: metav1.LabelSelectorOpDoesNotExist}}},
}

var dependencySelectors = []*metav1.LabelSelector{
	nil, {MatchLabels: map[string]string{"tier": "app"}},
	{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"infra"}}}},
	{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists}}},
}

// span is a window with how long it is from one of its starts to the next.
type span struct {
	cron        string
	open, every time.Duration
}

const day = 24 * time.Hour

// cadence is a set of windows that go together. Allow windows open at least once a week,
// and Deny windows leave most of the time: what waits for a window comes to act within the
// time that a world may settle.
type cadence struct{ allow, deny []span }

// Windows of one world are either often or seldom there: with both it would be a story of
// days in which little happens but the edges of windows.
var (
	oftenThere = cadence{
		allow: []span{{"0 * * * *", 30 * time.Minute, time.Hour}, {"*/10 * * * *", 5 * time.Minute, time.Hour}},
		deny:  []span{{"0 * * * *", 10 * time.Minute, time.Hour}, {"5 * * * *", time.Minute, time.Hour}},
	}
	seldomThere = cadence{
		allow: []span{
			{"30 2 * * *", time.Hour, day}, {"0 2 * * *", 2 * time.Hour, day}, {"0 0 * * MON", day, 7 * day},
			{"15 1 * * SAT,SUN", 3 * time.Hour, 7 * day}, {"59 23 * * *", 2 * time.Minute, day}, {"0 22 * * 1-5", 10 * time.Hour, 3 * day},
		},
		deny: []span{
			{"30 2 * * *", time.Hour, day}, {"0 2 * * *", 3 * time.Hour, day}, {"0 0 * * *", 2 * time.Hour, day}, {"0 0 24 12 *", 72 * time.Hour, 366 * day},
			{"0 22 * * FRI", 10 * time.Hour, 7 * day},
		},
	}
	// aroundChange begin in the hours that the clocks skip or show twice.
	aroundChange = cadence{
		allow: []span{{"30 2 * * *", time.Hour, day}, {"0 2 * * *", 2 * time.Hour, day}, {"30 1 * * *", 2 * time.Hour, day}},
		deny:  []span{{"30 2 * * *", time.Hour, day}, {"0 2 * * *", 3 * time.Hour, day}, {"45 1 * * *", time.Hour, day}},
	}
	timeZones = []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"}
)

// everyHour reports whether a window has an edge each hour at least.
func everyHour(cron string) bool {
	fields := strings.Fields(cron)
	return len(fields) > 1 && fields[1] == "*"
}

// minIntervals are the least times between two restarts; one of more than a day only where
// that is no day of many windows, nor of looks of a driver.
func (b *builder) minIntervals() []*metav1.Duration {
	all := spans(-1, 0, time.Minute, time.Hour, 25*time.Hour)
	if b.windowsOften || b.driver {
		return all[:4]
	}
	return all
}

func (b *builder) cadence() cadence {
	switch {
	case b.windowsOften:
		return oftenThere
	case b.changing:
		return aroundChange
	}
	return seldomThere
}

func (b *builder) window(kind v1alpha1.WindowType, of span) v1alpha1.Window {
	w := v1alpha1.Window{Type: kind, Cron: of.cron, Duration: metav1.Duration{Duration: of.open}}
	switch {
	case b.zone != "" && (b.changing || b.maybe("the zone of the start")):
		w.TimeZone = b.zone
	case b.has[zones] || b.seldom(3, "a zone"):
		w.TimeZone = pick(b.maker, "zone", timeZones)
	}
	return w
}

// windows draws up to two Allow windows, whose first half may be denied, and up to two
// Deny windows.
func (b *builder) windows() []v1alpha1.Window {
	var out []v1alpha1.Window
	from := b.cadence()
	var wait time.Duration // until the rarest one opens, or the longest one ends
	if b.has[windows] {
		for range 1 + b.below(2, "allow windows") {
			of := pick(b.maker, "allow window", from.allow)
			wait = max(wait, of.every)
			w := b.window(v1alpha1.WindowAllow, of)
			out = append(out, w)
			if b.seldom(4, "shut as it opens") {
				w.Type, w.Duration.Duration = v1alpha1.WindowDeny, of.open/2
				out = append(out, w)
			}
		}
	}
	if b.has[denials] {
		for range 1 + b.below(2, "deny windows") {
			of := pick(b.maker, "deny window", from.deny)
			wait += of.open
			out = append(out, b.window(v1alpha1.WindowDeny, of))
		}
	}
	b.wait = max(b.wait, wait)
	return out
}
