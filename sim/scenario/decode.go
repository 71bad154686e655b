package scenario

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Decoder reads values out of YAML nodes and notes every problem with its place.
// A reading method that meets a mistake notes it and leaves its target alone, so
// that one pass finds all mistakes of a file.
type Decoder struct {
	parser   *Parser
	file     string
	problems *Problems
}

// Fields maps the names a mapping may have to the readers of their values.
type Fields map[string]func(*yaml.Node)

// Problemf notes a mistake at a node.
func (d *Decoder) Problemf(n *yaml.Node, format string, args ...any) {
	*d.problems = append(*d.problems, Problem{Position: d.Position(n), Message: fmt.Sprintf(format, args...)})
}

// Position is where a node stands.
func (d *Decoder) Position(n *yaml.Node) Position {
	if n == nil {
		return Position{File: d.file}
	}
	return Position{File: d.file, Line: n.Line, Col: n.Column}
}

// Path resolves a file name relative to the file being read.
func (d *Decoder) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(d.file), name)
}

// Map reads a mapping; fields not listed are problems. It reports whether the
// node is a mapping at all.
func (d *Decoder) Map(n *yaml.Node, fields Fields) bool {
	return d.mapping(n, func(key, value *yaml.Node) {
		if read, ok := fields[key.Value]; ok {
			read(value)
			return
		}
		d.Problemf(key, "unknown field %q%s", key.Value, suggest(key.Value, names(fields)))
	})
}

// mapping calls each for every entry of a mapping and notes repeated keys.
func (d *Decoder) mapping(n *yaml.Node, each func(key, value *yaml.Node)) bool {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		d.Problemf(n, "expected a mapping, found %s", describe(n))
		return false
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if line, ok := seen[key.Value]; ok {
			d.Problemf(key, "field %q stands here and in line %d", key.Value, line)
			continue
		}
		seen[key.Value] = key.Line
		each(key, resolve(n.Content[i+1]))
	}
	return true
}

// List calls each for every item of a sequence.
func (d *Decoder) List(n *yaml.Node, each func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		d.Problemf(n, "expected a list, found %s", describe(n))
		return
	}
	for _, item := range n.Content {
		each(resolve(item))
	}
}

// String reads a scalar as text.
func (d *Decoder) String(n *yaml.Node, into *string) bool {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		d.Problemf(n, "expected text, found %s", describe(n))
		return false
	}
	*into = n.Value
	return true
}

// StringField is a reader of a text field.
func (d *Decoder) StringField(into *string) func(*yaml.Node) {
	return func(n *yaml.Node) { d.String(n, into) }
}

// StringsField is a reader of a list of texts.
func (d *Decoder) StringsField(into *[]string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		d.List(n, func(item *yaml.Node) {
			var s string
			if d.String(item, &s) {
				*into = append(*into, s)
			}
		})
	}
}

// BoolField is a reader of true or false.
func (d *Decoder) BoolField(into *bool) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
			d.Problemf(n, "expected true or false, found %s", describe(n))
			return
		}
		*into = n.Value == "true"
	}
}

// IntField is a reader of a whole number not below lowest.
func (d *Decoder) IntField(into *int, lowest int) func(*yaml.Node) {
	return func(n *yaml.Node) { d.Int(n, into, lowest) }
}

// Int reads a whole number not below lowest.
func (d *Decoder) Int(n *yaml.Node, into *int, lowest int) bool {
	i, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		d.Problemf(n, "expected a whole number, found %s", describe(n))
		return false
	}
	if i < lowest {
		d.Problemf(n, "%d is too small, the least is %d", i, lowest)
		return false
	}
	*into = i
	return true
}

// DurationField is a reader of a duration that is not negative.
func (d *Decoder) DurationField(into *time.Duration) func(*yaml.Node) {
	return func(n *yaml.Node) { d.Duration(n, into) }
}

// Duration reads a duration that is not negative.
func (d *Decoder) Duration(n *yaml.Node, into *time.Duration) bool {
	var v time.Duration
	if !d.SignedDuration(n, &v) {
		return false
	}
	if v < 0 {
		d.Problemf(n, "duration %s is negative", n.Value)
		return false
	}
	*into = v
	return true
}

// SignedDuration reads a duration of either sign.
func (d *Decoder) SignedDuration(n *yaml.Node, into *time.Duration) bool {
	if n.Kind != yaml.ScalarNode {
		d.Problemf(n, "expected a duration such as 90s or 1h30m, found %s", describe(n))
		return false
	}
	v, err := time.ParseDuration(n.Value)
	if err != nil {
		d.Problemf(n, "bad duration %q: write it like 500ms, 90s or 1h30m%s", n.Value, durationHint(n.Value))
		return false
	}
	*into = v
	return true
}

// durationHint names the two mistakes people make most.
func durationHint(s string) string {
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return fmt.Sprintf(" (the unit is missing: %ss?)", s)
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil {
			return fmt.Sprintf(" (days are not a unit: %dh?)", 24*n)
		}
	}
	return ""
}

// TimeField is a reader of an instant in RFC 3339.
func (d *Decoder) TimeField(into *time.Time) func(*yaml.Node) {
	return func(n *yaml.Node) {
		t, err := time.Parse(time.RFC3339Nano, n.Value)
		if n.Kind != yaml.ScalarNode || err != nil {
			d.Problemf(n, "bad time %q: write it like 2026-03-01T12:00:00Z (RFC 3339, fractions allowed)", n.Value)
			return
		}
		*into = t.UTC()
	}
}

// OneOf reads a text that must be one of the choices.
func (d *Decoder) OneOf(n *yaml.Node, into *string, what string, choices []string) bool {
	var s string
	if !d.String(n, &s) {
		return false
	}
	if !slices.Contains(choices, s) {
		d.Problemf(n, "unknown %s %q%s (one of %s)", what, s, suggest(s, choices), strings.Join(choices, ", "))
		return false
	}
	*into = s
	return true
}

// resolve follows an alias to what it stands for.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return "nothing"
		}
		return strconv.Quote(n.Value)
	default:
		return "nothing"
	}
}

func names[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
