package explain_test

import (
	"strings"
	"testing"

	"github.com/corewire/kick/kick/explain"
	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
)

// trail is what the rules say of a workload with an open request.
func trail(options ...build.Option) (*decide.Verdict, []explain.Line) {
	v := decide.Decide(build.Snapshot(append(options, build.Request(request.Pending))...), build.At(30))
	return &v, explain.Trail(&v)
}

// TestTrailSpeaks: each rule has a sentence of its own, and tells no name of a rule for one.
func TestTrailSpeaks(t *testing.T) {
	v, lines := trail(build.Change("B", 0))
	if len(lines) != len(v.Trail) {
		t.Fatalf("%d of %d rules are told of, though nothing stands against a restart: %v", len(lines), len(v.Trail), lines)
	}
	for _, l := range lines {
		if strings.Contains(l.Message, "allows it.") || !strings.HasSuffix(l.Message, ".") {
			t.Errorf("%s says %q", l.Rule, l.Message)
		}
	}
}

// TestTrailLeavesOutWhatIsNotDone: a deed is told of where nothing stands against it alone.
func TestTrailLeavesOutWhatIsNotDone(t *testing.T) {
	dry := func(p *model.Policy) { p.DryRun = true }
	suspended := func(p *model.Policy) { p.Suspended = true }
	second := func(s *model.Snapshot) {
		other := s.Policies[0]
		other.ID.Name = "other"
		s.Policies = append(s.Policies, other)
	}
	tests := map[string]struct {
		options []build.Option
		last    string
	}{
		"a restart":                  {[]build.Option{build.Change("B", 0)}, "act"},
		"a restart that is told of":  {[]build.Option{build.Change("B", 0), build.With(dry)}, "interval"},
		"a fresh one":                {nil, "interval"},
		"a fresh one, a dry run":     {[]build.Option{build.With(dry)}, "interval"},
		"a suspended one, a dry run": {[]build.Option{build.Change("B", 0), build.With(dry), build.With(suspended)}, "interval"},
		"two policies":               {[]build.Option{build.Change("B", 0), second}, "sources"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, lines := trail(tt.options...)
			if got := lines[len(lines)-1].Rule; got != tt.last {
				t.Errorf("the last rule is %s, want %s", got, tt.last)
			}
			for _, l := range lines {
				if len(v.Trail) > 0 && v.Decisive.Reason == request.PolicyConflict && strings.Contains(l.Message, "policy's") {
					t.Errorf("it speaks of one policy of two: %s", l.Message)
				}
				if l.Rule == "dry-run" && l.Outcome == decide.End && v.Decisive.Rule != l.Rule {
					t.Errorf("it tells of a dry run that there was not: %s", l.Message)
				}
			}
		})
	}
}

// TestContent: a content is told with the time at which it was seen, if somebody saw it.
func TestContent(t *testing.T) {
	seen := build.At(10)
	for want, c := range map[string]model.Content{
		"Secret shop/db changed " + explain.Time(seen) + ".":                                       {Seal: "a", Observed: seen},
		"Secret shop/db has held this content since " + explain.Time(seen) + "; KICK found it so.": {Seal: "a", Observed: seen, Baseline: true},
		"Secret shop/db was deleted; seen " + explain.Time(seen) + ".":                             {Seal: "absent", Observed: seen},
		"Secret shop/db did not exist " + explain.Time(seen) + ", when KICK looked first.":         {Seal: "absent", Observed: seen, Baseline: true},
		"Secret shop/db did not exist when KICK looked first.":                                     {Seal: "absent", Observed: model.UnknownPast, Baseline: true},
		"Secret shop/db held this content when KICK looked first; nothing tells since when.":       {Seal: "a", Observed: model.UnknownPast, Baseline: true},
	} {
		if got := explain.Content(model.Key{Kind: "Secret", Namespace: "shop", Name: "db"}, c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNobodySaw: a change that nobody saw come has no date in any sentence.
func TestNobodySaw(t *testing.T) {
	for _, s := range []decide.Step{
		{Reason: request.Opened}, {Reason: request.Restarting, Outcome: decide.Act}, {Reason: request.Fresh},
		{Reason: request.Settling, Outcome: decide.Wait, Detail: "that of the change is not over"},
	} {
		if got := explain.Step(&s); strings.Contains(got, "0001-01-01") {
			t.Errorf("%s: %q", s.Reason, got)
		}
	}
}
