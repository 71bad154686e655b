package decide_test

import (
	"testing"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
)

// TestWhoNamesAPodDatesIt: where a rule names the pod that makes a workload stale, it says
// since when that pod may have read its sources; a sentence is made of both.
func TestWhoNamesAPodDatesIt(t *testing.T) {
	dry := build.With(func(p *model.Policy) { p.DryRun = true })
	named := 0
	for _, s := range decide.Decide(build.Snapshot(build.Change("B", 0), dry), build.At(60)).Trail {
		if s.Pod == "" {
			continue
		}
		named++
		if s.Since.IsZero() {
			t.Errorf("rule %s names pod %s and no time", s.Rule, s.Pod)
		}
	}
	if named < 2 {
		t.Errorf("%d rules name a pod, want freshness and dry-run", named)
	}
}
