package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/yaml"

	"github.com/corewire/kick/kick/model/request"
)

// forms are what --output may be for each command, besides nothing.
var forms = map[string][]string{
	"why": {"json", "yaml"}, "tree": {"json", "yaml"}, "events": {"json", "yaml"}, "windows": {"json", "yaml"}, "check": {"json", "yaml"},
	"report": {"json", "yaml"}, "version": {"json", "yaml"}, "list": {"json", "yaml", "name", "wide"}, "status": {"json", "yaml", "name", "wide"},
	"plan": {"json", "yaml", "name", "wide"}, "now": {"json", "yaml", "name"}, "suspend": {"json", "yaml", "name"}, "resume": {"json", "yaml", "name"},
}

// known refuses a form of output that a command does not have, before anything is done.
func (a *app) known(c *cobra.Command) error {
	if may := forms[c.Name()]; a.output != "" && !slices.Contains(may, a.output) {
		return usageError{fmt.Errorf("--output %q: %s knows %s", a.output, c.CommandPath(), cmp.Or(strings.Join(may, ", "), "none"))}
	}
	return nil
}

// structured prints data for programs, if that was asked for. What is printed again and
// again is a stream of documents.
func (a *app) structured(data any) (done bool, err error) {
	var raw []byte
	switch a.output {
	case "json":
		raw, err = json.MarshalIndent(data, "", "  ")
		raw = append(raw, '\n')
	case "yaml":
		raw, err = yaml.Marshal(data)
		if a.watch {
			raw = append([]byte("---\n"), raw...)
		}
	default:
		return false, nil
	}
	if err == nil {
		_, err = a.Stdout.Write(raw)
	}
	return true, err
}

// table prints rows in columns; the last columns are shown with -o wide only.
func (a *app) table(head []string, wide int, rows [][]string) error {
	columns := len(head)
	if a.output != "wide" {
		columns -= wide
	}
	all, widths := append([][]string{head}, rows...), make([]int, columns)
	for _, row := range all {
		for i := range columns {
			row[i] = cmp.Or(row[i], "-")
			widths[i] = max(widths[i], seen(row[i]))
		}
	}
	var out strings.Builder
	for _, row := range all {
		for i, cell := range row[:columns] {
			if out.WriteString(cell); i < columns-1 {
				out.WriteString(strings.Repeat(" ", widths[i]-seen(cell)+3))
			}
		}
		out.WriteString("\n")
	}
	_, err := io.WriteString(a.Stdout, out.String())
	return err
}

// plain is a text that came from the cluster, for a terminal: what people and other tools
// have written is shown in one line and steers nothing.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// plural is the end of a word for a number of things.
func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// colours are the marks of paint, which take no room.
var colours = regexp.MustCompile("\x1b\\[[0-9]+m")

// seen is how wide a text is on a terminal.
func seen(text string) int { return utf8.RuneCountInString(colours.ReplaceAllString(text, "")) }

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
