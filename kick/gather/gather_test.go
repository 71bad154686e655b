package gather

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/discover"
)

func second(s float64) metav1.Time { return metav1.NewTime(build.At(s)) }

func microSecond(s float64) *metav1.MicroTime {
	t := metav1.NewMicroTime(build.At(s))
	return &t
}

// asked is a request made at a second, in a phase.
func asked(name string, created float64, phase v1alpha1.Phase, options ...func(*v1alpha1.KickRequest)) v1alpha1.KickRequest {
	r := v1alpha1.KickRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, CreationTimestamp: second(created)},
		Spec: v1alpha1.KickRequestSpec{
			TargetRef: v1alpha1.TargetReference{Kind: "Deployment", Name: "web"}, Trigger: v1alpha1.TriggerDependency,
		},
		Status: v1alpha1.KickRequestStatus{Phase: phase},
	}
	for _, option := range options {
		option(&r)
	}
	return r
}

// byHand makes it a person's, for a change of one second, having answered that of another.
func byHand(changed, answered float64) func(*v1alpha1.KickRequest) {
	return func(r *v1alpha1.KickRequest) {
		r.Spec.Trigger, r.Spec.ChangedAt = v1alpha1.TriggerManual, microSecond(changed)
		r.Status.LatestObservedDependencyChange = microSecond(answered)
	}
}

func TestWhichRequestIsServed(t *testing.T) {
	const own = "deployment-web"
	deleting := func(r *v1alpha1.KickRequest) { at := second(0); r.DeletionTimestamp = &at }
	tests := map[string]struct {
		given []v1alpha1.KickRequest
		want  string
	}{
		"none":                                     {nil, ""},
		"the only one":                             {[]v1alpha1.KickRequest{asked(own, 0, "")}, own},
		"the oldest unfinished":                    {[]v1alpha1.KickRequest{asked("b", 5, ""), asked("a", 9, ""), asked(own, 7, "Executing")}, "b"},
		"equally old: by name":                     {[]v1alpha1.KickRequest{asked("b", 5, ""), asked("a", 5, "")}, "a"},
		"unfinished before kick's own":             {[]v1alpha1.KickRequest{asked(own, 0, "Succeeded"), asked("a", 9, "WaitingForGate")}, "a"},
		"all finished: kick's own":                 {[]v1alpha1.KickRequest{asked("a", 9, "Succeeded"), asked(own, 0, "Failed"), asked("b", 20, "Succeeded")}, own},
		"all finished, none of kick: the newest":   {[]v1alpha1.KickRequest{asked("b", 20, "Succeeded"), asked("a", 9, "Succeeded")}, "b"},
		"unfinished but being deleted":             {[]v1alpha1.KickRequest{asked(own, 0, "Succeeded"), asked("a", 1, "", deleting)}, own},
		"finished, its time was moved on":          {[]v1alpha1.KickRequest{asked(own, 0, "Succeeded"), asked("a", 1, "Succeeded", byHand(40, 1))}, "a"},
		"finished, its time was moved too far on":  {[]v1alpha1.KickRequest{asked(own, 0, "Succeeded"), asked("a", 1, "Succeeded", byHand(4000, 1))}, own},
		"finished, its time has been answered yet": {[]v1alpha1.KickRequest{asked(own, 0, "Succeeded"), asked("a", 1, "Succeeded", byHand(40, 40))}, own},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if r := choose(tt.given, own, build.At(60)); r != nil {
				got = r.ID.Name
			}
			if got != tt.want {
				t.Errorf("choose() = %q, want %q", got, tt.want)
			}
		})
	}
}

