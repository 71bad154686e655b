package report

import (
	"encoding/json"
	"io"
	"time"

	"github.com/corewire/kick/sim/run"
)

// traceJSON is one line of the event log.
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
}

// Trace writes every event of every run, one JSON object a line. Content of
// sources shows as letters, never as values.
func Trace(out io.Writer, results []run.Result) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, r := range results {
		if r.Trail == nil {
			continue
		}
		for _, l := range r.Trail.Lines() {
			err := encoder.Encode(traceJSON{
				Scenario: r.Scenario.Name, Seconds: r.Trail.Since(l.At).Seconds(), At: l.At.UTC(), Actor: l.Actor,
				Manager: l.Manager, Verb: l.Verb, Object: l.Object, Revision: l.Revision, Log: l.Log, Text: l.Text,
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
