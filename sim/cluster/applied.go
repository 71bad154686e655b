package cluster

import (
	"encoding/base64"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"
)

// sourceApply is a server-side apply of a Secret or a ConfigMap, taken apart: what it
// leads to follows from which keys there are, which values are equal, and who owns
// what. The answer of the field manager is kept by that, and values are filled in.
type sourceApply struct {
	live  client.Object // a zero object to create one
	parts []applyPart
	// What the patch says besides; nil for nothing.
	immutable *bool
	kind      *string // the Secret's type
	form      uint64
}

// applyPart is one map of plain values.
type applyPart struct {
	name   string
	values map[string]any                  // of the patch; nil: not there
	known  func(key string) (string, bool) // the live value, as JSON has it
	keys   func() []string                 // of the live object
}

// applied is what an apply led to.
type applied struct {
	keys      [][]string // of each part
	immutable *bool
	kind      corev1.SecretType
	owners    []metav1.ManagedFieldsEntry // with ranks for times
}

// Which values a patch of a source may hold to be taken apart.
var sourceFields = map[string]bool{
	"apiVersion": true, "kind": true, "metadata": true, "data": true, "stringData": true, "binaryData": true, "immutable": true, "type": true,
}

var metadataFields = map[string]bool{"name": true, "namespace": true, "labels": true, "annotations": true}

// applyRequest is one server-side apply.
type applyRequest struct {
	k    *kind
	key  types.NamespacedName
	live client.Object // a zero object to create one
	past past
	data []byte
}

// patch reads the request where it is a plain source under the name it was sent to.
func (r applyRequest) patch() (patch, metadata map[string]any, ok bool) {
	if len(r.data) == 0 || r.data[0] != '{' || kjson.UnmarshalCaseSensitivePreserveInts(r.data, &patch) != nil {
		return nil, nil, false
	}
	metadata, _ = patch["metadata"].(map[string]any)
	named := metadata["name"] == r.key.Name && metadata["namespace"] == r.key.Namespace
	typed := patch["apiVersion"] == r.k.gvk.GroupVersion().String() && patch["kind"] == r.k.gk.Kind
	return patch, metadata, named && typed && within(patch, sourceFields) && within(metadata, metadataFields)
}

// takeApart reads the patch of a source; nil where only the field manager can tell.
func (r applyRequest) takeApart(o WriteOptions) *sourceApply {
	patch, metadata, ok := r.patch()
	if !ok {
		return nil
	}
	a := &sourceApply{live: r.live}
	m := objectMeta(r.live)
	if !a.flags(patch) || !a.add("labels", metadata, texts(m.Labels)) || !a.add("annotations", metadata, texts(m.Annotations)) || !a.content(patch) {
		return nil
	}
	a.form = a.digest(r.k, r.past, o)
	return a
}

// content takes the payload.
func (a *sourceApply) content(patch map[string]any) bool {
	switch o := a.live.(type) {
	case *corev1.Secret:
		return patch["binaryData"] == nil && a.add("data", patch, binary(o.Data)) && a.add("stringData", patch, texts(nil))
	case *corev1.ConfigMap:
		return patch["stringData"] == nil && patch["type"] == nil &&
			a.add("data", patch, texts(o.Data)) && a.add("binaryData", patch, binary(o.BinaryData))
	}
	return false
}

func within(m map[string]any, names map[string]bool) bool {
	for name := range m {
		if !names[name] {
			return false
		}
	}
	return true
}

// flags takes what is no map; false where it is not what it should be.
func (a *sourceApply) flags(patch map[string]any) bool {
	if v, there := patch["immutable"]; there {
		flag, ok := v.(bool)
		if !ok {
			return false
		}
		a.immutable = &flag
	}
	if v, there := patch["type"]; there {
		text, ok := v.(string)
		if !ok {
			return false
		}
		a.kind = &text
	}
	return true
}

// lookup finds live values.
type lookup struct {
	known func(string) (string, bool)
	keys  func() []string
}

func texts(m map[string]string) lookup {
	return lookup{
		func(key string) (string, bool) { v, ok := m[key]; return v, ok },
		func() []string { return slices.Sorted(maps.Keys(m)) },
	}
}

func binary(m map[string][]byte) lookup {
	return lookup{
		func(key string) (string, bool) {
			v, ok := m[key]
			return base64.StdEncoding.EncodeToString(v), ok
		},
		func() []string { return slices.Sorted(maps.Keys(m)) },
	}
}

// add takes a map of the patch; false where it is more than plain values.
func (a *sourceApply) add(name string, from map[string]any, live lookup) bool {
	values, there := from[name]
	part := applyPart{name: name, known: live.known, keys: live.keys}
	if there {
		m, ok := values.(map[string]any)
		if !ok || len(m) == 0 {
			return false
		}
		for _, v := range m {
			if _, ok := v.(string); !ok {
				return false
			}
		}
		part.values = m
	}
	a.parts = append(a.parts, part)
	return true
}

