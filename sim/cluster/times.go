package cluster

import (
	"reflect"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// timePlan lists where times lie within a type, so that truncating them on write
// walks only the branches that hold any: the wire keeps whole seconds of a
// metav1.Time and microseconds of a metav1.MicroTime.
type timePlan struct {
	leaf   func(reflect.Value) // set for a time itself
	fields []fieldPlan         // struct
	elem   *timePlan           // pointer, slice, array
	values *timePlan           // map
}

// fieldPlan is a struct field below which times lie.
type fieldPlan struct {
	index int
	plan  *timePlan
}

var (
	timeType      = reflect.TypeFor[metav1.Time]()
	microTimeType = reflect.TypeFor[metav1.MicroTime]()

	timePlansLock sync.Mutex // servers on several workers share the plans
	timePlans     = map[reflect.Type]*timePlan{}
)

// planTimes returns the plan of a type, nil when it holds no times. Plans depend on
// the type alone, so they are kept for the life of the process.
func planTimes(t reflect.Type) *timePlan {
	timePlansLock.Lock()
	defer timePlansLock.Unlock()
	return planType(t)
}

// planType builds or finds a plan; the caller holds the lock.
func planType(t reflect.Type) *timePlan {
	if p, ok := timePlans[t]; ok {
		return p
	}
	if !holdsTimes(t, map[reflect.Type]bool{}) {
		timePlans[t] = nil
		return nil
	}
	p := &timePlan{}
	timePlans[t] = p // before the fields: types may be recursive
	switch {
	case t == timeType:
		p.leaf = truncateSeconds
	case t == microTimeType:
		p.leaf = truncateMicros
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if sub := planType(t.Field(i).Type); sub != nil && t.Field(i).IsExported() {
				p.fields = append(p.fields, fieldPlan{i, sub})
			}
		}
	case t.Kind() == reflect.Map:
		p.values = planType(t.Elem())
	default:
		p.elem = planType(t.Elem())
	}
	return p
}

// holdsTimes reports whether a time can be reached from a type without interfaces.
func holdsTimes(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == timeType || t == microTimeType {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() { //nolint:exhaustive // nothing else leads to a time
	case reflect.Struct:
		for field := range t.Fields() {
			if field.IsExported() && holdsTimes(field.Type, seen) {
				return true
			}
		}
		return false
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return holdsTimes(t.Elem(), seen)
	}
	return false
}

// truncate applies the plan to an addressable value that nobody else shares.
func (p *timePlan) truncate(v reflect.Value) {
	switch {
	case p == nil:
	case p.leaf != nil:
		p.leaf(v)
	case p.fields != nil:
		for _, f := range p.fields {
			f.plan.truncate(v.Field(f.index))
		}
	case p.values != nil:
		p.truncateMap(v)
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			p.elem.truncate(v.Elem())
		}
	default:
		for i := range v.Len() {
			p.elem.truncate(v.Index(i))
		}
	}
}

// truncateMap rewrites the values of a map; their order does not matter.
func (p *timePlan) truncateMap(v reflect.Value) {
	for _, key := range v.MapKeys() {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		p.values.truncate(value)
		v.SetMapIndex(key, value)
	}
}

// truncateSeconds does to a metav1.Time what the wire does.
func truncateSeconds(v reflect.Value) {
	t := v.Addr().Interface().(*metav1.Time)
	t.Time = wireTime(t.Time, time.Second)
}

// truncateMicros does to a metav1.MicroTime what the wire does.
func truncateMicros(v reflect.Value) {
	t := v.Addr().Interface().(*metav1.MicroTime)
	t.Time = wireTime(t.Time, time.Microsecond)
}

// wireTime is UTC, truncated, without a monotonic reading.
func wireTime(t time.Time, unit time.Duration) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(unit)
}

// stamp is the API server's clock as it appears in metadata.
func (s *Server) stamp() metav1.Time {
	return metav1.Time{Time: wireTime(s.Now(), time.Second)}
}
