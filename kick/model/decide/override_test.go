package decide_test

import (
	"strings"
	"testing"
	"time"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/request"
)

var outOfSync = gitops.Closed(request.OwnerOutOfSync, "Application argocd/shop: status.sync.status is OutOfSync", gitops.WakeOnOwner)

func override(until float64) func(*model.Request) {
	return func(r *model.Request) { r.Override = model.Override{Until: build.At(until), Reason: "CHG-17"} }
}

func waiting(options ...func(*model.Request)) build.Option {
	return build.Request(request.WaitingForApplicationSync, options...)
}

// TestOverride: it goes on record first and opens the gate then, up to its end.
//
// Proves: KICK-FEAT-008.
func TestOverride(t *testing.T) {
	recorded := func(r *model.Request) { r.Status.Overridden, r.Status.OverriddenAt = "on record", build.At(20) }
	tests := map[string]struct {
		request []func(*model.Request)
		now     float64
		action  decide.Action
		says    string // of status.Overridden; empty: nothing is on record
	}{
		"none":               {nil, 30, decide.Status, ""},
		"not on record yet":  {[]func(*model.Request){override(60)}, 30, decide.Status, "CHG-17"},
		"on record":          {[]func(*model.Request){override(60), recorded}, 30, decide.Stamp, "on record"},
		"at its end":         {[]func(*model.Request){override(60), recorded}, 60, decide.Status, ""},
		"one that had ended": {[]func(*model.Request){override(10)}, 30, decide.Status, ""},
		"taken away again":   {[]func(*model.Request){recorded}, 30, decide.Status, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := build.Snapshot(build.Change("b", 10), gate(outOfSync), waiting(tt.request...))
			v := decide.Decide(s, build.At(tt.now))
			if v.Action != tt.action || !v.Valid() {
				t.Fatalf("%s, want %s", v.Action, tt.action)
			}
			got := v.Status.Overridden
			if (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
				t.Errorf("on record: %q, want %q", got, tt.says)
			}
			if name == "not on record yet" && (!strings.Contains(got, "OwnerOutOfSync: Application argocd/shop") || strings.Contains(got, "looks again") || !v.Status.OverriddenAt.Equal(build.At(30))) {
				t.Errorf("on record: %q at %v", got, v.Status.OverriddenAt)
			}
		})
	}
}

// TestOverridePassesTheToolAlone: the policy's own windows stay shut.
func TestOverridePassesTheToolAlone(t *testing.T) {
	s := build.Snapshot(build.Change("b", 10), gate(outOfSync), build.With(shutFor(time.Hour)), waiting(override(60)))
	v := decide.Decide(s, build.At(30))
	if v.Action == decide.Stamp || v.Decisive.Reason != request.OutsideSchedule || v.Status.Overridden != "" {
		t.Errorf("%s because of %s, on record %q", v.Action, v.Decisive.Reason, v.Status.Overridden)
	}
}

// TestAnOpenGateShutsAtItsEdge: an answer is good up to the next edge of a sync window.
func TestAnOpenGateShutsAtItsEdge(t *testing.T) {
	open := gitops.OpenUntil("Application argocd/shop is Synced", build.At(40))
	for at, want := range map[float64]decide.Action{39.9: decide.Stamp, 40: decide.Status} {
		s := build.Snapshot(build.Change("b", 10), gate(open), waiting())
		if v := decide.Decide(s, build.At(at)); v.Action != want {
			t.Errorf("at %v: %s, want %s", at, v.Action, want)
		}
	}
}

// TestNeedProvider: the tool is asked where the answer counts.
func TestNeedProvider(t *testing.T) {
	asks := build.With(func(p *model.Policy) { p.Provider = "ArgoCD" })
	for phase, want := range map[request.Phase]bool{
		"": true, request.Pending: true, request.WaitingForGate: true, request.WaitingForRollout: true,
		request.Executing: false, request.Succeeded: false, request.Failed: false, request.NoLongerRequired: false,
	} {
		if got := decide.NeedProvider(build.Snapshot(asks, build.Request(phase))); got != want {
			t.Errorf("%q: %v, want %v", phase, got, want)
		}
	}
	if decide.NeedProvider(build.Snapshot(asks)) || decide.NeedProvider(build.Snapshot(build.Request(request.Pending))) {
		t.Error("without a request, or without a tool, nobody is asked")
	}
}
