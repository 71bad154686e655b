package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

type object = map[string]any

const aDuration = `([0-9]+(\.[0-9]+)?(ms|s|m|h))+`

// words are short names of schemas.
var words = map[string]object{
	"duration":         {"type": "string", "pattern": "^" + aDuration + "$"},
	"optionalDuration": {"type": "string", "pattern": "^(" + aDuration + ")?$"},
	"map":              {"type": "object", "additionalProperties": object{"type": "string"}},
	"strings":          {"type": "array", "items": object{"type": "string", "minLength": 1}},
	"namespaces":       {"type": "array", "items": object{"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"}},
	"objects":          {"type": "array", "items": object{"type": "object"}},
}

// kinds are the Kubernetes types that values may have. Their schemas are made of the
// Go types, so that a typo in an affinity fails as early as one in a value's name.
var kinds = map[string]reflect.Type{}

func init() {
	for _, o := range []any{
		corev1.ResourceRequirements{}, corev1.PodSecurityContext{}, corev1.SecurityContext{}, corev1.Affinity{}, corev1.Toleration{},
		corev1.TopologySpreadConstraint{}, corev1.EnvVar{}, corev1.EnvFromSource{}, corev1.Volume{}, corev1.VolumeMount{},
		networkingv1.NetworkPolicyPeer{}, networkingv1.NetworkPolicyEgressRule{},
	} {
		t := reflect.TypeOf(o)
		kinds[t.Name()] = t
	}
}

// schemaOf is the JSON schema of the values: nothing that is not in values.yaml may be
// set.
func schemaOf(values []value) (string, error) {
	definitions := definitions{}
	root, err := definitions.section(values)
	if err != nil {
		return "", err
	}
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = "Values of the chart kick"
	root["definitions"] = definitions
	text, err := json.MarshalIndent(root, "", "  ")
	return string(text) + "\n", err
}

// definitions are the schemas of Kubernetes types, by name.
type definitions map[string]object

func (d definitions) section(values []value) (object, error) {
	properties := object{}
	for i := range values {
		s, err := d.of(&values[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", values[i].path, err)
		}
		properties[values[i].key] = s
	}
	return object{"type": "object", "additionalProperties": false, "properties": properties}, nil
}

// of is the schema of one value or section.
func (d definitions) of(v *value) (object, error) {
	s, err := d.form(v)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(v.schema, "{") {
		if err := json.Unmarshal([]byte(v.schema), &s); err != nil {
			return nil, fmt.Errorf("@schema: %w", err)
		}
	}
	if s["type"] == nil && s["$ref"] == nil {
		return nil, fmt.Errorf("its type does not follow from its default: add a comment @schema, with one of the words of charts/generate/schema.go or a JSON schema")
	}
	if v.about != "" && s["$ref"] == nil {
		s["description"] = v.about
	}
	return s, nil
}

// form is what a value may look like by its children, its comment or its default.
func (d definitions) form(v *value) (object, error) {
	list, isList := strings.CutPrefix(v.schema, "[]")
	switch {
	case v.children != nil:
		return d.section(v.children)
	case kinds[v.schema] != nil:
		return d.kind(kinds[v.schema]), nil
	case isList && kinds[list] != nil:
		return object{"type": "array", "items": d.kind(kinds[list])}, nil
	case words[v.schema] != nil:
		return maps.Clone(words[v.schema]), nil
	}
	return object{"type": scalar(v.node)}, nil
}

// scalar is the type of a default that is neither map nor list, else nil.
func scalar(n *yaml.Node) any {
	switch n.Tag {
	case "!!str":
		return "string"
	case "!!bool":
		return "boolean"
	case "!!int":
		return "integer"
	default:
		return nil
	}
}
