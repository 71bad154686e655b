package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/corewire/kick/sim/run"
)

// TraceFormat is raised whenever an older program could not read a trace.
const TraceFormat = "kick-sim-trace/1"

// traceHeader is the first line of a trace.
type traceHeader struct {
	Format string `json:"format"`
	Build  string `json:"build"`
}

// traceJSON is one further line of the event log.
type traceJSON struct {
	Scenario string    `json:"scenario"`
	Seconds  float64   `json:"t"` // virtual, from t=0
	At       time.Time `json:"at"`
	Actor    string    `json:"actor"`
	Manager  string    `json:"manager,omitempty"`
	Verb     string    `json:"verb,omitempty"`
	Object   string    `json:"object,omitempty"`
	Revision int64     `json:"rv,omitempty"`
	Log      bool      `json:"log,omitempty"`
	Text     string    `json:"text"`
	Says     string    `json:"says,omitempty"` // KICK's own sentence
}

// verdictActor is who speaks where a trace tells of a broken law.
const verdictActor = "judge"

// Trace writes every event of every run, and the laws that broke, one JSON object a
// line after a header. Content of sources shows as letters, never as values.
func Trace(out io.Writer, build string, results []run.Result) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(traceHeader{TraceFormat, build}); err != nil {
		return err
	}
	for _, r := range results {
		if r.Trail == nil {
			continue
		}
		for _, l := range r.Trail.Lines() {
			err := encoder.Encode(traceJSON{
				Scenario: r.Scenario.Name, Seconds: r.Trail.Since(l.At).Seconds(), At: l.At.UTC(), Actor: l.Actor,
				Manager: l.Manager, Verb: l.Verb, Object: l.Object, Revision: l.Revision, Log: l.Log, Text: l.Text, Says: l.Says,
			})
			if err != nil {
				return err
			}
		}
		for _, f := range r.Failures {
			err := encoder.Encode(traceJSON{
				Scenario: r.Scenario.Name, Seconds: r.Trail.Since(f.At).Seconds(), At: f.At.UTC(), Actor: verdictActor, Text: f.Law + ": " + f.Message,
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// readTrace reads what Trace wrote.
func readTrace(in io.Reader, build string) (traceHeader, []traceJSON, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	var header traceHeader
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &header) != nil || header.Format == "" {
		return header, nil, fmt.Errorf("not a trace: the first line must name its format, such as %q (kick-sim replay --trace writes one)", TraceFormat)
	}
	if header.Format != TraceFormat {
		return header, nil, fmt.Errorf("the trace has format %q of build %s, this is build %s, which reads %q", header.Format, header.Build, build, TraceFormat)
	}
	var out []traceJSON
	for lines.Scan() {
		var l traceJSON
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return header, nil, fmt.Errorf("line %d of the trace: %w", len(out)+2, err)
		}
		out = append(out, l)
	}
	return header, out, lines.Err()
}
