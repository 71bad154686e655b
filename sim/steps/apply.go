package steps

import (
	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/scenario"
)

type applyStep struct{ write }

var applyVerb = scenario.Verb{
	Name:    "apply",
	Doc:     "Create an object, or apply it server-side as a field manager (as: NAME, default kubectl).",
	Example: "apply: {resource: {apiVersion: v1, kind: Secret, metadata: {namespace: shop, name: db}, stringData: {password: b}}}",
	Decode: func(d *scenario.Decoder, n *yaml.Node) any {
		return applyStep{decodeWrite(d, n, nil)}
	},
}

func (s applyStep) run(e *Env) error {
	return s.each("apply", func(r scenario.Resource, o cluster.WriteOptions) error {
		return Apply(e.API, r, o.Manager)
	})
}

// Apply is `kubectl apply --server-side --force-conflicts`.
func Apply(api API, r scenario.Resource, manager string) error {
	_, err := api.Patch(r.GVK.GroupKind(), r.Key, types.ApplyPatchType, r.JSON, cluster.WriteOptions{Manager: manager, Force: true})
	return err
}
