package report

import (
	"io"

	"github.com/corewire/kick/kick/timeline/ui"
)

// Timeline turns a trace into one page that needs nothing else: the operator's own
// timeline, with a lane for each object, and for pods what their containers have loaded.
func Timeline(out io.Writer, trace io.Reader, build string) error {
	header, lines, err := readTrace(trace, build)
	if err != nil {
		return err
	}
	return ui.Page(out, "kick-sim timeline, build "+header.Build, struct {
		Build string      `json:"build"`
		Lines []traceJSON `json:"lines"`
	}{header.Build, lines})
}
