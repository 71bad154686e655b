package steps

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/scenario"
)

// decodePattern reads a pattern object and refuses what only Chainsaw can do.
func decodePattern(d *scenario.Decoder, n *yaml.Node) (scenario.Resource, bool) {
	if refuseExpressions(d, n) {
		return scenario.Resource{}, false
	}
	return d.Resource(n, false)
}

// refuseExpressions notes every JMESPath key: without them a pattern could be
// taken for one that holds.
func refuseExpressions(d *scenario.Decoder, n *yaml.Node) bool {
	found := false
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i]; strings.HasPrefix(key.Value, "(") {
				d.Problemf(key, "key %q is a JMESPath expression: the simulator matches plain fields only", key.Value)
				found = true
			}
		}
	}
	for _, child := range n.Content {
		found = refuseExpressions(d, child) || found
	}
	return found
}

// find returns the first stored object that matches a pattern, and otherwise the
// least difference to any candidate.
func find(api API, pattern scenario.Resource) (client.Object, []string) {
	var nearest []string
	candidates := candidates(api, pattern)
	for i, object := range candidates {
		differences := compare(pattern, object)
		if len(differences) == 0 {
			return object, nil
		}
		if i == 0 || len(differences) < len(nearest) {
			nearest = differences
		}
	}
	if len(candidates) == 0 {
		return nil, []string{"no such object exists"}
	}
	return nil, nearest
}

func candidates(api API, pattern scenario.Resource) []client.Object {
	if pattern.Key.Name == "" {
		return api.List(pattern.GVK.GroupKind(), pattern.Key.Namespace)
	}
	if object := api.Get(pattern.GVK.GroupKind(), pattern.Key); object != nil {
		return []client.Object{object}
	}
	return nil
}

// compare lists where an object differs from a pattern, at most three places.
func compare(pattern scenario.Resource, object client.Object) []string {
	have, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return []string{err.Error()}
	}
	return differences(pattern, have)
}

func differences(pattern scenario.Resource, have map[string]any) []string {
	want := maps.Clone(pattern.Data)
	// Stored objects carry no apiVersion and kind; the kind was looked up by them.
	delete(want, "apiVersion")
	delete(want, "kind")
	m := matcher{secret: pattern.GVK.Kind == "Secret" || pattern.GVK.Kind == "ConfigMap"}
	m.value("", want, have)
	return m.differences
}

// matcher compares as Chainsaw does: maps are subsets, lists are equal in length
// and match by index, scalars are equal.
type matcher struct {
	secret      bool
	differences []string
}

func (m *matcher) differ(path, format string, args ...any) {
	if len(m.differences) < 3 {
		m.differences = append(m.differences, strings.TrimPrefix(path, ".")+": "+fmt.Sprintf(format, args...))
	}
}

func (m *matcher) value(path string, want, have any) {
	switch want := want.(type) {
	case map[string]any:
		m.mapping(path, want, have)
	case []any:
		m.list(path, want, have)
	default:
		m.scalar(path, want, have)
	}
}

func (m *matcher) mapping(path string, want map[string]any, have any) {
	there, ok := have.(map[string]any)
	if !ok && len(want) > 0 {
		m.differ(path, "is not there")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, ok := there[key]
		switch {
		case ok:
			m.value(path+"."+key, want[key], value)
		case want[key] != nil: // null asks for a field that is not there
			m.differ(path+"."+key, "is not there")
		}
	}
}

func (m *matcher) list(path string, want []any, have any) {
	there, _ := have.([]any)
	if len(there) != len(want) {
		m.differ(path, "has %d items, want %d", len(there), len(want))
		return
	}
	for i := range want {
		m.value(fmt.Sprintf("%s[%d]", path, i), want[i], there[i])
	}
}

func (m *matcher) scalar(path string, want, have any) {
	if equalScalar(want, have) {
		return
	}
	if m.secret && (strings.HasPrefix(path, ".data") || strings.HasPrefix(path, ".stringData") || strings.HasPrefix(path, ".binaryData")) {
		m.differ(path, "another value")
		return
	}
	m.differ(path, "is %s, want %s", show(have), show(want))
}

// equalScalar compares numbers by value: 1 and 1.0 are equal.
func equalScalar(want, have any) bool {
	if a, ok := number(want); ok {
		b, ok := number(have)
		return ok && a == b
	}
	switch have.(type) {
	case map[string]any, []any:
		return false
	}
	return want == have
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	default:
		return 0, false
	}
}

func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "not set"
	case string:
		return v
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	default:
		return fmt.Sprint(v)
	}
}
