package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/steps"
)

// lists maps what can be listed to its printer.
var lists = map[string]func(Program){
	"steps": func(p Program) {
		for _, v := range steps.All() {
			entry(p.Stdout, v.Name, v.Doc)
			_, _ = fmt.Fprintf(p.Stdout, "%18s- %s\n", "", v.Example)
		}
	},
	"faults": func(p Program) {
		for _, f := range p.Faults {
			entry(p.Stdout, f.Name, f.Doc)
		}
	},
	"checks": func(p Program) {
		for _, l := range check.All() {
			_, _ = fmt.Fprintf(p.Stdout, "%s\n    %s\n", l.Name, l.Doc)
		}
	},
	"marks": func(p Program) {
		for _, m := range mark.All() {
			_, _ = fmt.Fprintf(p.Stdout, "%-34s  %s\n", m.Name, m.Says)
		}
	},
}

func entry(out io.Writer, name, doc string) { _, _ = fmt.Fprintf(out, "%-16s  %s\n", name, doc) }

func newList(p Program) *cobra.Command {
	names := []string{"steps", "faults", "checks", "marks"}
	return &cobra.Command{
		Use:       "list " + strings.Join(names, "|"),
		Short:     "List the verbs of steps, the faults, the laws that are checked, or the marks a campaign must reach",
		ValidArgs: names,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || lists[args[0]] == nil {
				return exitError{exitUnusable, "kick-sim: list what? " + strings.Join(names, ", ")}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			lists[args[0]](p)
			return nil
		},
	}
}
