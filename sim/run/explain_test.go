package run

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestCutKeepsWhatDecides: where there are too many lines, restarts and the causes of waits
// stay, and so do the first line and the last.
func TestCutKeepsWhatDecides(t *testing.T) {
	for _, deciding := range [][]int{nil, {20}, {7, 20, 21}, {5, 8, 11, 14, 17, 20, 23, 26, 29, 32}} {
		var lines []Line
		for i := range 40 {
			lines = append(lines, Line{At: time.Unix(int64(i), 0), Text: fmt.Sprint(i), Causal: true, Deciding: slices.Contains(deciding, i)})
		}
		got := cutMiddle(lines, 11)
		shown, left := map[string]bool{}, 0
		for i, l := range got {
			var n int
			if _, err := fmt.Sscanf(l.Text, "%d lines left out", &n); err == nil {
				left += n
				continue
			}
			shown[l.Text] = true
			if i > 0 && got[i-1].At.After(l.At) {
				t.Errorf("%v: %s stands behind %s", deciding, l.Text, got[i-1].Text)
			}
		}
		if len(got) > 11 || len(shown)+left != 40 || !shown["0"] || !shown["39"] {
			t.Errorf("%v: got %v", deciding, got)
		}
		kept := 0
		for _, i := range deciding {
			if shown[fmt.Sprint(i)] {
				kept++
			}
		}
		if kept < min(len(deciding), 2) || len(deciding) <= 1 && kept < len(deciding) {
			t.Errorf("%v: only %d of what decides are kept: %v", deciding, kept, got)
		}
	}
	if got := cutMiddle(make([]Line, 11), 11); len(got) != 11 {
		t.Errorf("got %d lines of 11", len(got))
	}
}
