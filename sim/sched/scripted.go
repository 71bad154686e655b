package sched

import "fmt"

// Answer is the answer to one question: the Nth (from 1) of a class and site is
// answered by Pick.
type Answer struct {
	Class Class
	Site  string
	Nth   int
	Pick  int
}

// String names the question as scenarios do.
func (a Answer) String() string { return fmt.Sprintf("choice %s %q nth %d", a.Class, a.Site, a.Nth) }

// Scripted answers some questions by a list and leaves all others to another
// chooser. It counts questions, so it serves one run only.
type Scripted struct {
	answers   []Answer
	otherwise Chooser
	asked     map[question]int
	complaint []string // by index of the answer; empty: it was given
}

type question struct {
	class Class
	site  string
}

// NewScripted returns a chooser that gives these answers.
func NewScripted(answers []Answer, otherwise Chooser) *Scripted {
	s := &Scripted{answers: answers, otherwise: otherwise, asked: map[question]int{}}
	for _, a := range answers {
		s.asked[question{a.Class, a.Site}] = 0
		s.complaint = append(s.complaint, fmt.Sprintf("%s was never asked", a))
	}
	return s
}

// Choose gives the answer of the list, or asks the other chooser. An answer that
// the question does not offer counts as 0 and is complained of.
func (s *Scripted) Choose(n int, class Class, site string) int {
	at := question{class, site}
	count, listed := s.asked[at]
	if !listed {
		return s.otherwise.Choose(n, class, site)
	}
	count++
	s.asked[at] = count
	for i, a := range s.answers {
		if a.Nth != count || a.Class != class || a.Site != site {
			continue
		}
		s.complaint[i] = ""
		if a.Pick >= n {
			s.complaint[i] = fmt.Sprintf("%s: pick %d, but the question offers 0 to %d", a, a.Pick, n-1)
			return 0
		}
		return a.Pick
	}
	return s.otherwise.Choose(n, class, site)
}

// Complaints tells of answers that were never asked for and of such that were not
// offered, in the order of the list.
func (s *Scripted) Complaints() []string {
	var out []string
	for _, complaint := range s.complaint {
		if complaint != "" {
			out = append(out, complaint)
		}
	}
	return out
}
