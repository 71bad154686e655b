package steps

import (
	"time"

	"gopkg.in/yaml.v3"

	"github.com/corewire/kick/sim/scenario"
)

type settleStep struct{ most time.Duration }

var settleVerb = scenario.Verb{
	Name:    "settle",
	Doc:     "Run until no event or timer is due within this time, at most this long.",
	Example: "settle: 30m",
	Decode: func(d *scenario.Decoder, n *yaml.Node) any {
		var s settleStep
		d.Duration(n, &s.most)
		return s
	},
}

func (s settleStep) run(e *Env) error {
	e.Settle(s.most)
	return nil
}
