package run

import (
	"fmt"
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

func cutMiddle(lines []Line, most int) []Line {
	if len(lines) <= most {
		return lines
	}
	head := most / 3
	tail := most - head - 1
	left := len(lines) - head - tail
	gap := Line{At: lines[head].At, Actor: "...", Text: fmt.Sprintf("%d lines left out (--trace FILE has all)", left)}
	out := append([]Line{}, lines[:head]...)
	return append(append(out, gap), lines[len(lines)-tail:]...)
}

// Since is the virtual time of a line, counted from t=0.
func (t *Trail) Since(at time.Time) time.Duration { return at.Sub(t.zero) }
