package scenario

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"
)

// clusterScoped are the kinds without a namespace that a scenario can name.
var clusterScoped = map[string]bool{"Namespace": true, "Node": true, "PersistentVolume": true}

// NeedName says whether an object must carry a name; a pattern need not.
type NeedName bool

// Source reads `{file: F}` or `{resource: R}` into objects.
func (d *Decoder) Source(n *yaml.Node, fields Fields, named NeedName) []Resource {
	var out []Resource
	var from *yaml.Node
	all := Fields{
		"file": func(v *yaml.Node) { from = v; out = append(out, d.manifest(v)...) },
		"resource": func(v *yaml.Node) {
			if from != nil {
				d.Problemf(v, "give either file or resource, not both")
			}
			from = v
			if r, ok := d.Resource(v, named); ok {
				out = append(out, r)
			}
		},
	}
	maps.Copy(all, fields)
	if d.Map(n, all) && from == nil {
		d.Problemf(n, "needs file: or resource:")
	}
	return out
}

// manifest reads all objects of another file. Its problems carry that file's name.
func (d *Decoder) manifest(n *yaml.Node) []Resource {
	var name string
	if !d.String(n, &name) {
		return nil
	}
	path := d.Path(name)
	docs, err := readDocuments(path)
	if err != nil {
		var p Problem
		if errors.As(err, &p) && p.Line > 0 {
			*d.problems = append(*d.problems, p)
			return nil
		}
		d.Problemf(n, "cannot read file %q: %s", name, rootCause(err))
		return nil
	}
	inner := &Decoder{parser: d.parser, file: path, problems: d.problems}
	var out []Resource
	for _, doc := range docs {
		if r, ok := inner.Resource(doc, true); ok {
			out = append(out, r)
		}
	}
	if len(docs) == 0 {
		d.Problemf(n, "file %q holds no object", name)
	}
	return out
}

// Resource reads one Kubernetes object strictly: its kind must have a Go type
// and every field must exist in that type.
func (d *Decoder) Resource(n *yaml.Node, named NeedName) (Resource, bool) {
	n = resolve(n)
	before := len(*d.problems)
	if n.Kind != yaml.MappingNode {
		d.Problemf(n, "expected a Kubernetes object, found %s", describe(n))
		return Resource{}, false
	}
	r := Resource{Data: d.plainMap(n), Where: d.Position(n)}
	object, ok := d.newObject(n, r.Data)
	if !ok || len(*d.problems) > before {
		return r, false
	}
	r.GVK = schema.FromAPIVersionAndKind(text(r.Data, "apiVersion"), text(r.Data, "kind"))
	d.defaultNamespace(&r, named)
	raw, err := json.Marshal(r.Data)
	if err != nil {
		d.Problemf(n, "not an object JSON can hold: %v", err)
		return r, false
	}
	r.JSON, r.Object = raw, object
	d.strict(n, r)
	if spec, ok := r.Data["spec"].(map[string]any); ok && spec["replicas"] != nil {
		d.Replicas(cmpNode(keyNode(n, "spec.replicas"), n), fmt.Sprint(spec["replicas"]))
	}
	r.Key = types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
	if named && object.GetName() == "" && len(*d.problems) == before {
		d.Problemf(n, "%s without metadata.name", r.GVK.Kind)
	}
	return r, len(*d.problems) == before
}

// newObject makes the empty typed object for a document's apiVersion and kind.
func (d *Decoder) newObject(n *yaml.Node, data map[string]any) (client.Object, bool) {
	gvk := schema.FromAPIVersionAndKind(text(data, "apiVersion"), text(data, "kind"))
	if gvk.Version == "" || gvk.Kind == "" {
		d.Problemf(n, "a Kubernetes object needs apiVersion and kind")
		return nil, false
	}
	made, err := Scheme.New(gvk)
	object, ok := made.(client.Object)
	if err == nil && ok {
		return object, true
	}
	at := cmpNode(keyNode(n, "kind"), n)
	if strings.HasSuffix(gvk.Kind, "List") {
		d.Problemf(at, "%s is a list: give each of its items by itself", gvk.Kind)
		return nil, false
	}
	if Scheme.IsVersionRegistered(gvk.GroupVersion()) {
		d.Problemf(at, "unknown kind %q in %s%s", gvk.Kind, gvk.GroupVersion(), suggest(gvk.Kind, kindsOf(gvk.GroupVersion())))
	} else {
		d.Problemf(cmpNode(keyNode(n, "apiVersion"), n), "the simulator has no Go type for %s in %s: only built-in kinds, KICK's own and those of GitOps tools can be used%s",
			gvk.Kind, gvk.GroupVersion(), suggest(gvk.GroupVersion().String(), groups()))
	}
	return nil, false
}

// defaultNamespace does what kubectl does without -n; a pattern without a name
// and namespace means every namespace.
func (d *Decoder) defaultNamespace(r *Resource, named NeedName) {
	meta, _ := r.Data["metadata"].(map[string]any)
	if clusterScoped[r.GVK.Kind] || meta == nil || text(meta, "namespace") != "" {
		return
	}
	if bool(named) || text(meta, "name") != "" {
		meta["namespace"] = "default"
	}
}

