package report

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Figures are the numbers of a campaign.
type Figures struct {
	Schedules   uint64 `json:"schedules"`
	Transitions uint64 `json:"transitions"`
	Failed      uint64 `json:"failed"`
	Skipped     uint64 `json:"skipped"`
	Sites       int    `json:"faultSites"`
}

// Failure is a schedule that broke a law, in words.
type Failure struct {
	Seed      string   `json:"seed,omitempty"`     // as replay takes it; empty where no seed answered
	Scenario  string   `json:"scenario,omitempty"` // its name; empty where the seed made the world
	Build     string   `json:"-"`                  // the seed is of
	Law       string   `json:"law"`
	Message   string   `json:"message"`
	Replay    string   `json:"replay"`
	Shrink    string   `json:"shrink"`
	Recording string   `json:"recording,omitempty"`
	Explain   []string `json:"explain"`
}

// Campaign is what a campaign came to.
type Campaign struct {
	Figures
	Seconds     float64                      `json:"seconds"`
	Profile     string                       `json:"profile"`
	Build       string                       `json:"build"`
	Interrupted bool                         `json:"interrupted"`       // before the end of its plan
	Stopped     string                       `json:"stopped,omitempty"` // where that was: by --for after 12 of 157 scenarios of the crash pass
	Failures    []Failure                    `json:"failures"`
	Unreached   []string                     `json:"unreachedMarks"`
	Marks       map[string]uint64            `json:"marks"`
	Sites       map[string]map[string]uint64 `json:"sites"` // fault -> call -> count
}

// Found prints a failure: what broke, why, and how to see it again.
func Found(out io.Writer, f Failure) {
	for i, line := range f.Explain {
		if i == 0 {
			line += "   " + f.from()
		}
		_, _ = fmt.Fprintln(out, line)
	}
	_, _ = fmt.Fprintf(out, "replay: %s\nas a scenario: %s\n", f.Replay, f.Shrink)
	if f.Recording != "" {
		_, _ = fmt.Fprintf(out, "recording: %s\n", f.Recording)
	}
	_, _ = fmt.Fprintln(out)
}

// from is where the schedule comes from.
func (f Failure) from() string {
	switch {
	case f.Seed == "":
		return "scenario " + f.Scenario
	case f.Scenario == "":
		return "seed " + f.Seed + "@" + f.Build
	default:
		return "seed " + f.Seed + "@" + f.Build + " in scenario " + f.Scenario
	}
}

// JSON writes the campaign as one object.
func (c Campaign) JSON(out io.Writer) error {
	c.Failures = append([]Failure{}, c.Failures...)
	c.Unreached = append([]string{}, c.Unreached...)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(c)
}

// Text prints the summary.
func (c Campaign) Text(out io.Writer) {
	printf := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
	c.matrix(out)
	if len(c.Marks) > 0 {
		reached := 0
		for _, count := range c.Marks {
			if count > 0 {
				reached++
			}
		}
		printf("marks reached: %d of %d\n", reached, len(c.Marks))
	}
	if len(c.Unreached) > 0 {
		printf("never reached: %s\n", strings.Join(c.Unreached, ", "))
	}
	if c.Interrupted {
		printf("interrupted\n%s\n", c.Stopped)
		for _, f := range c.Failures {
			printf("replay: %s\n", f.Replay)
		}
	}
	skipped := ""
	if c.Skipped > 0 {
		skipped = fmt.Sprintf(", %s skipped", thousands(c.Skipped))
	}
	rate := max(c.Seconds, 0.001)
	printf("%s schedules, %s transitions, %s failed%s in %.1fs (%s schedules/s, %s transitions/s)\n",
		thousands(c.Schedules), thousands(c.Transitions), thousands(c.Failed), skipped, c.Seconds,
		thousands(uint64(float64(c.Schedules)/rate)), thousands(uint64(float64(c.Transitions)/rate)))
}

// widest is how many columns a line of the matrix has at most.
const widest = 100

// matrix prints how often each fault met each call: a call a line, or a few, with the faults
// that it met only.
func (c Campaign) matrix(out io.Writer) {
	calls := map[string]map[string]uint64{}
	width := len("faults met")
	for fault, row := range c.Sites {
		for call, count := range row {
			if calls[call] == nil {
				calls[call] = map[string]uint64{}
			}
			calls[call][fault] = count
			width = max(width, len(call))
		}
	}
	if len(calls) == 0 {
		return
	}
	_, _ = fmt.Fprintln(out, "faults met")
	for _, call := range slices.Sorted(maps.Keys(calls)) {
		line, begin := call, call
		for _, fault := range slices.Sorted(maps.Keys(calls[call])) {
			cell := "  " + fault + " " + thousands(calls[call][fault])
			if len(line) > len(begin) && width+len(line)-len(begin)+len(cell) > widest {
				_, _ = fmt.Fprintf(out, "%-*s%s\n", width, begin, line[len(begin):])
				line, begin = "", ""
			}
			line += cell
		}
		_, _ = fmt.Fprintf(out, "%-*s%s\n", width, begin, line[len(begin):])
	}
}
