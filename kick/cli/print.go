package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/yaml"

	"github.com/corewire/kick/kick/model/request"
)

// structured prints data for programs, if that was asked for.
func (a *app) structured(data any) (done bool, err error) {
	var raw []byte
	switch a.output {
	case "json":
		raw, err = json.MarshalIndent(data, "", "  ")
		raw = append(raw, '\n')
	case "yaml":
		raw, err = yaml.Marshal(data)
	case "", "wide", "name":
		return false, nil
	default:
		return true, usageError{fmt.Errorf("--output %q: use json, yaml, name or wide", a.output)}
	}
	if err == nil {
		_, err = a.Stdout.Write(raw)
	}
	return true, err
}

// table prints rows in columns; the last columns are shown with -o wide only.
func (a *app) table(head []string, wide int, rows [][]string) error {
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 3, ' ', 0)
	columns := len(head)
	if a.output != "wide" {
		columns -= wide
	}
	for _, row := range append([][]string{head}, rows...) {
		cells := make([]string, columns)
		for i := range cells {
			if cells[i] = row[i]; cells[i] == "" {
				cells[i] = "-"
			}
		}
		_, _ = io.WriteString(w, strings.Join(cells, "\t")+"\n")
	}
	return w.Flush()
}

// age is how long ago something was; empty: never.
func (a *app) age(now, at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return duration.HumanDuration(now.Sub(at))
}

// colours of a phase: done, under way, needs somebody.
const (
	green  = "32"
	yellow = "33"
	red    = "31"
)

// paint marks a phase by colour. The word itself says the same.
func (a *app) paint(phase request.Phase, text string) string {
	colour := yellow
	switch {
	case phase == request.Failed:
		colour = red
	case phase.Terminal():
		colour = green
	}
	if !a.Color {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}