// digest is all that the field manager's answer depends on.
func (a *sourceApply) digest(k *kind, p past, o WriteOptions) uint64 {
	d := newDigest(true)
	d.text(k.gk.Kind)
	d.text(o.Manager)
	d.flag(o.Force)
	d.flag(a.live.GetUID() != "")
	for i := range a.parts {
		a.parts[i].digest(d)
	}
	d.optional(a.immutable)
	d.flag(a.kind != nil)
	if a.kind != nil {
		d.text(*a.kind)
	}
	switch o := a.live.(type) {
	case *corev1.Secret:
		d.text(string(o.Type))
		d.optional(o.Immutable)
	case *corev1.ConfigMap:
		d.optional(o.Immutable)
	}
	m := objectMeta(a.live)
	for _, e := range p.of(m.ManagedFields) {
		d.entry(e)
	}
	d.number(uint64(len(m.Finalizers)))
	d.number(uint64(len(m.OwnerReferences)))
	return d.Sum64()
}

func (part *applyPart) digest(d *digest) {
	live := part.keys()
	d.number(uint64(len(live)))
	for _, key := range live {
		d.text(key)
	}
	d.number(uint64(len(part.values)))
	for _, key := range slices.Sorted(maps.Keys(part.values)) {
		was, known := part.known(key)
		d.text(key)
		d.flag(known && was == part.values[key])
	}
}

func (d *digest) optional(b *bool) {
	d.flag(b != nil)
	d.flag(b != nil && *b)
}

func (d *digest) entry(e metav1.ManagedFieldsEntry) {
	d.text(e.Manager)
	d.text(string(e.Operation))
	d.text(e.APIVersion)
	d.text(e.Subresource)
	d.flag(e.Time != nil)
	if e.Time != nil {
		d.number(uint64(e.Time.Unix()))
	}
	d.text(e.FieldsV1.GetRawString())
}

// sourceApplies holds what applies led to, for all servers of the process.
var sourceApplies = newMemory[applied]()

// recall makes the object that this apply leads to, if one like it was made before.
func (a *sourceApply) recall(k *kind, key types.NamespacedName) (client.Object, bool) {
	led, ok := sourceApplies.get(a.form)
	if !ok {
		return nil, false
	}
	out := k.shallow(a.live)
	m := objectMeta(out)
	m.Name, m.Namespace = key.Name, key.Namespace
	m.Labels, m.Annotations = a.texts(0, led), a.texts(1, led)
	m.ManagedFields = led.owners
	switch o := out.(type) {
	case *corev1.Secret:
		o.Data, o.StringData = a.bytes(2, led), a.texts(3, led)
		for key, value := range a.parts[3].values { // which the defaults move over
			if _, moved := o.Data[key]; moved {
				o.Data[key] = []byte(value.(string))
			}
		}
		o.Immutable, o.Type = led.immutable, led.kind
		fine := len(o.Data) == len(led.keys[2])
		return out, fine
	case *corev1.ConfigMap:
		o.Data, o.BinaryData = a.texts(2, led), a.bytes(3, led)
		o.Immutable = led.immutable
		return out, len(o.BinaryData) == len(led.keys[3])
	}
	return nil, false
}

// texts are the values of a part: the patch's own, else those that were there.
func (a *sourceApply) texts(i int, led applied) map[string]string {
	if len(led.keys[i]) == 0 {
		return nil
	}
	out := make(map[string]string, len(led.keys[i]))
	for _, key := range led.keys[i] {
		out[key], _ = a.parts[i].value(key)
	}
	return out
}

// bytes leaves a value out that is no base64: the field manager has the words for it.
func (a *sourceApply) bytes(i int, led applied) map[string][]byte {
	if len(led.keys[i]) == 0 {
		return nil
	}
	out := make(map[string][]byte, len(led.keys[i]))
	for _, key := range led.keys[i] {
		value, found := a.parts[i].value(key)
		if raw, err := base64.StdEncoding.DecodeString(value); err == nil || !found {
			out[key] = raw
		}
	}
	return out
}

func (part *applyPart) value(key string) (string, bool) {
	if v, ok := part.values[key].(string); ok {
		return v, true
	}
	return part.known(key)
}

// learn keeps what the field manager made of an apply, owners with ranks for times.
func (a *sourceApply) learn(out client.Object) {
	m, was := objectMeta(out), objectMeta(a.live)
	if !slices.Equal(m.Finalizers, was.Finalizers) || !reflect.DeepEqual(m.OwnerReferences, was.OwnerReferences) {
		return
	}
	led := applied{owners: m.ManagedFields}
	keep := func(m any) {
		var keys []string
		for _, key := range reflect.ValueOf(m).MapKeys() {
			keys = append(keys, key.String())
		}
		led.keys = append(led.keys, keys)
	}
	keep(m.Labels)
	keep(m.Annotations)
	switch o := out.(type) {
	case *corev1.Secret:
		keep(o.Data)
		keep(o.StringData)
		led.immutable, led.kind = o.Immutable, o.Type
	case *corev1.ConfigMap:
		keep(o.Data)
		keep(o.BinaryData)
		led.immutable = o.Immutable
	}
	sourceApplies.put(a.form, led)
}
