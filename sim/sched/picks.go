package sched

import (
	"fmt"
	"maps"
	"slices"
)

// Picks answers questions by their number, from 0, and all others plainly.
type Picks struct {
	picks   map[int]int
	asked   int
	refused map[int]int // how many answers a question had that was to get another one
}

// NewPicks returns a chooser with these answers.
func NewPicks(picks map[int]int) *Picks { return &Picks{picks: picks, refused: map[int]int{}} }

// Choose answers.
func (p *Picks) Choose(n int, _ Class, _ string) int {
	at := p.asked
	p.asked++
	pick := p.picks[at]
	if pick >= n {
		p.refused[at] = n
		return 0
	}
	return pick
}

// Unmet says, after a run, which of the answers was not given first, and why; empty
// where all were.
func (p *Picks) Unmet() string {
	for _, at := range slices.Sorted(maps.Keys(p.picks)) {
		if at >= p.asked {
			return fmt.Sprintf("question %d was never asked: there were %d questions, counted from 0", at, p.asked)
		}
		if n := p.refused[at]; n > 0 {
			return fmt.Sprintf("question %d has the answers 0 to %d, and %d is none of them", at, n-1, p.picks[at])
		}
	}
	return ""
}
