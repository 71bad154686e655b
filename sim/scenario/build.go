package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/clock"
)

// New returns an empty scenario with every field that has a default set to it.
func New(name string) Scenario {
	return Scenario{
		Name: name, Start: DefaultStart, Seed: DefaultSeed,
		Operator: Operator{Replicas: 1},
		World:    World{PodStart: DefaultPodStart, ClockSkew: map[clock.Domain]time.Duration{}},
		Expect:   Expect{Settle: DefaultSettle, Restarts: map[string]Range{}, Requests: map[string]string{}},
	}
}

// NewResource returns the resource that writes a typed object. The object must
// carry its apiVersion and kind, and belongs to the resource from then on.
func NewResource(object client.Object) Resource {
	raw, err := json.Marshal(object)
	if err != nil {
		panic(fmt.Sprintf("scenario: %T: %v", object, err)) // no API type fails to marshal
	}
	for _, empty := range unset {
		if bytes.Contains(raw, empty) {
			raw = bytes.ReplaceAll(raw, empty, nil)
		}
	}
	return Resource{
		GVK: object.GetObjectKind().GroupVersionKind(), Object: object, JSON: raw,
		Key: types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()},
	}
}

// unset are the fields that Go writes although nobody set them, and nobody writes
// in a file.
var unset = [][]byte{
	unsetField("status", appsv1.DeploymentStatus{}), unsetField("status", appsv1.StatefulSetStatus{}),
	unsetField("status", appsv1.DaemonSetStatus{}), unsetField("strategy", appsv1.DeploymentStrategy{}),
	unsetField("updateStrategy", appsv1.StatefulSetUpdateStrategy{}),
	unsetField("resources", corev1.ResourceRequirements{}),
}

func unsetField(name string, zero any) []byte {
	raw, err := json.Marshal(zero)
	if err != nil {
		panic(fmt.Sprintf("scenario: %T: %v", zero, err)) // no API type fails to marshal
	}
	return fmt.Appendf(nil, `,"%s":%s`, name, raw)
}

// NewPatch returns the resource that patches the fields of data in an object; a nil
// value removes its field.
func NewPatch(gvk schema.GroupVersionKind, key types.NamespacedName, data map[string]any) Resource {
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	data = maps.Clone(data) // the caller's stays as it is: it may be one of a table
	data["apiVersion"], data["kind"] = apiVersion, kind
	metadata := map[string]any{}
	if given, ok := data["metadata"].(map[string]any); ok {
		maps.Copy(metadata, given)
	}
	data["metadata"] = metadata
	metadata["name"] = key.Name
	if key.Namespace != "" {
		metadata["namespace"] = key.Namespace
	}
	raw, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("scenario: patch of %s %s: %v", kind, key, err)) // plain data always marshals
	}
	return Resource{GVK: gvk, Key: key, Data: data, JSON: raw}
}

// plain is the resource as plain data.
func (r Resource) plain() (map[string]any, error) {
	if r.Data != nil {
		return r.Data, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(r.JSON))
	decoder.UseNumber()
	var out map[string]any
	err := decoder.Decode(&out)
	return out, err
}
