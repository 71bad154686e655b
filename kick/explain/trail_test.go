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
	tests := map[string]struct {
		options []build.Option
		last    string
	}{
		"a restart":                  {[]build.Option{build.Change("B", 0)}, "act"},
		"a restart that is told of":  {[]build.Option{build.Change("B", 0), build.With(dry)}, "concurrency"},
		"a fresh one":                {nil, "concurrency"},
		"a fresh one, a dry run":     {[]build.Option{build.With(dry)}, "concurrency"},
		"a suspended one, a dry run": {[]build.Option{build.Change("B", 0), build.With(dry), build.With(suspended)}, "concurrency"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, lines := trail(tt.options...)
			if got := lines[len(lines)-1].Rule; got != tt.last {
				t.Errorf("the last rule is %s, want %s", got, tt.last)
			}
			for _, l := range lines {
				if l.Rule == "dry-run" && l.Outcome == decide.End && v.Decisive.Rule != l.Rule {
					t.Errorf("it tells of a dry run that there was not: %s", l.Message)
				}
			}
		})
	}
}
