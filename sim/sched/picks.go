package sched

// Picks answers questions by their number, from 0, and all others plainly.
type Picks struct {
	picks map[int]int
	asked int
}

// NewPicks returns a chooser with these answers.
func NewPicks(picks map[int]int) *Picks { return &Picks{picks: picks} }

// Choose answers.
func (p *Picks) Choose(n int, _ Class, _ string) int {
	pick := p.picks[p.asked]
	p.asked++
	if pick >= n {
		return 0
	}
	return pick
}
