package steps

import (
	"gopkg.in/yaml.v3"

	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/scenario"
)

type updateStep struct{ write }

var updateVerb = scenario.Verb{
	Name:    "update",
	Doc:     "Replace an object by the one given (subresource: status replaces the status).",
	Example: "update: {resource: {...}, as: helm}",
	Decode: func(d *scenario.Decoder, n *yaml.Node) any {
		return updateStep{decodeWrite(d, n, func(w *write) scenario.Fields {
			return scenario.Fields{"subresource": d.StringField(&w.subresource)}
		})}
	},
}

func (s updateStep) run(e *Env) error {
	return s.each("update", func(r scenario.Resource, o cluster.WriteOptions) error {
		object := r.Copy()
		// A client that replaces an object has just read it: some kinds refuse an
		// update without a version.
		if stored := e.API.Get(r.GVK.GroupKind(), r.Key); stored != nil && object.GetResourceVersion() == "" {
			object.SetResourceVersion(stored.GetResourceVersion())
		}
		_, err := e.API.Update(object, o)
		return err
	})
}