// The one that ended last is told of, whoever made it and however it ended.
func TestWhichRequestEndedLast(t *testing.T) {
	const own = "deployment-web"
	ended := func(at float64) func(*v1alpha1.KickRequest) {
		return func(r *v1alpha1.KickRequest) { r.Status.CompletedAt = microSecond(at) }
	}
	tests := map[string]struct {
		given []v1alpha1.KickRequest
		want  string
	}{
		"none":                       {nil, ""},
		"none has ended":             {[]v1alpha1.KickRequest{asked(own, 0, "Executing"), asked("a", 1, "")}, ""},
		"a person's, made later":     {[]v1alpha1.KickRequest{asked(own, 0, "Succeeded", ended(5)), asked("a", 9, "Failed", ended(30))}, "a"},
		"kick's own, made earlier":   {[]v1alpha1.KickRequest{asked(own, 0, "Failed", ended(50)), asked("a", 9, "Succeeded", ended(30))}, own},
		"one is open, and not meant": {[]v1alpha1.KickRequest{asked(own, 0, "Failed", ended(5)), asked("a", 9, "Executing")}, own},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if r := lastEnded(tt.given); r != nil {
				got = r.ID.Name
			}
			if got != tt.want {
				t.Errorf("lastEnded() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPodInPlainValues(t *testing.T) {
	deleted := second(90)
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: second(20)}}
	crashed := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: second(1), FinishedAt: second(19)}}
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	accepted := second(2)
	tests := map[string]struct {
		pod  corev1.Pod
		want model.Pod
	}{
		"no status yet": {
			pod: corev1.Pod{}, want: model.Pod{Pending: true},
		},
		"pending, seen by the kubelet": {
			pod: corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending, StartTime: &accepted}}, want: model.Pod{Pending: true, Accepted: build.At(2)},
		},
		"running": {
			pod: corev1.Pod{Status: corev1.PodStatus{
				Phase:             corev1.PodRunning,
				Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: second(30)}},
				ContainerStatuses: []corev1.ContainerStatus{{Name: "app", State: running}},
			}},
			want: model.Pod{Running: true, ReadySince: build.At(30), Containers: []model.Container{{Name: "app", StartedAt: build.At(20)}}},
		},
		"not ready": {
			pod: corev1.Pod{Status: corev1.PodStatus{
				Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: second(30)}},
			}},
			want: model.Pod{Running: true},
		},
		"restarted in place, init containers first": {
			pod: corev1.Pod{Status: corev1.PodStatus{
				Phase:                 corev1.PodRunning,
				InitContainerStatuses: []corev1.ContainerStatus{{Name: "init", State: crashed}},
				ContainerStatuses:     []corev1.ContainerStatus{{Name: "app", RestartCount: 2, State: running, LastTerminationState: crashed}},
			}},
			want: model.Pod{Running: true, Containers: []model.Container{
				{Name: "init", StartedAt: build.At(1)}, {Name: "app", Restarted: true, StartedAt: build.At(20), FinishedAt: build.At(19)},
			}},
		},
		"waiting to be restarted": {
			pod: corev1.Pod{Status: corev1.PodStatus{
				Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "app", RestartCount: 1, State: waiting, LastTerminationState: crashed}},
			}},
			want: model.Pod{Running: true, Containers: []model.Container{{Name: "app", Restarted: true, FinishedAt: build.At(19)}}},
		},
		"terminating": {
			pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &deleted}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}, want: model.Pod{},
		},
		"finished": {pod: corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}, want: model.Pod{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.pod.Name, tt.pod.CreationTimestamp = "web-1-a", second(0)
			tt.want.Name, tt.want.Created, tt.want.Revision, tt.want.Ordinal = "web-1-a", build.At(0), "web-1", -1
			if tt.want.Containers == nil {
				tt.want.Containers = []model.Container{}
			}
			if diff := cmp.Diff(tt.want, pod(&tt.pod, "web-1")); diff != "" {
				t.Errorf("pod() (-want +got):\n%s", diff)
			}
		})
	}
}

// listing is a reader that knows policies only.
type listing struct {
	client.Reader
	policies []v1alpha1.KickPolicy
}

func (l listing) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*v1alpha1.KickPolicyList).Items = l.policies
	return nil
}

// Proves: KICK-FEAT-016.
func TestPoliciesThatSelectAWorkload(t *testing.T) {
	policy := func(name string, workload, dependency *metav1.LabelSelector) v1alpha1.KickPolicy {
		p := v1alpha1.KickPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		p.Spec.Discovery.WorkloadSelector, p.Spec.Discovery.DependencySelector = workload, dependency
		return p
	}
	match := func(k, v string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{k: v}}
	}
	broken := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
	w := &model.Workload{ID: build.Web, Labels: map[string]string{"tier": "shop"}}
	l := listing{policies: []v1alpha1.KickPolicy{
		policy("z", match("tier", "shop"), nil), policy("other", match("tier", "bank"), nil), policy("everything", nil, match("reload", "yes")),
		policy("empty", &metav1.LabelSelector{}, broken), policy("broken", broken, nil),
	}}
	got, scopes, err := policies(t.Context(), l, w)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range got {
		names = append(names, p.ID.Name)
	}
	if diff := cmp.Diff([]string{"empty", "everything", "z"}, names); diff != "" {
		t.Fatalf("policies by name (-want +got):\n%s", diff)
	}
	if got[0].Invalid == "" || got[1].Invalid != "" {
		t.Errorf("invalid: %q, %q, want the broken dependencySelector named", got[0].Invalid, got[1].Invalid)
	}
	labelled, other := labels.Set{"reload": "yes"}, labels.Set{}
	if scopes[0].Matches(labelled) || !scopes[1].Matches(labelled) || scopes[1].Matches(other) || !scopes[2].Matches(other) {
		t.Error("scopes do not follow their selectors")
	}
}

