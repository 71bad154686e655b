package steps

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/corewire/kick/sim/scenario"
)

type crashAtWriteStep struct {
	n      int
	landed bool
}

var crashAtWriteVerb = scenario.Verb{
	Name:    "crashAtWrite",
	Doc:     "Kill the operator around its n-th API write from now; the write did or did not land.",
	Example: "crashAtWrite: {n: 3, landed: true}",
	Decode: func(d *scenario.Decoder, n *yaml.Node) any {
		s := crashAtWriteStep{n: 1, landed: true}
		d.Map(n, scenario.Fields{"n": d.IntField(&s.n, 1), "landed": d.BoolField(&s.landed)})
		return s
	},
}

func (s crashAtWriteStep) run(e *Env) error {
	outcome := "lost"
	if s.landed {
		outcome = "landed"
	}
	e.note("fault", "kick will be killed at write %d from now, that write %s", s.n, outcome)
	e.promise(fmt.Sprintf("crashAtWrite: kick never came to write %d after it", s.n)).crash = true
	e.Operator.CrashAtWrite(s.n, s.landed)
	return nil
}
