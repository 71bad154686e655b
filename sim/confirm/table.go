package confirm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Line prints one result: the scenario, what the simulator says, what came of it,
// and whether that is the same.
func Line(w io.Writer, r Result) error {
	if !r.Confirmed() {
		_, err := fmt.Fprintf(w, "-     %-44s not confirmed: %s\n", r.Scenario, r.Reason)
		return err
	}
	verdict := "ok"
	if !r.Equal {
		verdict = "DIFF"
	}
	note := ""
	if r.Shortened != "" {
		note = "  (" + r.Shortened + ")"
	}
	if r.Equal {
		_, err := fmt.Fprintf(w, "%-5s %-44s sim = real: %s  %.0fs%s\n", verdict, r.Scenario, r.Real, r.Seconds, note)
		return err
	}
	_, err := fmt.Fprintf(w, "%-5s %-44s sim: %s%s\n%50s real: %s\n", verdict, r.Scenario, r.Sim, note, "", r.Real)
	for _, broken := range r.Real.Broken {
		_, err = fmt.Fprintf(w, "%50s %s\n", "", broken)
	}
	return err
}

// String is an outcome in one line: restarts, then requests.
func (o Outcome) String() string {
	var restarts, requests []string
	for _, id := range slices.Sorted(maps.Keys(o.Restarts)) {
		restarts = append(restarts, fmt.Sprintf("%s %d", id, o.Restarts[id]))
	}
	for _, id := range slices.Sorted(maps.Keys(o.Requests)) {
		requests = append(requests, id+" "+o.Requests[id])
	}
	return "restarts " + cmp.Or(strings.Join(restarts, ", "), "none") + "; requests " + cmp.Or(strings.Join(requests, ", "), "none")
}

// Summary counts results, and the reasons why there was nothing to compare.
type Summary struct {
	Equal        int            `json:"equal"`
	Different    int            `json:"different"`
	NotConfirmed map[string]int `json:"notConfirmed"`
	// Broken counts those of NotConfirmed that should have been played.
	Broken int `json:"broken"`
}

// Sum counts.
func Sum(results []Result) Summary {
	s := Summary{NotConfirmed: map[string]int{}}
	for _, r := range results {
		switch {
		case !r.Confirmed():
			s.NotConfirmed[r.Class]++
			if r.Class == classHarness {
				s.Broken++
			}
		case r.Equal:
			s.Equal++
		default:
			s.Different++
		}
	}
	return s
}

// String is the last line of a run.
func (s Summary) String() string {
	var why []string
	sum := 0
	for _, class := range slices.Sorted(maps.Keys(s.NotConfirmed)) {
		why = append(why, fmt.Sprintf("%d %s", s.NotConfirmed[class], class))
		sum += s.NotConfirmed[class]
	}
	reasons := ""
	if sum > 0 {
		reasons = " (" + strings.Join(why, ", ") + ")"
	}
	return fmt.Sprintf("%d sim = real, %d different, %d not confirmed%s", s.Equal, s.Different, sum, reasons)
}

// JSON writes all results as one object.
func JSON(w io.Writer, results []Result) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Summary
		Scenarios []Result `json:"scenarios"`
	}{Sum(results), results})
}
