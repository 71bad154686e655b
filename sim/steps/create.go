package steps

import (
	"gopkg.in/yaml.v3"

	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/scenario"
)

type createStep struct{ write }

var createVerb = scenario.Verb{
	Name:    "create",
	Doc:     "Create an object; it is a failure if it exists.",
	Example: "create: {file: manifests/web.yaml}",
	Decode: func(d *scenario.Decoder, n *yaml.Node) any {
		return createStep{decodeWrite(d, n, nil)}
	},
}

func (s createStep) run(e *Env) error {
	return s.each("create", func(r scenario.Resource, o cluster.WriteOptions) error {
		_, err := e.API.Create(r.Copy(), o)
		return err
	})
}
