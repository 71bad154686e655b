package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
)

// TextOptions says what the text holds besides a line per scenario.
type TextOptions struct {
	Explain bool // tell what led to each outcome
}

// Text prints results as they come.
type Text struct {
	out            io.Writer
	options        TextOptions
	width          int
	perFile        map[string]int
	passed, failed int
}

// NewText returns a printer for the results of these scenarios.
func NewText(out io.Writer, scenarios []scenario.Scenario, options TextOptions) *Text {
	t := &Text{out: out, options: options, width: 30, perFile: map[string]int{}}
	for _, s := range scenarios {
		t.width = max(t.width, len(s.Name))
		t.perFile[s.At.File]++
	}
	return t
}

// mostFailures is how many broken laws of one scenario are printed.
const mostFailures = 5

// Result prints one scenario.
func (t *Text) Result(r run.Result) {
	verdict := "ok"
	if r.OK() {
		t.passed++
	} else {
		verdict = "FAIL"
		t.failed++
	}
	t.printf("%-5s %-*s %7s virtual %7s events %8s\n",
		verdict, t.width, r.Scenario.Name, virtual(r.Virtual), thousands(r.Events), wall(r.Wall))
	for i, f := range r.Failures {
		if i == mostFailures {
			t.printf("      and %d more\n", len(r.Failures)-i)
			break
		}
		t.printf("      %s\n", f.Message)
	}
	if t.options.Explain {
		t.explain(r)
	}
	if !r.OK() && !t.options.Explain {
		t.printf("      replay: %s --explain\n", t.replay(r.Scenario))
	}
}

// printf prints; an output that is gone cannot be told about.
func (t *Text) printf(format string, args ...any) { _, _ = fmt.Fprintf(t.out, format, args...) }

// replay is the command that runs one scenario again.
func (t *Text) replay(s scenario.Scenario) string {
	command := "kick-sim run " + s.At.File
	if t.perFile[s.At.File] > 1 {
		command += " --filter '^" + s.Name + "$'"
	}
	if s.Seed != scenario.DefaultSeed {
		command += fmt.Sprintf(" --seed %d", s.Seed)
	}
	return command
}

// explain prints cause before effect.
func (t *Text) explain(r run.Result) {
	if r.Trail == nil {
		return
	}
	for _, l := range Explanation(r) {
		t.printf("%s\n", l)
	}
}

// How many lines an explanation has at most, and how many of them are verdicts.
const (
	mostExplained = 15
	mostVerdicts  = 3
)

// Explanation is the outcome of a run in lines: which laws broke, and the causes.
func Explanation(r run.Result) []string {
	var out []string
	if laws := brokenLaws(r); len(laws) > 0 {
		out = append(out, "law broken: "+strings.Join(laws, ", "))
	}
	verdicts := min(len(r.Failures), mostVerdicts)
	if r.Trail == nil { // it panicked
		r.Trail = run.TrailOf(r.Scenario.Start, nil)
	}
	for _, l := range chain(r, mostExplained-len(out)-verdicts) {
		revision := ""
		if l.Revision > 0 {
			revision = fmt.Sprintf("(rv %d)", l.Revision)
		}
		if l.Says != "" {
			revision += ": " + l.Says
		}
		out = append(out, strings.TrimRight(fmt.Sprintf("  %s  %-10s %-58s %s", l.At.UTC().Format("15:04:05.000"), l.Actor, l.Text, revision), " "))
	}
	for _, f := range r.Failures[:verdicts] {
		out = append(out, fmt.Sprintf("  %s  %-10s %s", f.At.UTC().Format("15:04:05.000"), "judge", f.Message))
	}
	return out
}

func brokenLaws(r run.Result) []string {
	var out []string
	seen := map[string]bool{}
	for _, f := range r.Failures {
		if !seen[f.Law] {
			seen[f.Law] = true
			out = append(out, f.Law)
		}
	}
	return out
}

// Summary prints the last line.
func (t *Text) Summary(elapsed time.Duration) {
	t.printf("%d passed, %d failed in %.1fs\n", t.passed, t.failed, elapsed.Seconds())
}

// virtual shows simulated time with two units at most.
func virtual(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	default:
		return fmt.Sprintf("%dd%02dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
	}
}

func wall(d time.Duration) string {
	if d >= time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return fmt.Sprintf("%.1fms", float64(d.Microseconds())/1000)
}

// thousands groups digits.
func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
