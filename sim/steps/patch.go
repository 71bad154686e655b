package steps

import (
	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/scenario"
)

type patchStep struct{ write }

var patchVerb = scenario.Verb{
	Name:    "patch",
	Doc:     "Merge-patch the named object; null removes a field; subresource: status is allowed.",
	Example: "patch: {resource: {apiVersion: apps/v1, kind: Deployment, metadata: {namespace: shop, name: web}, spec: {replicas: 3}}}",
	Decode: func(d *scenario.Decoder, n *yaml.Node) any {
		return patchStep{decodeWrite(d, n, func(w *write) scenario.Fields {
			return scenario.Fields{"subresource": d.StringField(&w.subresource)}
		})}
	},
}

func (s patchStep) run(e *Env) error {
	return s.each("patch", func(r scenario.Resource, o cluster.WriteOptions) error {
		_, err := e.API.Patch(r.GVK.GroupKind(), r.Key, types.MergePatchType, r.JSON, o)
		return err
	})
}
