package explain_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corewire/kick/kick/explain"
	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
)

var update = flag.Bool("update", false, "write testdata/sentences.golden anew")

const golden = "testdata/sentences.golden"

// reasons are all reasons in the order in which the package declares them.
var reasons = []request.Reason{
	request.Allowed, request.OutsideSchedule, request.ConfigurationError, request.PolicySuspended, request.PolicyConflict,
	request.ProviderUnavailable, request.Settling, request.SourceMissing, request.RateLimited, request.NotYet,
	request.OwnerUnknown, request.AmbiguousOwner, request.OwnerOutOfSync, request.OwnerReconciling, request.ProjectUnknown,
	request.RolloutInProgress, request.Paused, request.OnDelete, request.Partitioned, request.PodsNotStarted,
	request.Opened, request.Restarting, request.RestartCompleted, request.Fresh, request.NotRunning, request.NoLongerManaged,
	request.DryRunOnly, request.RolloutTimeout, request.ProgressDeadlineExceeded, request.Reverted, request.TargetNotFound, request.PatchRejected,
	request.ConcurrencyLimited,
	request.MirrorPending, request.ClassFlapping, request.RunByRollout, request.UpdateInProgress, request.RolloutAborted, request.RolloutInvalid,
	request.RestartScheduled, request.RestartDropped, request.UnreadyPods, request.EvictionRefused,
}

// objects are what a step of a reason is about, where that is not the source.
var objects = map[request.Reason]model.Key{
	request.ConfigurationError: build.Policy, request.PolicySuspended: build.Policy, request.PolicyConflict: build.Policy,
	request.ConcurrencyLimited: build.Policy, request.OutsideSchedule: build.Policy, request.RateLimited: build.Policy, request.DryRunOnly: build.Policy,
	request.RolloutInProgress: build.Web, request.Paused: build.Web, request.OnDelete: build.Web, request.Partitioned: build.Web,
	request.Restarting: build.Web, request.RestartCompleted: build.Web, request.NoLongerManaged: build.Web, request.RolloutTimeout: build.Web,
	request.ProgressDeadlineExceeded: build.Web, request.Reverted: build.Web, request.TargetNotFound: build.Web, request.PatchRejected: build.Web,
	request.RunByRollout: build.Web, request.UpdateInProgress: build.Web, request.RolloutAborted: build.Web, request.RolloutInvalid: build.Web,
	request.RestartScheduled: build.Web, request.RestartDropped: build.Web, request.UnreadyPods: build.Web, request.EvictionRefused: build.Web,
	request.ClassFlapping: {Kind: "SecretProviderClass", Namespace: "shop", Name: "vault"}, request.MirrorPending: {Kind: "SecretProviderClass", Namespace: "shop", Name: "vault"},
	request.NotYet: {Kind: "KickRequest", Namespace: "shop", Name: "mine"},
}

// step is a step with every fact filled in.
func step(reason request.Reason, changes ...func(*decide.Step)) *decide.Step {
	s := &decide.Step{
		Rule: "rule", Outcome: decide.Wait, Reason: reason, Object: build.DB, At: build.At(0.25), Pod: "web-1-a", Since: build.At(build.Born),
		Until: build.At(60), Limit: 3, Setting: "the setting", Detail: "some detail",
	}
	if about, ok := objects[reason]; ok {
		s.Object = about
	}
	for _, change := range changes {
		change(s)
	}
	return s
}

func plain(s *decide.Step)       { s.Detail = "" }
func unprovenPod(s *decide.Step) { s.Pod = "" }
func noTime(s *decide.Step)      { s.Until = time.Time{} }
func unchanged(s *decide.Step)   { s.At = time.Time{} }
func acting(s *decide.Step)      { s.Outcome, s.Object = decide.Act, build.DB }
func passing(s *decide.Step)     { s.Outcome = decide.Pass }
func freshnessRule(s *decide.Step) {
	s.Rule, s.Outcome = "freshness", decide.Pass
}

func providerRule(s *decide.Step) { s.Rule, s.Object = "provider", model.Key{} }

func taken(by string) func(*decide.Step) {
	return func(s *decide.Step) { s.Taken, s.Manager = true, by }
}

