package steps

import (
	"gopkg.in/yaml.v3"

	"github.com/corewire/kick/sim/scenario"
)

type healStep struct{}

var healVerb = scenario.Verb{
	Name:    "heal",
	Doc:     "End all faults and bring every replica of the operator back.",
	Example: "heal: {}",
	Decode: func(d *scenario.Decoder, n *yaml.Node) any {
		d.Map(n, scenario.Fields{})
		return healStep{}
	},
}

func (healStep) run(e *Env) error {
	e.note("user", "all faults end")
	e.Operator.Heal()
	return nil
}
