package scenario

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Encoder is what the action of a step must be for its scenario to be written:
// Encode returns the argument of the verb as Decode reads it, made of Pairs, texts,
// numbers, truth values, durations, Resources and Refs.
type Encoder interface{ Encode() any }

// Splitter is an action that does several things in a row, such as writing all
// objects of a manifest. Each part is written as a step of its own.
type Splitter interface{ Split() []any }

// Pair is one field of a mapping.
type Pair struct {
	Name  string
	Value any
}

// Pairs is a mapping whose fields are written in this order.
type Pairs []Pair

// With adds a field unless it holds its zero value, which means its default.
func With[T comparable](p Pairs, name string, value T) Pairs {
	var zero T
	if value == zero {
		return p
	}
	return append(p, Pair{name, value})
}

// node turns a value into YAML.
func node(value any) (*yaml.Node, error) {
	switch v := value.(type) {
	case nil:
		return scalar("!!null", "null"), nil
	case Pairs:
		return pairsNode(v)
	case Resource:
		data, err := v.plain()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v, err)
		}
		return node(data)
	case Ref:
		apiVersion, kind := v.GVK.ToAPIVersionAndKind()
		return node(With(With(Pairs{{"apiVersion", apiVersion}, {"kind", kind}}, "namespace", v.Key.Namespace), "name", v.Key.Name))
	case map[string]any:
		return mapNode(v)
	case []any:
		return listNode(v)
	case []string:
		return listNode(anys(v))
	default:
		return scalarNode(v)
	}
}

func scalarNode(value any) (*yaml.Node, error) {
	switch v := value.(type) {
	case string:
		return scalar("!!str", v), nil
	case bool:
		return scalar("!!bool", strconv.FormatBool(v)), nil
	case int, int32, int64, uint64:
		return scalar("!!int", fmt.Sprint(v)), nil
	case float64:
		return scalar("!!float", strconv.FormatFloat(v, 'g', -1, 64)), nil
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return scalar("!!int", v.String()), nil
		}
		return scalar("!!float", v.String()), nil
	case time.Duration:
		return scalar("!!str", duration(v)), nil
	case time.Time:
		return scalar("!!str", v.UTC().Format(time.RFC3339Nano)), nil
	default:
		return nil, fmt.Errorf("a %T cannot be written as YAML", value)
	}
}

func scalar(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

func pairsNode(pairs Pairs) (*yaml.Node, error) {
	out := &yaml.Node{Kind: yaml.MappingNode}
	for _, p := range pairs {
		value, err := node(p.Value)
		if err != nil {
			return nil, err
		}
		out.Content = append(out.Content, scalar("!!str", p.Name), value)
	}
	return out, nil
}

func listNode(list []any) (*yaml.Node, error) {
	out := &yaml.Node{Kind: yaml.SequenceNode}
	for _, item := range list {
		value, err := node(item)
		if err != nil {
			return nil, err
		}
		out.Content = append(out.Content, value)
	}
	return out, nil
}

// firstFields come first in a mapping, in this order; all others follow by name.
var firstFields = []string{
	"apiVersion", "kind", "metadata", "name", "namespace", "labels", "annotations", "image",
	"type", "immutable", "cron", "suspend", "dryRun", "replicas", "selector", "spec",
}

func mapNode(m map[string]any) (*yaml.Node, error) {
	rank := func(field string) int {
		if i := slices.Index(firstFields, field); i >= 0 {
			return i
		}
		return len(firstFields)
	}
	fields := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	pairs := make(Pairs, len(fields))
	for i, field := range fields {
		pairs[i] = Pair{field, m[field]}
	}
	return pairsNode(pairs)
}

// duration is a Go duration without the zeros at its end.
func duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, item := range list {
		out[i] = item
	}
	return out
}