func variants() map[string]*decide.Step {
	all := map[string]*decide.Step{
		"40 OutsideSchedule for good":        step(request.OutsideSchedule, noTime),
		"40 OutsideSchedule, sync windows":   step(request.OutsideSchedule, providerRule),
		"40 ConfigurationError, provider":    step(request.ConfigurationError, providerRule),
		"41 SourceMissing, the whole source": step(request.SourceMissing, plain),
		"41 Settling, not on record":         step(request.Settling, noTime),
		"42 Restarting, about to":            step(request.Restarting, acting),
		"43 Restarting, seen live":           step(request.Restarting, acting, unprovenPod),
		"44 Restarting, taken over":          step(request.Restarting, taken("kubectl-rollout")),
		"45 Restarting, stamp removed":       step(request.Restarting, taken("")),
		"45 Restarting, by kick again":       step(request.Restarting, taken("kick")),
		"46 RestartCompleted, taken over":    step(request.RestartCompleted, taken("kubectl-rollout")),
		"47 Reverted, taken over":            step(request.Reverted, taken("argocd-controller")),
		"48 Fresh, nothing on record":        step(request.Fresh, unchanged),
		"49 DryRun, seen live":               step(request.DryRunOnly, unprovenPod),
		"50 RolloutTimeout, plain":           step(request.RolloutTimeout, plain),
		"50 ConcurrencyLimited, globally":    step(request.ConcurrencyLimited, func(s *decide.Step) { s.Object = model.Key{} }),
		"51 stale":                           step("", freshnessRule),
		"52 stale, seen live":                step("", freshnessRule, unprovenPod),
		"53 passed":                          step("", passing),
		"54 passed, plain":                   step("", passing, plain),
	}
	for i, r := range reasons {
		all[fmt.Sprintf("%02d %s", i, r)] = step(r)
	}
	return all
}

// TestEveryReasonIsTried: no reason is left out of the sentences that are looked at.
func TestEveryReasonIsTried(t *testing.T) {
	file, err := os.ReadFile("../model/request/reason.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\t\w+ +Reason = "(\w+)"`).FindAllStringSubmatch(string(file), -1) {
		if !slices.Contains(reasons, request.Reason(m[1])) {
			t.Errorf("no sentence of reason %s is looked at", m[1])
		}
	}
}

func sentences() string {
	all := variants()
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s\n    %s\n", name, explain.Step(all[name]))
	}
	return b.String()
}

func TestSentences(t *testing.T) {
	got := sentences()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("sentences changed; read them, then run with -update (-want +got):\n%s", diff)
	}
}

// relative is a time that is counted from now: the same state would read
// differently in each pass and be written each time.
var relative = regexp.MustCompile(`(?i)\bago\b|\bin \d|\bfor (another )?\d|\d+(ms|s|m|h)\b`)

func TestEverySentence(t *testing.T) {
	for name, s := range variants() {
		t.Run(name, func(t *testing.T) {
			got := explain.Step(s)
			switch {
			case got == "" || !strings.HasSuffix(got, ".") || strings.HasSuffix(got, ".."):
				t.Errorf("%q is no sentence", got)
			case relative.MatchString(got):
				t.Errorf("%q holds a time counted from now", got)
			case strings.Contains(got, "  ") || strings.Contains(got, "%!"):
				t.Errorf("%q is badly put together", got)
			}
		})
	}
}

func TestNoSentenceWithoutAStep(t *testing.T) {
	if got := explain.Step(nil); got != "" {
		t.Errorf("Step(nil) = %q, want nothing", got)
	}
}

func TestTime(t *testing.T) {
	zone := time.FixedZone("x", 2*3600)
	tests := map[string]struct {
		given time.Time
		want  string
	}{
		"whole second": {build.At(0), "2026-03-01 12:00:00Z"},
		"fraction":     {build.At(0.25), "2026-03-01 12:00:00.25Z"},
		"microseconds": {build.At(0.000001), "2026-03-01 12:00:00.000001Z"},
		"another zone": {build.At(0).In(zone), "2026-03-01 12:00:00Z"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := explain.Time(tt.given); got != tt.want {
				t.Errorf("Time() = %q, want %q", got, tt.want)
			}
		})
	}
}
