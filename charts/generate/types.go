package main

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// plain are Kubernetes types that are written as something else than their fields.
var plain = map[reflect.Type]object{
	reflect.TypeFor[resource.Quantity]():  {"type": []string{"string", "number"}},
	reflect.TypeFor[intstr.IntOrString](): {"type": []string{"string", "integer"}},
	reflect.TypeFor[metav1.Time]():        {"type": "string"},
	reflect.TypeFor[metav1.FieldsV1]():    {"type": "object"},
	reflect.TypeFor[[]byte]():             {"type": "string"},
}

// kind is the schema of a Go type as encoding/json writes it.
func (d definitions) kind(t reflect.Type) object {
	if s, ok := plain[t]; ok {
		return s
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.kind(t.Elem())
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int32, reflect.Int64, reflect.Int:
		return object{"type": "integer"}
	case reflect.Slice:
		return object{"type": "array", "items": d.kind(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.kind(t.Elem())}
	case reflect.Struct:
		if d[t.Name()] == nil {
			d[t.Name()] = object{} // a type may hold itself
			properties := object{}
			d.fields(t, properties)
			d[t.Name()] = object{"type": "object", "additionalProperties": false, "properties": properties}
		}
		return object{"$ref": "#/definitions/" + t.Name()}
	default:
		return object{"type": "string"}
	}
}

// fields adds the fields of a struct, and those of the structs that it embeds.
func (d definitions) fields(t reflect.Type, properties object) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name == "" && (f.Anonymous || strings.Contains(options, "inline")):
			d.fields(f.Type, properties)
		default:
			properties[name] = d.kind(f.Type)
		}
	}
}
