package run

import (
	"fmt"
	"slices"
	"time"
)

// Explain picks what led to the outcome: what users and faults did, what KICK
// wrote and which pods started, from t=0 on and cause before effect, in no more
// than most lines. Pods that started with the same contents make one line; where
// there is too much, the middle is left out, because the first cause and the end
// matter most.
func (t *Trail) Explain(most int) []Line {
	var out []Line
	pods := 0
	for _, l := range t.Lines() {
		if !l.Causal || l.At.Before(t.zero) {
			continue
		}
		if l.pods == "" {
			pods = 0
			out = append(out, l)
			continue
		}
		if pods > 0 && out[len(out)-1].pods == l.pods {
			pods++
			last := &out[len(out)-1]
			last.Text = fmt.Sprintf("%d pods run %s, the last one %s", pods, l.pods, shortObject(l.Object))
			last.At, last.Revision = l.At, l.Revision
			continue
		}
		pods = 1
		out = append(out, l)
	}
	return cutMiddle(out, most)
}

func shortObject(object string) string {
	if len(object) > len("Pod ") && object[:4] == "Pod " {
		return object[4:]
	}
	return object
}

// cutMiddle leaves lines out where there are too many: those that decide and are not too
// many stay, so do the first cause and the end.
func cutMiddle(lines []Line, most int) []Line {
	if len(lines) <= most {
		return lines
	}
	kept := make([]bool, len(lines))
	for _, i := range byWeight(lines, most) {
		kept[i] = true
		if shownWith(kept) > most {
			kept[i] = false
		}
	}
	var out []Line
	for i := 0; i < len(lines); i++ {
		from := i
		for i < len(lines) && !kept[i] {
			i++
		}
		if i > from {
			out = append(out, Line{At: lines[from].At, Actor: "...", Text: fmt.Sprintf("%d lines left out (--trace FILE has all)", i-from)})
		}
		if i < len(lines) {
			out = append(out, lines[i])
		}
	}
	return out
}

// byWeight is the order in which lines get their place: the first ones and the very end,
// then what decides, the newest first, then the rest from both ends.
func byWeight(lines []Line, most int) []int {
	head := most / 3
	var out, rest []int
	for i := range lines {
		if i < head || i >= len(lines)-head/2-1 {
			out = append(out, i)
		}
	}
	for i, line := range slices.Backward(lines) {
		if line.Deciding {
			out = append(out, i)
		} else {
			rest = append(rest, i)
		}
	}
	return append(out, rest...)
}

// shownWith is how many lines an explanation has with those kept, gaps included.
func shownWith(kept []bool) int {
	n := 0
	for i, k := range kept {
		if k || i == 0 || kept[i-1] {
			n++
		}
	}
	return n
}

// Since is the virtual time of a line, counted from t=0.
func (t *Trail) Since(at time.Time) time.Duration { return at.Sub(t.zero) }
