package steps

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/corewire/kick/sim/scenario"
)

type errorStep struct{ pattern scenario.Resource }

var errorVerb = scenario.Verb{
	Name:    "error",
	Doc:     "No object matches now.",
	Example: "error: {resource: {apiVersion: kick.corewire.io/v1alpha1, kind: KickRequest, metadata: {namespace: shop, name: deployment-web}}}",
	Decode: func(d *scenario.Decoder, n *yaml.Node) any {
		var s errorStep
		found := false
		ok := d.Map(n, scenario.Fields{
			"resource": func(v *yaml.Node) { found = true; s.pattern, _ = decodePattern(d, v) },
		})
		if ok && !found {
			d.Problemf(n, "error needs resource:")
		}
		return s
	},
}

func (s errorStep) run(e *Env) error {
	if found, _ := find(e.API, s.pattern); found != nil {
		return fmt.Errorf("error: %s %s/%s matches, and nothing should", s.pattern.GVK.Kind, found.GetNamespace(), found.GetName())
	}
	return nil
}
