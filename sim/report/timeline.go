package report

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed timeline.html.tmpl
var timelineSource string

var timeline = template.Must(template.New("timeline").Parse(timelineSource))

// Timeline turns a trace into one page that needs nothing else: a lane for each
// object, with its writes, and for pods what their containers have loaded.
func Timeline(out io.Writer, trace io.Reader, build string) error {
	header, lines, err := readTrace(trace, build)
	if err != nil {
		return err
	}
	return timeline.Execute(out, struct {
		Build string
		Lines []traceJSON
	}{header.Build, lines})
}
