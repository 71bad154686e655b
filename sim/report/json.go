package report

import (
	"encoding/json"
	"io"
	"time"

	"github.com/corewire/kick/sim/run"
)

// summaryJSON is the form of -o json.
type summaryJSON struct {
	Passed      int            `json:"passed"`
	Failed      int            `json:"failed"`
	WallSeconds float64        `json:"wallSeconds"`
	Scenarios   []scenarioJSON `json:"scenarios"`
}

type scenarioJSON struct {
	Name           string         `json:"name"`
	File           string         `json:"file"`
	Line           int            `json:"line"`
	Summary        string         `json:"summary,omitempty"`
	Proves         []string       `json:"proves,omitempty"`
	OK             bool           `json:"ok"`
	VirtualSeconds float64        `json:"virtualSeconds"`
	Events         uint64         `json:"events"`
	WallSeconds    float64        `json:"wallSeconds"`
	Restarts       map[string]int `json:"restarts,omitempty"`
	Failures       []failureJSON  `json:"failures,omitempty"`
	Explain        []string       `json:"explain,omitempty"`
}

type failureJSON struct {
	Law     string    `json:"law"`
	Message string    `json:"message"`
	At      time.Time `json:"at"`
}

// JSON writes all results as one object.
func JSON(out io.Writer, results []run.Result, elapsed time.Duration) error {
	summary := summaryJSON{WallSeconds: elapsed.Seconds(), Scenarios: []scenarioJSON{}}
	for _, r := range results {
		if r.OK() {
			summary.Passed++
		} else {
			summary.Failed++
		}
		s := scenarioJSON{
			Name: r.Scenario.Name, File: r.Scenario.At.File, Line: r.Scenario.At.Line,
			Summary: r.Scenario.Summary, Proves: r.Scenario.Proves, OK: r.OK(),
			VirtualSeconds: r.Virtual.Seconds(), Events: r.Events, WallSeconds: r.Wall.Seconds(), Restarts: r.Restarts,
		}
		for _, f := range r.Failures {
			s.Failures = append(s.Failures, failureJSON(f))
		}
		if r.Trail != nil {
			s.Explain = Explanation(r)
		}
		summary.Scenarios = append(summary.Scenarios, s)
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(summary)
}
