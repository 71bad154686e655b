package cluster

import (
	"hash/maphash"
	"reflect"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// digest is the hash of typed values without their JSON. It differs from process to
// process and only ever serves as the key of a memory.
type digest struct {
	maphash.Hash
	// dated lets times count by value; otherwise only whether they are set, as rules
	// about the form of an object see them.
	dated  bool
	opaque opaque // texts that count by their length only
	loose  loose  // lists whose items are added to items
	items  *[]uint64
}

var digestSeed = maphash.MakeSeed()

func newDigest(dated bool) *digest {
	d := &digest{dated: dated}
	d.SetSeed(digestSeed)
	return d
}

func (d *digest) text(s string) {
	d.number(uint64(len(s)))
	_, _ = d.WriteString(s)
}

func (d *digest) number(n uint64) {
	var raw [8]byte
	for i := range raw {
		raw[i] = byte(n >> (8 * i))
	}
	_, _ = d.Write(raw[:])
}

func (d *digest) flag(b bool) {
	if b {
		_ = d.WriteByte(1)
	} else {
		_ = d.WriteByte(0)
	}
}

// digestFunc adds a value of one type.
type digestFunc func(d *digest, v reflect.Value)

var (
	digestFuncsLock sync.Mutex // servers on several workers share them
	digestFuncs     = map[reflect.Type]*digestFunc{}

	// specialDigests are of types whose fields are not what JSON shows.
	specialDigests = map[reflect.Type]digestFunc{
		timeType:      func(d *digest, v reflect.Value) { d.instant(v.Addr().Interface().(*metav1.Time).Time) },
		microTimeType: func(d *digest, v reflect.Value) { d.instant(v.Addr().Interface().(*metav1.MicroTime).Time) },
		quantityType:  func(d *digest, v reflect.Value) { q := v.Interface().(resource.Quantity); d.text(q.String()) },
	}
)

// digestOf returns the hash of a type, built once; nil for a type that holds what
// cannot be hashed, such as an interface.
func digestOf(t reflect.Type) digestFunc {
	digestFuncsLock.Lock()
	defer digestFuncsLock.Unlock()
	if !hashable(t, map[reflect.Type]bool{}) {
		return nil
	}
	return *buildDigest(t)
}

func hashable(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || specialDigests[t] != nil {
		return true
	}
	seen[t] = true
	switch t.Kind() { //nolint:exhaustive // the rest can be hashed
	case reflect.Struct:
		for field := range t.Fields() {
			if !field.IsExported() || !hashable(field.Type, seen) {
				return false
			}
		}
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return hashable(t.Elem(), seen)
	case reflect.Map:
		return t.Key().Kind() == reflect.String && hashable(t.Elem(), seen)
	case reflect.Interface, reflect.Chan, reflect.Func, reflect.Float32, reflect.Float64:
		return false
	}
	return true
}

func buildDigest(t reflect.Type) *digestFunc {
	if f := digestFuncs[t]; f != nil {
		return f
	}
	f := new(digestFunc)
	digestFuncs[t] = f // before the parts: types may be recursive
	*f = makeDigest(t)
	return f
}

func makeDigest(t reflect.Type) digestFunc {
	if f := specialDigests[t]; f != nil {
		return f
	}
	switch t.Kind() { //nolint:exhaustive // hashable has refused the rest
	case reflect.String:
		return func(d *digest, v reflect.Value) { d.text(v.String()) }
	case reflect.Bool:
		return func(d *digest, v reflect.Value) { d.flag(v.Bool()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(d *digest, v reflect.Value) { d.number(uint64(v.Int())) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(d *digest, v reflect.Value) { d.number(v.Uint()) }
	case reflect.Pointer:
		return digestPointer(buildDigest(t.Elem()))
	case reflect.Map:
		return digestMap(buildDigest(t.Elem()))
	case reflect.Struct:
		return digestStruct(t)
	}
	if t.Elem().Kind() == reflect.Uint8 {
		return func(d *digest, v reflect.Value) { d.flag(v.IsNil()); d.text(string(v.Bytes())) }
	}
	return digestItems(buildDigest(t.Elem()))
}

// instant adds a time. Whether it is one that a rule could take for a mistake counts
// always.
func (d *digest) instant(t time.Time) {
	d.flag(t.IsZero())
	if d.dated {
		d.number(uint64(t.UnixNano()))
	} else {
		d.flag(t.Unix() > 0 && t.Year() <= 9999)
	}
}

func digestPointer(elem *digestFunc) digestFunc {
	return func(d *digest, v reflect.Value) {
		d.flag(v.IsNil())
		if !v.IsNil() {
			(*elem)(d, v.Elem())
		}
	}
}

// digestItems tells nil from empty: JSON does, where a field is always written.
func digestItems(elem *digestFunc) digestFunc {
	return func(d *digest, v reflect.Value) {
		d.flag(v.Kind() == reflect.Slice && v.IsNil())
		d.number(uint64(v.Len()))
		for i := range v.Len() {
			(*elem)(d, v.Index(i))
		}
	}
}

// digestMap adds up the hashes of the entries, so that their order does not matter.
func digestMap(elem *digestFunc) digestFunc {
	return func(d *digest, v reflect.Value) {
		d.flag(v.IsNil())
		d.number(uint64(v.Len()))
		if v.Len() == 0 {
			return
		}
		var sum uint64
		entry := newDigest(d.dated)
		entry.opaque = d.opaque
		value := reflect.New(v.Type().Elem()).Elem() // a map's values have no address
		for it := v.MapRange(); it.Next(); {
			entry.Reset()
			entry.text(it.Key().String())
			value.Set(it.Value())
			(*elem)(entry, value)
			sum += entry.Sum64()
		}
		d.number(sum)
	}
}

// digestField is one field of a struct, and how the names of its JSON let it count for less.
type digestField struct {
	add  *digestFunc
	item *digestFunc // of the items of a list of structs
	text string      // name of a string
	list string      // name of a list of structs
}

func digestStruct(t reflect.Type) digestFunc {
	fields := make([]digestField, t.NumField())
	for i := range fields {
		field := t.Field(i)
		fields[i].add = buildDigest(field.Type)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct:
			fields[i].list, fields[i].item = name, buildDigest(field.Type.Elem())
		case field.Type.Kind() == reflect.String:
			fields[i].text = name
		}
	}
	return func(d *digest, v reflect.Value) {
		for i := range fields {
			fields[i].digest(d, v.Field(i))
		}
	}
}

func (f *digestField) digest(d *digest, v reflect.Value) {
	less := f.item != nil && d.loose.of(d, f.list, v, *f.item) || f.text != "" && d.opaque.of(d, f.text, v.String())
	if !less {
		(*f.add)(d, v)
	}
}

// bodyDigest hashes one field of a kind's body or its status.
type bodyDigest struct {
	index int
	add   digestFunc
}

// bodyDigests is nil for a kind that cannot be hashed.
func bodyDigests(t reflect.Type) []bodyDigest {
	var out []bodyDigest
	for i := range t.NumField() {
		if name := t.Field(i).Name; name == "TypeMeta" || name == "ObjectMeta" {
			continue
		}
		add := digestOf(t.Field(i).Type)
		if add == nil {
			return nil
		}
		out = append(out, bodyDigest{i, add})
	}
	return out
}
