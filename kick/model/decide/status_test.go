package decide_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
)

func TestTheTrailTellsTheWholeStory(t *testing.T) {
	v := decide.Decide(blocked(build.With(shutFor(time.Hour)), build.Pod("web-1-a", 5)), build.At(soon))
	want := []string{"target", "policy", "asked", "windows", "provider", "rollout", "freshness", "strategy", "settling", "flapping", "mirrors", "sources", "dry-run", "interval", "concurrency", "act"}
	var got []string
	outcomes := map[string]decide.Outcome{}
	for _, s := range v.Trail {
		got = append(got, s.Rule)
		outcomes[s.Rule] = s.Outcome
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if outcomes["windows"] != decide.Wait || outcomes["freshness"] != decide.End {
		t.Errorf("outcomes = %v, want the shut window and the fresh pods both told", outcomes)
	}
}

func TestStatusOfTheFirstPass(t *testing.T) {
	v := decide.Decide(blocked(build.Request(""), build.With(func(p *model.Policy) { p.Suspended = true })), build.At(soon))
	got := v.Status
	if got.OpenedAt.After(build.At(0)) || got.OpenedAt.Before(build.At(0).Add(-build.Allowance)) {
		t.Errorf("OpenedAt = %v, want the creation, at most the allowance earlier", got.OpenedAt)
	}
	if !got.LatestChange.Equal(build.At(0.25)) || !got.CompletedAt.IsZero() {
		t.Errorf("status = %+v, want the change of %v and no completion", got, build.At(0.25))
	}
	if diff := cmp.Diff([]model.Cause{{Source: build.DB, ChangedAt: build.At(0.25)}}, got.Causes); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
}

func TestCauses(t *testing.T) {
	flags := func(n int) build.Option { // ConfigMaps a, b, c, ... that changed at 0, 1, 2, ...
		return func(s *model.Snapshot) {
			for i := range n {
				id := model.Key{Kind: "ConfigMap", Namespace: "shop", Name: string(rune('a' + i))}
				build.Reads(id, build.Env())(s)
				r := s.Dependencies[len(s.Dependencies)-1].Record
				r.History = append(r.History, build.Content("B", float64(i)))
			}
		}
	}
	tests := map[string]struct {
		given []build.Option
		want  string // initials, newest first
	}{
		"those since the last restart":    {[]build.Option{flags(4), lastRestart(1.5)}, "dc"},
		"none since: the newest":          {[]build.Option{flags(4), lastRestart(50)}, "d"},
		"equally old: by name":            {[]build.Option{flags(1), lastRestart(0.1)}, "ad"},
		"at most sixteen":                 {[]build.Option{flags(20), lastRestart(0.3)}, "tsrqponmlkjihgfe"},
		"executing: those it answers":     {[]build.Option{flags(2), build.Request(request.Executing, driving, answering("z"))}, "z"},
		"waiting: told anew":              {[]build.Option{flags(2), build.With(func(p *model.Policy) { p.Suspended = true }), build.Request(request.Pending, answering("z"))}, "bad"},
		"failed: those it answered":       {[]build.Option{flags(2), build.Stamped("kick", 1), build.Request(request.Executing, driving, answering("z")), build.Rollout(func(r *model.Rollout) { r.DeadlineExceeded = true })}, "z"},
		"executing, none known: as above": {[]build.Option{flags(4), build.Stamped("kick", 1), build.Request(request.Executing, driving)}, "dcb"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := blocked(tt.given...)
			s.Workload.Rollout.Rolling, s.Workload.Rollout.Complete = true, false
			got := ""
			for _, c := range decide.Decide(s, build.At(soon)).Status.Causes {
				got += c.Source.Name[:1]
			}
			if got != tt.want {
				t.Errorf("causes = %q, want %q", got, tt.want)
			}
		})
	}
}

func answering(name string) func(*model.Request) {
	return func(r *model.Request) {
		r.Status.Causes = []model.Cause{{Source: model.Key{Kind: "Secret", Namespace: "shop", Name: name}, ChangedAt: build.At(0)}}
	}
}

// The status names the revision of a restart that ended, and of no other.
func TestTheRevisionIsNamedAtTheEndOfARestart(t *testing.T) {
	tests := map[string]struct {
		given *model.Snapshot
		want  string
	}{
		"ended":                   {executing(), "web-2"},
		"still rolling":           {executing(build.Rollout(build.Rolling)), ""},
		"nothing had to be done":  {blocked(build.Pod("web-1-a", 5)), ""},
		"ended, nothing is known": {executing(func(s *model.Snapshot) { s.Revisions = nil }), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := decide.Decide(tt.given, build.At(soon)).Status.RolloutRev; got != tt.want {
				t.Errorf("RolloutRev = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestEveryWaitHasAWakeUp(t *testing.T) {
	tests := map[string]struct {
		verdict decide.Verdict
		want    bool
	}{
		"waits for nothing":       {decide.Verdict{Phase: request.WaitingForGate}, false},
		"watches nothing":         {decide.Verdict{Phase: request.Executing}, false},
		"waits for a time":        {decide.Verdict{Phase: request.WaitingForGate, WakeAt: build.At(1)}, true},
		"watches until a time":    {decide.Verdict{Phase: request.Executing, WakeAt: build.At(1)}, true},
		"waits for an event":      {decide.Verdict{Phase: request.WaitingForGate, WakeOn: []model.WakeOn{model.WakeOnPolicy}}, true},
		"is over":                 {decide.Verdict{Phase: request.Succeeded}, true},
		"there is nothing to say": {decide.Verdict{}, true},
	}
	for name, tt := range tests {
		if got := tt.verdict.Valid(); got != tt.want {
			t.Errorf("%s: Valid() = %v, want %v", name, got, tt.want)
		}
	}
}

func TestRefused(t *testing.T) {
	s := blocked()
	v := decide.Refused(s, build.At(soon), "admission webhook says no")
	if v.Phase != request.WaitingForGate || v.Decisive.Reason != request.PatchRejected || v.Action != decide.Status || !v.Valid() {
		t.Errorf("Refused() = %+v", v)
	}
	if v.Decisive.Detail != "admission webhook says no" {
		t.Errorf("detail = %q, want the server's words", v.Decisive.Detail)
	}
}