// strict decodes into the typed object and turns each complaint into a problem
// at the field it is about.
func (d *Decoder) strict(n *yaml.Node, r Resource) {
	complaints, err := kjson.UnmarshalStrict(r.JSON, r.Object)
	if err != nil {
		d.wrongType(n, r, err)
		return
	}
	for _, complaint := range complaints {
		var fieldError kjson.FieldError
		if !errors.As(complaint, &fieldError) {
			d.Problemf(n, "%s: %v", r.GVK.Kind, complaint)
			continue
		}
		path := fieldError.FieldPath()
		at := cmpNode(keyNode(n, path), locate(n, path))
		d.Problemf(at, "unknown field %q in %s%s", path, r.GVK.Kind, meant(reflect.TypeOf(r.Object), path))
	}
}

// notBase64 finds the first field of data or binaryData, by name, that does not hold base64.
func notBase64(object []byte) (string, bool) {
	var o struct{ Data, BinaryData map[string]string }
	if json.Unmarshal(object, &o) != nil {
		return "", false
	}
	for _, field := range []struct {
		name   string
		values map[string]string
	}{{"data", o.Data}, {"binaryData", o.BinaryData}} {
		for _, key := range slices.Sorted(maps.Keys(field.values)) {
			if _, err := base64.StdEncoding.DecodeString(field.values[key]); err != nil {
				return field.name + "." + key, true
			}
		}
	}
	return "", false
}

// wrongType notes a value its field cannot hold.
func (d *Decoder) wrongType(n *yaml.Node, r Resource, err error) {
	var typeError *json.UnmarshalTypeError
	if key, bad := notBase64(r.JSON); bad && !errors.As(err, &typeError) {
		at := cmpNode(keyNode(n, key), n)
		d.Problemf(at, "%s: %s is not base64; plain text goes into stringData", r.GVK.Kind, key)
		return
	}
	if !errors.As(err, &typeError) {
		d.Problemf(n, "%s: %s", r.GVK.Kind, strings.TrimPrefix(err.Error(), "json: "))
		return
	}
	at := cmpNode(keyNode(n, typeError.Field), n)
	value := locate(n, typeError.Field)
	hint := ""
	if typeName(typeError.Type) == "text" {
		hint = " (put it in quotes)"
		// In a map of texts the complaint names the map only.
		for i := 1; i < len(value.Content) && value.Kind == yaml.MappingNode; i += 2 {
			if item := resolve(value.Content[i]); item.Kind == yaml.ScalarNode && item.Tag != "!!str" {
				at = item
				break
			}
		}
	}
	d.Problemf(at, "%s: field %q cannot hold a %s, it wants %s%s", r.GVK.Kind, lastStep(typeError.Field), typeError.Value, typeName(typeError.Type), hint)
}

// Ref reads apiVersion, kind, namespace and name of one object.
func (d *Decoder) Ref(n *yaml.Node) (Ref, bool) {
	var apiVersion, kind string
	var key types.NamespacedName
	before := len(*d.problems)
	ok := d.Map(n, Fields{
		"apiVersion": d.StringField(&apiVersion), "kind": d.StringField(&kind),
		"namespace": d.StringField(&key.Namespace), "name": d.StringField(&key.Name),
	})
	if !ok || len(*d.problems) > before {
		return Ref{}, false
	}
	if key.Name == "" {
		d.Problemf(n, "needs a name")
		return Ref{}, false
	}
	data := map[string]any{"apiVersion": apiVersion, "kind": kind}
	if _, ok := d.newObject(n, data); !ok {
		return Ref{}, false
	}
	if key.Namespace == "" && !clusterScoped[kind] {
		key.Namespace = "default"
	}
	return Ref{GVK: schema.FromAPIVersionAndKind(apiVersion, kind), Key: key}, true
}

// fieldsAt lists the JSON field names of the struct a path leads to.
func fieldsAt(t reflect.Type, path string) []string {
	for _, step := range splitPath(path) {
		t = elem(t)
		if _, err := strconv.Atoi(step); err == nil || t.Kind() != reflect.Struct {
			continue // an index, or the key of a map
		}
		next, ok := jsonFields(t)[step]
		if !ok {
			return nil
		}
		t = next
	}
	t = elem(t)
	if t.Kind() != reflect.Struct {
		return nil
	}
	return names(jsonFields(t))
}

func elem(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

func jsonFields(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			maps.Copy(out, jsonFields(elem(f.Type)))
			continue
		}
		if name != "" && name != "-" {
			out[name] = f.Type
		}
	}
	return out
}

func kindsOf(gv schema.GroupVersion) []string { return names(Scheme.KnownTypes(gv)) }

func groups() []string {
	var out []string
	for _, gv := range Scheme.PrioritizedVersionsAllGroups() {
		if gv.Version != runtime.APIVersionInternal {
			out = append(out, gv.String())
		}
	}
	return out
}

func typeName(t reflect.Type) string {
	switch elem(t).Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Struct:
		return "a mapping"
	default:
		return t.String()
	}
}

func text(data map[string]any, field string) string {
	s, _ := data[field].(string)
	return s
}

func cmpNode(n, fallback *yaml.Node) *yaml.Node {
	if n != nil {
		return n
	}
	return fallback
}

// Copy is the typed object, for a writer to keep.
func (r Resource) Copy() client.Object { return r.Object.DeepCopyObject().(client.Object) }

// String names the object.
func (r Resource) String() string { return where(r.GVK.Kind, r.Key.Namespace, r.Key.Name) }

// String names the object.
func (r Ref) String() string { return where(r.GVK.Kind, r.Key.Namespace, r.Key.Name) }
