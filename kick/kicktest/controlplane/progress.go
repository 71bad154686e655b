package controlplane

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress shows long work: one moving line on a terminal, a plain line every ten
// seconds elsewhere, so that a log stays readable and a CI job shows life.
type progress struct {
	out    io.Writer
	moving bool
}

func newProgress(out io.Writer) progress {
	if out == nil {
		return progress{out: io.Discard}
	}
	file, ok := out.(*os.File)
	if !ok {
		return progress{out: out}
	}
	info, err := file.Stat()
	return progress{out: out, moving: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

// during runs work and shows doing with the time so far; done is the line that stays.
func (p progress) during(doing, done string, work func() error) error {
	begin := time.Now()
	every := 10 * time.Second
	if p.moving {
		every = 200 * time.Millisecond
		p.line("\r\x1b[K%s", doing)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	finished := make(chan error, 1)
	go func() { finished <- work() }()
	for {
		select {
		case <-ticker.C:
			if p.moving {
				p.line("\r\x1b[K%s %s", doing, short(time.Since(begin)))
			} else {
				p.line("%s %s\n", doing, short(time.Since(begin)))
			}
		case err := <-finished:
			if p.moving {
				p.line("\r\x1b[K")
			}
			if err == nil && done != "" {
				p.line("%s %s\n", done, short(time.Since(begin)))
			}
			return err
		}
	}
}

// line ignores a failing writer: progress is never a reason to fail.
func (p progress) line(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format, args...) }

// short prints tenths of a second below ten seconds and whole seconds above.
func short(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
