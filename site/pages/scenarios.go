package pages

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/steps"
)

// scenarios lists what scenarios are made of.
func scenarios(fs.FS) (string, error) {
	var b strings.Builder
	b.WriteString(note("What scenarios are made of", "The verbs of steps, the faults and the laws of the simulator, as `kick-sim list` prints them. [scenarios.md](../scenarios.md) explains the file around them."))
	b.WriteString("\n## Verbs of steps\n\n| verb | what it does | example |\n|---|---|---|\n")
	for _, v := range steps.All() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", code(v.Name), cell(v.Doc), code(paragraph(v.Example)))
	}
	places := map[faults.Place]string{faults.Call: "a call", faults.Watch: "a watch", faults.Start: "a start"}
	b.WriteString("\n## Faults\n\nEach has a licence: something in a real cluster that permits it.\n\n| fault | befalls | what happens | licence |\n|---|---|---|---|\n")
	for _, f := range faults.All {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", code(f.Name), places[f.Place], cell(f.Doc), cell(f.Licence))
	}
	b.WriteString("\n## Laws\n\nChecked in every run, whatever the file expects.\n\n| law | what it says |\n|---|---|\n")
	for _, l := range check.All() {
		fmt.Fprintf(&b, "| %s | %s |\n", cell(l.Name), cell(l.Doc))
	}
	return b.String(), nil
}
