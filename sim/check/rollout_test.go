package check

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestLeaves: a restart is dated after the second of the change it answers, if anybody can know that second.
func TestLeaves(t *testing.T) {
	second := time.Date(2026, 3, 1, 12, 0, 7, 0, time.UTC)
	changed := change{at: second.Add(100 * time.Millisecond), written: second.Add(100 * time.Millisecond), dated: true}
	undated, ahead := changed, changed
	undated.dated, ahead.ahead = false, true
	for name, tt := range map[string]struct {
		change   change
		recorded time.Duration // after the second of the change
		at       time.Time
		leaves   bool
	}{
		"in the second of the change":               {changed, 200 * time.Millisecond, second, true},
		"a second later":                            {changed, 200 * time.Millisecond, second.Add(time.Second), false},
		"seen as it came":                           {changed, 0, second, false},
		"no date tells of it":                       {undated, 200 * time.Millisecond, second, false},
		"its date is made up, and lies far from it": {ahead, 200 * time.Millisecond, second, false},
	} {
		t.Run(name, func(t *testing.T) {
			source := Source{"Secret", "shop", "db"}
			c := &Context{sources: newSourceLog()}
			c.sources.bySource[source] = &history{changes: []change{tt.change}, records: []note{{at: second.Add(tt.recorded)}}}
			if got := c.leaves(metav1.NewTime(tt.at), ref{source: source}); got != tt.leaves {
				t.Errorf("leaves pods alone: %t, want %t", got, tt.leaves)
			}
		})
	}
}
