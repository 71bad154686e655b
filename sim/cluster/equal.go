package cluster

import (
	"reflect"
	"sync"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// equalFunc compares two values of one type as etcd's bytes would differ: a nil and an
// empty collection are the same, a quantity is its value, a time its instant.
type equalFunc func(a, b reflect.Value) bool

var (
	equalFuncsLock sync.Mutex // servers on several workers share them
	equalFuncs     = map[reflect.Type]*equalFunc{}
	quantityType   = reflect.TypeFor[resource.Quantity]()
)

// equalOf returns the comparison of a type. It is built once: asking a type for its
// fields on every write is what makes the general deep comparison slow.
func equalOf(t reflect.Type) equalFunc {
	equalFuncsLock.Lock()
	defer equalFuncsLock.Unlock()
	return *buildEqual(t)
}

// buildEqual builds or finds a comparison; the caller holds the lock. It returns a
// pointer that is filled later when the type contains itself.
func buildEqual(t reflect.Type) *equalFunc {
	if f := equalFuncs[t]; f != nil {
		return f
	}
	f := new(equalFunc)
	equalFuncs[t] = f
	*f = makeEqual(t)
	return f
}

func makeEqual(t reflect.Type) equalFunc {
	switch t {
	case timeType:
		return func(a, b reflect.Value) bool {
			return a.Addr().Interface().(*metav1.Time).Equal(b.Addr().Interface().(*metav1.Time))
		}
	case microTimeType:
		return func(a, b reflect.Value) bool {
			return a.Addr().Interface().(*metav1.MicroTime).Equal(b.Addr().Interface().(*metav1.MicroTime))
		}
	case quantityType:
		return func(a, b reflect.Value) bool {
			return a.Interface().(resource.Quantity).Equal(b.Interface().(resource.Quantity))
		}
	}
	switch t.Kind() { //nolint:exhaustive // the rest is rare in API types
	case reflect.String:
		return func(a, b reflect.Value) bool { return a.String() == b.String() }
	case reflect.Bool:
		return func(a, b reflect.Value) bool { return a.Bool() == b.Bool() }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(a, b reflect.Value) bool { return a.Int() == b.Int() }
	case reflect.Pointer:
		return equalPointers(buildEqual(t.Elem()))
	case reflect.Slice:
		return equalSlices(buildEqual(t.Elem()))
	case reflect.Map:
		return equalMaps(buildEqual(t.Elem()))
	case reflect.Struct:
		return equalStructs(t)
	}
	return equalDeeply
}

// equalDeeply is the general comparison, for interfaces and whatever else is rare.
func equalDeeply(a, b reflect.Value) bool {
	return apiequality.Semantic.DeepEqual(a.Interface(), b.Interface())
}

func equalPointers(elem *equalFunc) equalFunc {
	return func(a, b reflect.Value) bool {
		if a.Pointer() == b.Pointer() {
			return true
		}
		return !a.IsNil() && !b.IsNil() && (*elem)(a.Elem(), b.Elem())
	}
}

func equalSlices(elem *equalFunc) equalFunc {
	return func(a, b reflect.Value) bool {
		n := a.Len()
		if n != b.Len() {
			return false
		}
		if n == 0 || a.Pointer() == b.Pointer() {
			return true
		}
		for i := range n {
			if !(*elem)(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	}
}

// equalMaps copies each value out, since a map's values have no address.
func equalMaps(elem *equalFunc) equalFunc {
	return func(a, b reflect.Value) bool {
		if a.Len() != b.Len() {
			return false
		}
		if a.Len() == 0 || a.Pointer() == b.Pointer() {
			return true
		}
		left, right := reflect.New(a.Type().Elem()).Elem(), reflect.New(a.Type().Elem()).Elem()
		for it := a.MapRange(); it.Next(); {
			other := b.MapIndex(it.Key())
			if !other.IsValid() {
				return false
			}
			left.Set(it.Value())
			right.Set(other)
			if !(*elem)(left, right) {
				return false
			}
		}
		return true
	}
}

// equalStructs compares field by field; a type with fields it cannot see is left to
// the general comparison, which knows the few such types of the API.
func equalStructs(t reflect.Type) equalFunc {
	fields := make([]*equalFunc, t.NumField())
	for i := range fields {
		if !t.Field(i).IsExported() {
			return equalDeeply
		}
		fields[i] = buildEqual(t.Field(i).Type)
	}
	return func(a, b reflect.Value) bool {
		for i, f := range fields {
			if !(*f)(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
}
