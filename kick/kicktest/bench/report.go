package main

import (
	"fmt"
	"slices"
	"time"
)

// Report is what was measured.
type Report struct {
	Floor, Kick []time.Duration // sorted, as are the others
	// Recorded and Opened are KICK's two writes on the way: the record of the change
	// and the request.
	Recorded, Opened []time.Duration
	// Resident is the operator's memory after the last round; 0: this system does
	// not tell.
	Resident int64
}

// Quantile of sorted durations, by the nearest rank.
func Quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(q*float64(len(sorted)) + 0.999999)
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Ratio of KICK's median to that of the floor.
func (r Report) Ratio() float64 {
	return float64(Quantile(r.Kick, 0.5)) / float64(max(Quantile(r.Floor, 0.5), 1))
}

// String is the table people read.
func (r Report) String() string {
	row := func(name string, d []time.Duration) string {
		return fmt.Sprintf("%-28s %7.1f ms %7.1f ms %7.1f ms\n", name, ms(Quantile(d, 0)), ms(Quantile(d, 0.5)), ms(Quantile(d, 0.95)))
	}
	text := fmt.Sprintf("restart latency, %d rounds        min     median        p95\n", len(r.Kick)) +
		row("floor: bare watch and patch", r.Floor) + row("KICK", r.Kick) +
		row("  change recorded after", r.Recorded) + row("  request opened after", r.Opened) +
		fmt.Sprintf("median of KICK / median of floor: %.2f\n", r.Ratio())
	if r.Resident > 0 {
		text += fmt.Sprintf("operator, resident: %.1f MB\n", float64(r.Resident)/1e6)
	}
	return text
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func sorted(d []time.Duration) []time.Duration {
	d = slices.Clone(d)
	slices.Sort(d)
	return d
}
