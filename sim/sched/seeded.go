package sched

// Seeded answers by a seed: equal seeds give equal answers to equal questions.
//
// It draws first how often each class of questions gets an answer other than the
// plain one (swarm testing, Groce 2012: a schedule with a few kinds of trouble goes
// deeper than one with a little of everything), and which answers to Fault occur at
// all. Questions of class Make are answered uniformly from a stream of their own,
// so that what the world is made of does not depend on what happens in it.
type Seeded struct {
	made, rest stream
	rates      [classes]int // answers other than 0, in thousandths; uniform: all equally likely
	faults     uint64       // bit i: answer i+1 to a Fault occurs
}

// uniform is the rate at which all answers, the plain one too, are equally likely.
const uniform = -1

// The rates a class may have, in thousandths.
var (
	orderRates = []int{0, 100, 500, uniform}
	otherRates = []int{0, 10, 50, 200}
)

// NewSeeded returns a chooser that no other seed equals.
func NewSeeded(seed uint64) *Seeded {
	s := &Seeded{made: stream{seed ^ 0x6d616b65}, rest: stream{seed}}
	for class := range s.rates {
		rates := otherRates
		if Class(class) == Order {
			rates = orderRates
		}
		s.rates[class] = rates[s.rest.below(len(rates))]
	}
	s.faults = ^uint64(0)
	if s.rest.below(4) > 0 {
		s.faults = s.rest.next()
	}
	return s
}

// Choose answers.
func (s *Seeded) Choose(n int, class Class, _ string) int {
	if class == Make {
		return s.made.below(n)
	}
	rate := s.rates[class]
	if rate == uniform {
		return s.rest.below(n)
	}
	if s.rest.below(1000) >= rate {
		return 0
	}
	pick := 1 + s.rest.below(n-1)
	if class == Fault && s.faults>>(uint(pick-1)%64)&1 == 0 {
		return 0
	}
	return pick
}

// stream is a sequence of numbers that its state determines (splitmix64).
type stream struct{ state uint64 }

func (s *stream) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	return mix(s.state)
}

// below draws a number in [0, n); 0 where there is no choice.
func (s *stream) below(n int) int {
	if n <= 1 {
		return 0
	}
	return int(s.next() % uint64(n))
}

// mix turns a number into one that looks unrelated.
func mix(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}
