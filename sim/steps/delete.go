package steps

import (
	"fmt"

	"gopkg.in/yaml.v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/scenario"
)

type deleteStep struct{ ref scenario.Ref }

var deleteVerb = scenario.Verb{
	Name:    "delete",
	Doc:     "Delete an object; one that does not exist is no failure.",
	Example: "delete: {ref: {apiVersion: v1, kind: Secret, namespace: shop, name: db}}",
	Decode: func(d *scenario.Decoder, n *yaml.Node) any {
		var s deleteStep
		found := false
		ok := d.Map(n, scenario.Fields{"ref": func(v *yaml.Node) { found = true; s.ref, _ = d.Ref(v) }})
		if ok && !found {
			d.Problemf(n, "delete needs ref:")
		}
		return s
	},
}

func (s deleteStep) run(e *Env) error {
	err := e.API.Delete(s.ref.GVK.GroupKind(), s.ref.Key, client.DeleteOptions{}, cluster.WriteOptions{Manager: scenario.DefaultManager})
	if apierrors.IsNotFound(err) {
		e.note("user", "delete %s: it does not exist", s.ref)
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", s.ref, err)
	}
	return nil
}
