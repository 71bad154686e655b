package sched

// Odometer enumerates every schedule that deviates from the plain one in at most
// depth answers, each once, fewest deviations first along every branch:
//
//	odometer := NewOdometer(2, 0, math.MaxInt)
//	for more := true; more; more = odometer.Next() {
//		run(odometer)
//	}
//
// Questions of class Make are answered plainly: they are about another world.
type Odometer struct {
	depth    int
	from, to int   // where the first deviation may stand: [from, to)
	wheels   wheel // the answers that are not plain, by position
	asked    []int // how many answers each question of this run had
}

type wheel []turned

// turned is one deviation, and the questions of the run without it and those after.
type turned struct {
	at, pick int
	asked    []int
}

// NewOdometer stands at the plain schedule. Only schedules whose first deviation
// stands at a question in [from, to) are enumerated, so that several odometers can
// share the work.
func NewOdometer(depth, from, to int) *Odometer {
	return &Odometer{depth: depth, from: from, to: to}
}

// Choose answers.
func (o *Odometer) Choose(n int, class Class, _ string) int {
	at := len(o.asked)
	if class == Make {
		n = 1
	}
	o.asked = append(o.asked, n)
	for _, w := range o.wheels {
		if w.at == at && w.pick < n {
			return w.pick
		}
	}
	return 0
}

// Asked is the number of questions of the run so far.
func (o *Odometer) Asked() int { return len(o.asked) }

// Picks are the deviations of the schedule it stands at: answers by the number of
// the question, from 0.
func (o *Odometer) Picks() map[int]int {
	out := map[int]int{}
	for _, w := range o.wheels {
		out[w.at] = w.pick
	}
	return out
}

// Next moves to the next schedule after one has been run; false when there is none.
func (o *Odometer) Next() bool {
	asked := o.asked
	o.asked = nil
	if len(o.wheels) < o.depth && o.push(asked) {
		return true
	}
	for len(o.wheels) > 0 {
		top := &o.wheels[len(o.wheels)-1]
		if top.pick+1 < top.asked[top.at] {
			top.pick++
			return true
		}
		last := *top
		o.wheels = o.wheels[:len(o.wheels)-1]
		if o.turn(last.asked, last.at+1) {
			return true
		}
	}
	return false
}

// push adds a deviation after the last one.
func (o *Odometer) push(asked []int) bool {
	from := o.from
	if len(o.wheels) > 0 {
		from = o.wheels[len(o.wheels)-1].at + 1
	}
	return o.turn(asked, from)
}

// turn adds the first possible deviation at or after a question.
func (o *Odometer) turn(asked []int, from int) bool {
	to := len(asked)
	if len(o.wheels) == 0 {
		to = min(to, o.to)
	}
	for at := from; at < to; at++ {
		if asked[at] > 1 {
			o.wheels = append(o.wheels, turned{at: at, pick: 1, asked: asked})
			return true
		}
	}
	return false
}
