package generate

import "github.com/corewire/kick/sim/sched"

// maker asks the questions that make a world and its story.
type maker struct{ sched.Chooser }

// below asks for a number in [0, n); 0 must be the plainest answer.
func (m maker) below(n int, site string) int {
	if n <= 1 {
		return 0
	}
	return m.Choose(n, sched.Make, site)
}

// maybe is true in half of the cases.
func (m maker) maybe(site string) bool { return m.below(2, site) == 1 }

// seldom is true in one of n cases.
func (m maker) seldom(n int, site string) bool { return m.below(n, site) == 1 }

// pick asks for one of a list, the plainest first.
func pick[T any](m maker, site string, list []T) T { return list[m.below(len(list), site)] }

// rarities are how rare a feature may be in a world or a verb in a story: none at
// all, or one in so many.
var rarities = []int{0, 6, 3, 2, 3}

// swarm draws which of n things exist at all.
func (m maker) swarm(on []bool, site string) {
	rarity := pick(m, site, rarities)
	if rarity == 0 {
		return
	}
	for i := range on {
		on[i] = m.seldom(rarity, site)
	}
}
