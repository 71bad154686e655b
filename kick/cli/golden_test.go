package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
)

var update = flag.Bool("update", false, "write testdata anew")

func judged(now float64, options ...build.Option) *answer {
	s := build.Snapshot(options...)
	v := decide.Decide(s, build.At(now))
	out := &answer{Kind: "Deployment", Namespace: "shop", Name: "web", Managed: true, Policies: []string{"all"}}
	out.fill(s, &v)
	return out
}

func waiting(change ...func(*model.Policy)) *answer {
	options := []build.Option{build.Change("B", 0), build.Request(request.WaitingForGate, func(r *model.Request) { r.Status.OpenedAt = build.At(0.3) })}
	for _, c := range change {
		options = append(options, build.With(c))
	}
	return judged(30, options...)
}

func suspended(p *model.Policy) { p.Suspended = true }

// pages are what commands print, without a cluster.
func pages() map[string]func(*session) error {
	nightly := &v1alpha1.KickPolicy{}
	nightly.Spec.Schedule.Windows = []v1alpha1.Window{{Type: v1alpha1.WindowAllow, Cron: "0 2 * * *", Duration: metav1.Duration{Duration: time.Hour}, TimeZone: "Europe/Berlin"}}
	plan := planned{Policy: "all", Namespace: "shop", Workloads: 4}
	for _, got := range []*answer{waiting(), waiting(suspended), judged(30)} {
		plan.sort(got, "all")
	}
	plan.sort(&answer{Kind: "StatefulSet", Name: "store"}, "all")
	findings := []finding{{What: "CRD kickpolicies", OK: true, Says: "served"}, {What: "leader", Says: "nobody leads"}, {What: "Argo CD", Note: true, Says: "not installed"}}
	return map[string]func(*session) error{
		"why-waiting": func(s *session) error { return s.printAnswer(waiting(suspended)) },
		"why-stale":   func(s *session) error { return s.printAnswer(waiting()) },
		"why-fresh":   func(s *session) error { return s.printAnswer(judged(30)) },
		"why-unmanaged": func(s *session) error {
			return s.printAnswer(&answer{Kind: "Deployment", Namespace: "shop", Name: "web", Reason: "NotManaged", Message: "Namespace shop has no KickPolicy, so KICK leaves it alone."})
		},
		"why-asked": func(s *session) error {
			got := waiting(suspended)
			got.Asked, got.Queued = "the license\nserver was renewed", []string{"deployment-web-x7: and moved\x1b[2J"}
			return s.printAnswer(got)
		},
		"why-json":     func(s *session) error { s.output = "json"; _, err := s.structured(waiting(suspended)); return err },
		"why-colour":   func(s *session) error { s.Color = true; return s.printAnswer(judged(30)) },
		"plan":         func(s *session) error { return s.printPlan(&plan) },
		"windows":      func(s *session) error { return s.printWindows(nightly, 3) },
		"windows-yaml": func(s *session) error { s.output = "yaml"; return s.printWindows(nightly, 1) },
		"check":        func(s *session) error { return s.printFindings(findings) },
	}
}

// Proves: KICK-FEAT-038.
func TestPages(t *testing.T) {
	for name, print := range pages() {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			s := &session{app: &app{Program: Program{Stdout: &out, Stderr: &out}}, ctx: context.Background(), now: build.At(0)}
			if err := print(s); err != nil && name != "check" {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("read it, then run with -update (-want +got):\n%s", diff)
			}
		})
	}
}

// Without a terminal nothing is coloured, and colour never says what words do not.
func TestColourIsNoMeaning(t *testing.T) {
	plain, err := os.ReadFile("testdata/why-fresh.golden")
	if err != nil {
		t.Fatal(err)
	}
	coloured, err := os.ReadFile("testdata/why-colour.golden")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(plain), "\x1b") {
		t.Error("plain output is coloured")
	}
	strip := strings.NewReplacer("\x1b[32m", "", "\x1b[33m", "", "\x1b[31m", "", "\x1b[0m", "")
	if got := strip.Replace(string(coloured)); got != string(plain) {
		t.Errorf("without its colours it says another thing (-plain +coloured):\n%s", cmp.Diff(string(plain), got))
	}
}

