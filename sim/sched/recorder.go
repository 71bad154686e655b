package sched

// Choice is a question that was asked, and its answer.
type Choice struct {
	Class Class
	Site  string
	N     int // how many answers there were
	Pick  int
}

// Recorder notes all questions and answers of another chooser.
type Recorder struct {
	From    Chooser
	Choices []Choice
}

// Choose lets the other chooser answer.
func (r *Recorder) Choose(n int, class Class, site string) int {
	pick := r.From.Choose(n, class, site)
	r.Choices = append(r.Choices, Choice{Class: class, Site: site, N: n, Pick: pick})
	return pick
}

// Deviations are the answers that are not plain, keyed so that they can be given
// again although others before them are not (see Scripted). Class Make is left out.
func Deviations(choices []Choice) []Answer {
	count := map[question]int{}
	var out []Answer
	for _, c := range choices {
		at := question{c.Class, c.Site}
		count[at]++
		if c.Pick != 0 && c.Class != Make {
			out = append(out, Answer{Class: c.Class, Site: c.Site, Nth: count[at], Pick: c.Pick})
		}
	}
	return out
}
