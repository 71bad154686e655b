package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// plain turns a node into the value encoding/json would give, except that whole
// numbers stay whole. Times and binary text stay text, as in JSON.
func (d *Decoder) plain(n *yaml.Node) any {
	n = resolve(n)
	switch n.Kind {
	case yaml.MappingNode:
		return d.plainMap(n)
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			out = append(out, d.plain(item))
		}
		return out
	case yaml.ScalarNode:
		return d.plainScalar(n)
	default:
		return nil
	}
}

func (d *Decoder) plainMap(n *yaml.Node) map[string]any {
	out := map[string]any{}
	d.mapping(n, func(key, value *yaml.Node) {
		if key.Tag == "!!merge" {
			d.merge(out, value)
			return
		}
		out[key.Value] = d.plain(value)
	})
	return out
}

// merge adds the entries of `<<: *base`; entries written out win wherever they stand.
func (d *Decoder) merge(into map[string]any, base *yaml.Node) {
	parts := []*yaml.Node{base}
	if base.Kind == yaml.SequenceNode {
		parts = base.Content
	}
	for _, part := range parts {
		if resolve(part).Kind != yaml.MappingNode {
			d.Problemf(part, "only a mapping can be merged")
			continue
		}
		for key, value := range d.plainMap(resolve(part)) {
			if _, ok := into[key]; !ok {
				into[key] = value
			}
		}
	}
}

func (d *Decoder) plainScalar(n *yaml.Node) any {
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		return n.Value == "true" || n.Value == "True" || n.Value == "TRUE"
	case "!!int":
		i, err := strconv.ParseInt(n.Value, 0, 64)
		if err != nil {
			d.Problemf(n, "number out of range")
			return nil
		}
		return i
	case "!!float":
		f, err := strconv.ParseFloat(n.Value, 64)
		if err != nil {
			d.Problemf(n, "not a number JSON can hold")
			return nil
		}
		return f
	default:
		return n.Value
	}
}

// locate finds the node that a path such as `spec.containers[0].image` leads to,
// or the deepest node on the way that exists: a near place beats none.
func locate(root *yaml.Node, path string) *yaml.Node {
	at := resolve(root)
	for _, step := range splitPath(path) {
		next := child(at, step)
		if next == nil {
			return at
		}
		at = next
	}
	return at
}

// child is the node for one step; for the last step of a mapping it is the key,
// where a reader looks first.
func child(at *yaml.Node, step string) *yaml.Node {
	at = resolve(at)
	if index, err := strconv.Atoi(step); err == nil && at.Kind == yaml.SequenceNode {
		if index < len(at.Content) {
			return resolve(at.Content[index])
		}
		return nil
	}
	if at.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(at.Content); i += 2 {
		if at.Content[i].Value == step {
			value := resolve(at.Content[i+1])
			if value.Kind == yaml.ScalarNode {
				return at.Content[i]
			}
			if len(value.Content) == 0 {
				return at.Content[i]
			}
			return value
		}
	}
	return nil
}

// splitPath cuts `a.b[0].c` into a, b, 0, c.
func splitPath(path string) []string {
	path = strings.ReplaceAll(path, "[", ".")
	path = strings.ReplaceAll(path, "]", "")
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' })
}

// keyNode is the key of a path's last step, or nil.
func keyNode(root *yaml.Node, path string) *yaml.Node {
	steps := splitPath(path)
	if len(steps) == 0 {
		return nil
	}
	parent := locate(root, strings.Join(steps[:len(steps)-1], "."))
	parent = resolve(parent)
	for i := 0; i+1 < len(parent.Content) && parent.Kind == yaml.MappingNode; i += 2 {
		if parent.Content[i].Value == steps[len(steps)-1] {
			return parent.Content[i]
		}
	}
	return nil
}

// lastStep is the field name a path ends in.
func lastStep(path string) string {
	steps := splitPath(path)
	if len(steps) == 0 {
		return ""
	}
	return steps[len(steps)-1]
}

func parentPath(path string) string {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[:i]
	}
	return ""
}

// where says which object a message is about.
func where(kind, namespace, name string) string {
	if namespace == "" {
		return fmt.Sprintf("%s %s", kind, name)
	}
	return fmt.Sprintf("%s %s/%s", kind, namespace, name)
}
