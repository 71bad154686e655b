package steps

import (
	"time"

	"gopkg.in/yaml.v3"

	"github.com/corewire/kick/sim/scenario"
)

type advanceStep struct{ by time.Duration }

// Passes tells the parser how much time a step surely takes.
func (s advanceStep) Passes() time.Duration { return s.by }

var advanceVerb = scenario.Verb{
	Name:    "advance",
	Doc:     "Let virtual time pass.",
	Example: "advance: 1h",
	Decode: func(d *scenario.Decoder, n *yaml.Node) any {
		var s advanceStep
		d.Duration(n, &s.by)
		return s
	},
}

func (s advanceStep) run(e *Env) error {
	e.Loop.RunUntil(e.Loop.Now().Add(s.by))
	return nil
}
