package fidelity

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Event is one event of a watch.
type Event struct {
	Type   string // ADDED, MODIFIED or DELETED
	Object client.Object
}

// Record is what one server made of a sequence.
type Record struct {
	Answers []Answer // one for each operation
	Left    []Answer // the lists of all kinds in the end
	Events  []string // of each kind in the order of the watch, kind after kind
}

// Tell puts the events that a player's sequence caused into words. of holds the
// events of each kind, in the order of Kinds.
func (p *Player) Tell(of [][]Event) []string {
	var out []string
	for i, events := range of {
		for _, e := range events {
			out = append(out, fmt.Sprintf("%s %s %s", e.Type, words.Kinds[i].Kind, p.plain.name(e.Object)))
			out = append(out, p.plain.object(e.Object).Object...)
		}
	}
	return out
}

// Difference is where two records part.
type Difference struct {
	At   int // the operation, from 0; the number of operations: the end
	What string
	// Kind of the difference: two sequences with the same one have, as a rule, the
	// same cause.
	Class string
}

// Compare finds the first operation that was answered differently, nil if none was.
func Compare(sequence []Op, a, b Record) *Difference {
	for i, op := range sequence {
		left, right := a.Answers[i], b.Answers[i]
		if op.Kind != "" && !strings.Contains(kindNamed(op.Kind).Group, ".") {
			left.Fields, right.Fields = nil, nil // of several mistakes the simulator names the first ones
		}
		if diff := compareAnswers(left, right); diff != "" {
			return &Difference{At: i, What: diff, Class: fmt.Sprintf("%s %s status=%v %s: %s",
				op.Verb, op.Kind, op.Status, op.Type, class(a.Answers[i], b.Answers[i], diff))}
		}
	}
	for i := range a.Left {
		if diff := compareAnswers(a.Left[i], b.Left[i]); diff != "" {
			return &Difference{At: len(sequence), What: "list of " + words.Kinds[i].Kind + " in the end:\n" + diff, Class: "list in the end"}
		}
	}
	if diff := cmp.Diff(a.Events, b.Events); diff != "" {
		return &Difference{At: len(sequence), What: "events:\n" + diff, Class: "events " + changed(diff)}
	}
	return nil
}

// compareAnswers shows what differs, without the texts of errors, "" for nothing.
func compareAnswers(a, b Answer) string {
	texts := ""
	if a.Text != "" || b.Text != "" {
		texts = fmt.Sprintf("texts: %q\n       %q\n", brief(a.Text), brief(b.Text))
	}
	a.Text, b.Text = "", ""
	if diff := cmp.Diff(a, b); diff != "" {
		return texts + diff
	}
	return ""
}

func brief(text string) string { return text[:min(len(text), 600)] }

// class tells differences apart.
func class(a, b Answer, diff string) string {
	if a.Code != b.Code || a.Reason != b.Reason {
		return fmt.Sprintf("%d %s %v / %d %s %v", a.Code, a.Reason, a.Fields, b.Code, b.Reason, b.Fields)
	}
	return changed(diff)
}

// changed names what the first changed lines of a difference are about.
func changed(diff string) string {
	var out []string
	for line := range strings.Lines(diff) {
		if (line[0] == '-' || line[0] == '+') && len(out) < 3 {
			word, _, _ := strings.Cut(strings.TrimLeft(line[1:], " \u00a0\t"), ":")
			out = append(out, line[:1]+strings.TrimSpace(word))
		}
	}
	return strings.Join(out, " ")
}