// Proves: KICK-FEAT-021.
func TestPolicyDefaultsAndErrors(t *testing.T) {
	zero := metav1.Duration{}
	p := &v1alpha1.KickPolicy{}
	if got := Policy(p); got.SettleDelay != time.Second || got.MinInterval != 30*time.Second || got.Invalid != "" || !got.Schedule.At(build.At(0)).Open {
		t.Errorf("Policy() = %+v, want the defaults and an open schedule", got)
	}
	p.Spec.Restart.SettleDelay, p.Spec.Restart.MinInterval = &zero, &zero
	if got := Policy(p); got.SettleDelay != 0 || got.MinInterval != 0 {
		t.Errorf("settle %v, interval %v, want both 0 as asked for", got.SettleDelay, got.MinInterval)
	}
	p.Spec.Schedule.Windows = []v1alpha1.Window{{Type: v1alpha1.WindowAllow, Cron: "nonsense", Duration: metav1.Duration{Duration: time.Hour}}}
	if got := Policy(p); got.Invalid == "" || got.Schedule.At(build.At(0)).Open {
		t.Errorf("Policy() = %+v, want a schedule that cannot be read to be named and shut", got)
	}
}

func TestNow(t *testing.T) {
	zone := time.FixedZone("x", 3600)
	got := Now(stopped(build.At(0).Add(1234567 * time.Nanosecond).In(zone)))
	if want := build.At(0.001234); !got.Equal(want) || got.Location() != time.UTC {
		t.Errorf("Now() = %v, want %v", got, want)
	}
}

type stopped time.Time

func (s stopped) Now() time.Time { return time.Time(s) }

func TestLabelsOfASourceThatIsGone(t *testing.T) {
	r := &model.Record{Labels: map[string]string{"reload": "yes"}}
	if got := labelsOf(model.Source{}, r)["reload"]; got != "yes" {
		t.Error("a source that is gone lost its labels, and with them its scope")
	}
	if got := labelsOf(model.Source{Present: true}, r)["reload"]; got != "" {
		t.Error("a source that is there has the labels of its record")
	}
	if got := labelsOf(model.Source{}, nil); len(got) != 0 {
		t.Errorf("labels = %v, want none", got)
	}
}

func TestWhenTheCacheIsDoubted(t *testing.T) {
	id := model.Key{Kind: discover.KindSecret, Namespace: "shop", Name: "db"}
	record := func(version, seal string) *model.Record {
		return &model.Record{ID: id, SourceVersion: version, History: []model.Content{{Seal: seal}}}
	}
	source := func(version string) model.Source {
		return model.Source{ID: id, Present: version != "", ResourceVersion: version}
	}
	tests := map[string]struct {
		look SourceLook
		want bool
	}{
		"no record":               {SourceLook{Source: source("10")}, false},
		"same version":            {SourceLook{Source: source("10"), Record: record("10", "A")}, false},
		"newer than the record":   {SourceLook{Source: source("100"), Record: record("99", "A")}, false},
		"older than the record":   {SourceLook{Source: source("99"), Record: record("100", "A")}, true},
		"not comparable":          {SourceLook{Source: source("x"), Record: record("100", "A")}, true},
		"gone from the cache":     {SourceLook{Source: source(""), Record: record("100", "A")}, true},
		"gone, and known as gone": {SourceLook{Source: source(""), Record: record("", "absent")}, false},
		"back":                    {SourceLook{Source: source("100"), Record: record("", "absent")}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.look.Managed, tt.look.Consumers = true, []model.Key{build.Web}
			if got := doubtful(&tt.look); got != tt.want {
				t.Errorf("doubtful() = %v, want %v", got, tt.want)
			}
		})
	}
	unwanted := SourceLook{Source: source("99"), Record: record("100", "A")}
	if doubtful(&unwanted) {
		t.Error("a source nobody wants is read live")
	}
}

// Which request is served may change when a date comes, and no event tells of that.
func TestNextTurn(t *testing.T) {
	tests := map[string]struct {
		given []v1alpha1.KickRequest
		want  time.Time
	}{
		"none":                {nil, time.Time{}},
		"no date":             {[]v1alpha1.KickRequest{asked("a", 0, "")}, time.Time{}},
		"a date that is past": {[]v1alpha1.KickRequest{asked("a", 0, "", byHand(59, 0))}, time.Time{}},
		"the next of two, the one that asks again after its end": {
			[]v1alpha1.KickRequest{asked("a", 0, "", byHand(500, 0)), asked("b", 1, ""), asked("c", 2, "Succeeded", byHand(100, 0))}, build.At(100),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := nextTurn(tt.given, build.At(60)); !got.Equal(tt.want) {
				t.Errorf("nextTurn() = %v, want %v", got, tt.want)
			}
		})
	}
}
