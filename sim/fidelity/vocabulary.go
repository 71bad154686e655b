package fidelity

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

//go:embed vocabulary.yaml
var vocabularyYAML []byte

// vocabulary is all that operations say, in the order of the file.
type vocabulary struct {
	Meta  map[string][]json.RawMessage `json:"meta"`
	Kinds []*kind                      `json:"kinds"`
}

// kind is what operations say about one kind of object.
type kind struct {
	Kind      string                       `json:"kind"`
	Group     string                       `json:"group,omitempty"`
	Cluster   bool                         `json:"cluster,omitempty"`
	Weight    int                          `json:"weight"`
	Base      json.RawMessage              `json:"base"`
	Parts     map[string][]json.RawMessage `json:"parts"`
	Status    map[string][]json.RawMessage `json:"status,omitempty"`
	Strategic []json.RawMessage            `json:"strategic,omitempty"`

	main, meta, status []part
}

// part is one place in an object and a value for it; null removes.
type part struct {
	path  string // a JSON pointer
	value string // JSON
}

// words is the vocabulary, read once.
var words = read()

// read panics on a broken file: that is a mistake of the program.
func read() *vocabulary {
	v := &vocabulary{}
	if err := yaml.Unmarshal(vocabularyYAML, v); err != nil {
		panic(fmt.Sprintf("vocabulary.yaml: %v", err))
	}
	for _, k := range v.Kinds {
		k.main, k.meta, k.status = parts(k.Parts), parts(v.Meta), parts(k.Status)
	}
	return v
}

// parts lists places and values in a fixed order.
func parts(from map[string][]json.RawMessage) []part {
	var out []part
	for _, path := range slices.Sorted(maps.Keys(from)) {
		for _, value := range from[path] {
			out = append(out, part{path, string(value)})
		}
	}
	return out
}

// kindNamed finds a kind of the vocabulary.
func kindNamed(name string) *kind {
	for _, k := range words.Kinds {
		if k.Kind == name {
			return k
		}
	}
	panic("vocabulary.yaml says nothing of kind " + name)
}

// gvk is the version that is spoken: v1, but for KICK's own kinds.
func (k *kind) gvk() schema.GroupVersionKind {
	version := "v1"
	if strings.Contains(k.Group, ".") {
		version = "v1alpha1"
	}
	return schema.GroupVersionKind{Group: k.Group, Version: version, Kind: k.Kind}
}

// Kinds lists the kinds that operations touch.
func Kinds() []schema.GroupVersionKind {
	out := make([]schema.GroupVersionKind, 0, len(words.Kinds))
	for _, k := range words.Kinds {
		out = append(out, k.gvk())
	}
	return out
}

// unescape reads one segment of a JSON pointer.
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// put writes the value of a part into an object, making what is on the way. It
// leaves the object where something else is in the way.
func put(object map[string]any, p part) {
	segments := strings.Split(strings.TrimPrefix(p.path, "/"), "/")
	for _, s := range segments[:len(segments)-1] {
		next, ok := object[unescape.Replace(s)].(map[string]any)
		if !ok {
			if object[unescape.Replace(s)] != nil {
				return
			}
			next = map[string]any{}
			object[unescape.Replace(s)] = next
		}
		object = next
	}
	object[unescape.Replace(segments[len(segments)-1])] = json.RawMessage(p.value)
}

// fragment is the object that holds nothing but some parts.
func fragment(chosen []part) map[string]any {
	out := map[string]any{}
	for _, p := range chosen {
		put(out, p)
	}
	return out
}

// prune drops the nulls from an object: in one that is created or applied, a null
// is stored as such for a while, which no Go type shows.
func prune(object map[string]any) map[string]any {
	for key, value := range object {
		switch v := value.(type) {
		case map[string]any:
			prune(v)
		case json.RawMessage:
			if string(v) == "null" {
				delete(object, key)
			}
		}
	}
	return object
}

// text is JSON with sorted keys.
func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("a vocabulary that is not JSON: %v", err))
	}
	return string(raw)
}

// pruneEmpty drops the empty lists and maps from the metadata of an object, for the same
// reason.
func pruneEmpty(object map[string]any) map[string]any {
	said, _ := object["metadata"].(map[string]any)
	for key, value := range said {
		if raw := text(value); raw == "[]" || raw == "{}" {
			delete(said, key)
		}
	}
	return object
}
