package report

import (
	_ "embed"
	"html/template"
	"io"
	"time"

	"github.com/corewire/kick/sim/run"
)

//go:embed page.html.tmpl
var pageSource string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"virtual": virtual, "thousands": thousands, "wall": wall,
	"clock": func(t time.Time) string { return t.UTC().Format("15:04:05.000") },
}).Parse(pageSource))

// mostOnPage is how many lines of a trail a page shows for one scenario.
const mostOnPage = 200

// pageData is what the page shows.
type pageData struct {
	Passed, Failed int
	Elapsed        time.Duration
	Rows           []pageRow
}

type pageRow struct {
	run.Result
	Lines []run.Line
}

// HTML writes all results as one page that needs nothing else.
func HTML(out io.Writer, results []run.Result, elapsed time.Duration) error {
	data := pageData{Elapsed: elapsed}
	for _, r := range results {
		row := pageRow{Result: r}
		if r.Trail != nil {
			row.Lines = r.Trail.Explain(mostOnPage)
		}
		if r.OK() {
			data.Passed++
		} else {
			data.Failed++
		}
		data.Rows = append(data.Rows, row)
	}
	return page.Execute(out, data)
}
