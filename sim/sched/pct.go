package sched

import "math/bits"

// PCT places few deviations where they matter most, after the randomized scheduler
// of Burckhardt et al. (ASPLOS 2010): most failures need one to three of them, and a
// schedule that deviates everywhere seldom gets them right.
//
// Questions of order follow priorities that are fixed but at the change points:
// which of the simultaneous events is preferred changes only there. All other
// classes are answered plainly but for as many answers as there are change points,
// each at a question drawn at the start. Make is answered as by Seeded.
type PCT struct {
	made, rest stream
	points     []point
	asked      [classes]int
	prefer     uint64 // the priorities; 0: first in, first out
}

// point is a place at which the schedule deviates: a question of a class, by number.
type point struct {
	class Class
	at    int
}

// pointClasses are the classes that get change points, by how often they do.
var pointClasses = []Class{Order, Fault, Fault, Fault, Switch, Switch, Lag, Restart}

// mostAsked bounds the number of the question at a change point: 2^mostAsked.
const mostAsked = 9

// NewPCT returns a chooser with that many change points.
func NewPCT(seed uint64, depth int) *PCT {
	p := &PCT{made: stream{seed ^ 0x6d616b65}, rest: stream{seed}}
	if p.rest.below(2) == 1 {
		p.prefer = p.rest.next() | 1
	}
	for range depth {
		class := pointClasses[p.rest.below(len(pointClasses))]
		scale := 1 << p.rest.below(mostAsked+1)
		if class == Restart { // asked a few times in a life
			scale = 1 << bits.Len(uint(p.rest.below(8)))
		}
		p.points = append(p.points, point{class, p.rest.below(scale)})
	}
	return p
}

// Choose answers.
func (p *PCT) Choose(n int, class Class, site string) int {
	if class == Make {
		return p.made.below(n)
	}
	at := point{class, p.asked[class]}
	p.asked[class]++
	changes := false
	for _, point := range p.points {
		changes = changes || point == at
	}
	switch {
	case class == Order:
		if changes {
			p.prefer = p.rest.next() | 1
		}
		return p.preferred(n, site)
	case changes:
		return 1 + p.rest.below(n-1)
	default:
		return 0
	}
}

// preferred is the alternative with the highest priority.
func (p *PCT) preferred(n int, site string) int {
	if p.prefer == 0 {
		return 0
	}
	h := p.prefer
	for i := range len(site) {
		h = mix(h ^ uint64(site[i]))
	}
	return int(h % uint64(n))
}
