package sched

import "fmt"

// Replay gives recorded answers again. Where a question is not the recorded one the
// code has changed since; all from there on is answered plainly.
type Replay struct {
	choices  []Choice
	next     int
	diverged string
}

// NewReplay returns a chooser that answers what was recorded.
func NewReplay(choices []Choice) *Replay { return &Replay{choices: choices} }

// Choose answers as recorded.
func (r *Replay) Choose(n int, class Class, site string) int {
	if r.diverged != "" {
		return 0
	}
	if r.next == len(r.choices) {
		r.diverged = fmt.Sprintf("the recording ends after %d choices, this build asks %s %q of %d", r.next, class, site, n)
		return 0
	}
	c := r.choices[r.next]
	r.next++
	if c.Class != class || c.Site != site || c.N != n {
		r.diverged = fmt.Sprintf("choice %d diverged: recorded %s %q of %d, this build asks %s %q of %d",
			r.next, c.Class, c.Site, c.N, class, site, n)
		return 0
	}
	return c.Pick
}

// Diverged says which choice diverged first; empty if the run was the recorded one.
func (r *Replay) Diverged() string {
	if r.diverged == "" && r.next < len(r.choices) {
		return fmt.Sprintf("the recording has %d choices, this build asked for %d", len(r.choices), r.next)
	}
	return r.diverged
}
