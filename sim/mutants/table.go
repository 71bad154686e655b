package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// table prints what became of each plant, as it becomes known.
type table struct {
	out    io.Writer
	times  []float64 // seconds to find, of those that were found
	wrong  []string  // plants that were missed, neutral ones that were not
	silent int       // neutral plants in which nothing was found
}

func (t *table) head() {
	t.line("%-5s %-38s %10s %8s  %s", "plant", "law that broke", "schedules", "seconds", "what is planted")
}

func (t *table) line(format string, args ...any) { _, _ = fmt.Fprintf(t.out, format+"\n", args...) }

// row adds a plant.
func (t *table) row(p *Plant, h Hunt) {
	law := h.Law
	switch found := h.Law != ""; {
	case found && !p.Neutral():
		t.times = append(t.times, h.Seconds)
	case !found && p.Neutral():
		t.silent++
		law = "silent, as it must be"
	case found:
		t.wrong = append(t.wrong, p.ID+" must be silent, but: "+h.Law+": "+h.Message)
	default:
		law = "MISSED"
		t.wrong = append(t.wrong, p.ID+" was missed: "+p.What+"; it needs "+p.Needs)
	}
	t.line("%-5s %-38s %10d %8.1f  %s", p.ID, law, h.Schedules, h.Seconds, p.What)
}

// broken notes a plant that could not be built.
func (t *table) broken(p *Plant, err error) {
	t.wrong = append(t.wrong, p.ID+" was not tried: "+err.Error())
	t.line("%-5s %s", p.ID, "NOT BUILT")
}

// end prints the sum and reports whether all is as it must be.
func (t *table) end() error {
	if len(t.times) > 0 {
		slices.Sort(t.times)
		t.line("\n%d plants found: median %.1fs, slowest %.1fs; %d neutral ones silent",
			len(t.times), t.times[len(t.times)/2], t.times[len(t.times)-1], t.silent)
	}
	if len(t.wrong) > 0 {
		return fmt.Errorf("%d plants are not as they must be:\n  %s", len(t.wrong), strings.Join(t.wrong, "\n  "))
	}
	return nil
}
