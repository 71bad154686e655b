package trace

import (
	_ "embed" // the page's template
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
)

// Report is which feature is proven by what.
type Report struct {
	Features []Row   `json:"features"`
	Levels   []Level `json:"levels"`
}

// Row is a feature and its proofs.
type Row struct {
	Feature
	Proofs []Proof `json:"proofs"`
	// Missing are the levels that are required and have no proof.
	Missing []Level `json:"missing"`
}

// Count is how many proofs the feature has at a level.
func (r Row) Count(level Level) int {
	n := 0
	for _, p := range r.Proofs {
		if p.Level == level {
			n++
		}
	}
	return n
}

// Cell is what a table shows of a level.
func (r Row) Cell(level Level) string {
	switch {
	case slices.Contains(r.Missing, level):
		return "MISSING"
	case r.Count(level) == 0:
		return ""
	default:
		return fmt.Sprint(r.Count(level))
	}
}

// Report sorts the proofs by feature.
func (t *Tree) Report() Report {
	r := Report{Features: []Row{}, Levels: Levels}
	for _, f := range t.Features {
		row := Row{Feature: f, Proofs: []Proof{}, Missing: []Level{}}
		for _, level := range Levels {
			proofs := t.Proven(f.ID, level)
			row.Proofs = append(row.Proofs, proofs...)
			if len(proofs) == 0 && slices.Contains(f.Requires, level) {
				row.Missing = append(row.Missing, level)
			}
		}
		r.Features = append(r.Features, row)
	}
	return r
}

// writers are the forms of a report.
var writers = map[string]func(io.Writer, Report) error{"md": writeMarkdown, "json": writeJSON, "html": writeHTML}

func writeJSON(w io.Writer, r Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

//go:embed report.html
var reportPage string

var htmlReport = template.Must(template.New("report").Parse(reportPage))

func writeHTML(w io.Writer, r Report) error { return htmlReport.Execute(w, r) }

// cell keeps a text from ending its cell of a Markdown table.
var cell = strings.NewReplacer("|", `\|`, "\n", " ")

func writeMarkdown(w io.Writer, r Report) error {
	var b strings.Builder
	b.WriteString("# Features and their proofs\n\n| feature | |")
	for _, level := range r.Levels {
		fmt.Fprintf(&b, " %s |", level)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(r.Levels)) + "\n")
	for _, row := range r.Features {
		fmt.Fprintf(&b, "| %s | %s |", row.ID, cell.Replace(row.Title))
		for _, level := range r.Levels {
			fmt.Fprintf(&b, " %s |", row.Cell(level))
		}
		b.WriteString("\n")
	}
	for _, row := range r.Features {
		fmt.Fprintf(&b, "\n## %s\n\n%s. Documented in %s.\n\n", row.ID, row.Title, row.Doc)
		if len(row.Surface) > 0 {
			fmt.Fprintf(&b, "Surface: `%s`.\n\n", strings.Join(row.Surface, "`, `"))
		}
		for _, p := range row.Proofs {
			fmt.Fprintf(&b, "- %s: `%s` (%s:%d)\n", p.Level, p.Name, p.File, p.Line)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
