package cli

import (
	"strings"

	"github.com/corewire/kick/sim/engine"
	faultlist "github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
)

// newOperator is the operator kick-sim runs: KICK's own controllers on virtual time.
var newOperator run.OperatorFactory = engine.New

// faults lists what scenarios may name in a step fault, and what permits it in the
// real world.
func faults() []scenario.Fault {
	out := make([]scenario.Fault, 0, len(faultlist.All))
	for _, f := range faultlist.All {
		out = append(out, scenario.Fault{Name: f.Name, Doc: f.Doc + "\n" + strings.Repeat(" ", 18) + "- " + f.Licence})
	}
	return out
}
