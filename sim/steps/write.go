package steps

import (
	"fmt"
	"maps"

	"gopkg.in/yaml.v3"

	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/scenario"
)

// write is what apply, create, update and patch have in common: objects, and who
// writes them.
type write struct {
	resources   []scenario.Resource
	manager     string
	subresource string
}

// decodeWrite reads {resource|file, as} and the verb's own fields.
func decodeWrite(d *scenario.Decoder, n *yaml.Node, more func(*write) scenario.Fields) write {
	w := write{manager: scenario.DefaultManager}
	fields := scenario.Fields{"as": d.StringField(&w.manager)}
	if more != nil {
		maps.Copy(fields, more(&w))
	}
	w.resources = d.Source(n, fields, true)
	return w
}

// each carries out one write per object and says which one failed.
func (w write) each(verb string, do func(scenario.Resource, cluster.WriteOptions) error) error {
	options := cluster.WriteOptions{Manager: w.manager, Subresource: w.subresource}
	for _, r := range w.resources {
		if err := do(r, options); err != nil {
			return fmt.Errorf("%s %s: %w", verb, r, err)
		}
	}
	return nil
}