func TestReportLeavesOut(t *testing.T) {
	secret := "s3cret"
	b := &bundle{
		Records: []v1alpha1.SourceObservation{{Spec: v1alpha1.SourceObservationSpec{
			KeyNames: []string{secret}, History: []v1alpha1.ObservedContent{{Fingerprint: secret}},
		}}},
		Notifications: []v1alpha1.NotificationPolicy{{Spec: v1alpha1.NotificationPolicySpec{Webhook: v1alpha1.Webhook{
			URL: "https://hooks.example.com/" + secret, Headers: []v1alpha1.Header{{Name: "X-Key", Value: &secret}},
		}}}},
		Policies: []v1alpha1.KickPolicy{{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": secret}}}},
	}
	b.redact()
	var out bytes.Buffer
	a := &app{Program: Program{Stdout: &out}, output: "json"}
	if _, err := a.structured(b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), secret) || strings.Count(out.String(), redacted) != 4 {
		t.Errorf("the report is\n%s", out.String())
	}
}

// TestAnIdlePolicySaysSo: windows that open are no promise under a policy that restarts
// nothing. The note is for people: data on standard output stays data.
//
// Proves: KICK-FEAT-038.
func TestAnIdlePolicySaysSo(t *testing.T) {
	const suspended, dry = "note: KickPolicy shop/all is suspended", "note: KickPolicy shop/all has spec.dryRun"
	tests := map[string]struct {
		spec map[string]any
		want []string
	}{
		"in force":  {map[string]any{}, nil},
		"suspended": {map[string]any{"suspend": true}, []string{suspended}},
		"dry run":   {map[string]any{"dryRun": true}, []string{dry}},
		"both":      {map[string]any{"suspend": true, "dryRun": true}, []string{suspended, dry}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStub(false)
			s.answers[ours("kickpolicies")] = listOf(v1alpha1.GroupVersion.String(), "KickPolicyList", map[string]any{
				"metadata": map[string]any{"name": "all", "namespace": "shop"}, "spec": tt.spec,
			})
			got := s.kick(t, "", "windows", "policy/all", "-o", "json")
			if got.code != exitOK || !json.Valid([]byte(got.stdout)) || strings.Count(got.stderr, "note:") != len(tt.want) {
				t.Errorf("exit code %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
			}
			for _, part := range tt.want {
				if !strings.Contains(got.stderr, part) {
					t.Errorf("it does not say %q: %s", part, got.stderr)
				}
			}
		})
	}
}

// TestPlanTellsOfADryRun: what only dryRun keeps from being restarted is named.
func TestPlanTellsOfADryRun(t *testing.T) {
	var out bytes.Buffer
	s := &session{app: &app{Program: Program{Stdout: &out}}}
	plan := planned{Policy: "all", Namespace: "shop", Workloads: 1}
	plan.sort(judged(30, build.Change("B", 0), build.With(func(p *model.Policy) { p.DryRun = true })), "all")
	if err := s.printPlan(&plan); err != nil {
		t.Fatal(err)
	}
	if want := "Deployment/web  DryRun: Would restart now; KickPolicy shop/all has spec.dryRun."; !strings.Contains(out.String(), want) {
		t.Errorf("the plan does not say %q:\n%s", want, out.String())
	}
}

// TestAFailureThatGotThere: a rollout that was given up and came to its end is told of, and is
// nothing outstanding; one that did not, or whose pods do not serve, stays a failure.
//
// Proves: KICK-FEAT-038.
func TestAFailureThatGotThere(t *testing.T) {
	failed := build.Request(request.Failed, func(r *model.Request) {
		r.Status.LatestChange, r.Status.CompletedAt, r.Status.RolloutStart = build.At(0.25), build.At(20), build.At(1)
		r.Status.Reason, r.Status.Message = request.ProgressDeadlineExceeded, "It was given up."
	})
	fresh := build.Pod("web-1-a", 5)
	tests := map[string]struct {
		given []build.Option
		want  bool // outstanding
	}{
		"it got there":          {[]build.Option{fresh}, false},
		"a pod is stale":        {nil, true},
		"it rolls still":        {[]build.Option{fresh, build.Rollout(build.Rolling)}, true},
		"its pods do not serve": {[]build.Option{fresh, build.Rollout(func(r *model.Rollout) { r.Complete = false })}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			s := &session{app: &app{Program: Program{Stdout: &out}}}
			got := judged(30, append([]build.Option{build.Change("B", 0), failed}, tt.given...)...)
			if err := s.printAnswer(got); err != nil {
				t.Fatal(err)
			}
			if err := s.printLine(model.Key{Kind: "Deployment", Namespace: "shop", Name: "web"}, got); err != nil {
				t.Fatal(err)
			}
			told := strings.Count(out.String(), "By now the rollout is complete, and nothing is outstanding: Every pod read its sources")
			if got.Phase != "Failed" || got.outstanding() != tt.want || (told == 2) == tt.want || told == 1 {
				t.Errorf("%s, outstanding %v, want %v:\n%s", got.Phase, got.outstanding(), tt.want, out.String())
			}
		})
	}
}
