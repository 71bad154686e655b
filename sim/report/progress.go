package report

import (
	"fmt"
	"io"
	"time"
)

// Progress is one line on a terminal that moves. A nil Progress shows nothing.
type Progress struct {
	out   io.Writer
	seeds uint64        // how many there will be; 0: not known
	span  time.Duration // how long it will take at most; 0: not known
	shown time.Duration
	width int
}

// NewProgress returns a line on a terminal.
func NewProgress(out io.Writer, seeds uint64, span time.Duration) *Progress {
	return &Progress{out: out, seeds: seeds, span: span}
}

// between is the time between two states of the line.
const between = 200 * time.Millisecond

// Show shows how far a campaign is.
func (p *Progress) Show(f Figures, elapsed time.Duration) {
	if p == nil || elapsed-p.shown < between && p.width > 0 {
		return
	}
	p.shown = elapsed
	rate := max(elapsed.Seconds(), 0.001)
	line := fmt.Sprintf("%s schedules  %.0f/s  %.0fk transitions/s  %d fault sites  %d failed%s",
		thousands(f.Schedules), float64(f.Schedules)/rate, float64(f.Transitions)/rate/1000, f.Sites, f.Failed, p.left(f, elapsed))
	p.Line(line)
}

// Line shows a text.
func (p *Progress) Line(line string) {
	if p == nil {
		return
	}
	_, _ = fmt.Fprintf(p.out, "\r%-*s", p.width, line)
	p.width = len(line)
}

// left is the time left, where it is known.
func (p *Progress) left(f Figures, elapsed time.Duration) string {
	left := p.span - elapsed
	if p.seeds > 0 && f.Schedules > 0 {
		done := float64(f.Schedules) / float64(p.seeds)
		bySeeds := time.Duration(float64(elapsed)/done) - elapsed
		if p.span == 0 || bySeeds < left {
			left = bySeeds
		}
	} else if p.span == 0 {
		return ""
	}
	return fmt.Sprintf("  %s left", max(left, 0).Round(time.Second))
}

// Clear removes the line.
func (p *Progress) Clear() {
	if p == nil || p.width == 0 {
		return
	}
	_, _ = fmt.Fprintf(p.out, "\r%*s\r", p.width, "")
	p.width = 0
}
