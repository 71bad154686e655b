package foreign

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Text is a text at a path; empty: there is none.
func (f Free) Text(path ...string) string {
	s, _, _ := unstructured.NestedString(f, path...)
	return s
}

// True reports whether there is a true at a path.
func (f Free) True(path ...string) bool {
	b, _, _ := unstructured.NestedBool(f, path...)
	return b
}

// Int is a whole number at a path.
func (f Free) Int(path ...string) int64 {
	n, _, _ := unstructured.NestedInt64(f, path...)
	return n
}

// At is whatever is at a path; nil: nothing.
func (f Free) At(path ...string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(f, path...)
	return v
}

// Time is a time at a path; zero: there is none.
func (f Free) Time(path ...string) time.Time {
	t, _ := time.Parse(time.RFC3339, f.Text(path...))
	return t
}

// Span is a duration at a path, or the other where there is none.
func (f Free) Span(otherwise time.Duration, path ...string) time.Duration {
	if d, err := time.ParseDuration(f.Text(path...)); err == nil {
		return d
	}
	return otherwise
}

// Set puts a value at a path; nil removes what is there. The map must be the caller's own.
func (f Free) Set(value any, path ...string) {
	if value == nil {
		unstructured.RemoveNestedField(f, path...)
		return
	}
	_ = unstructured.SetNestedField(f, value, path...) // the parts on the way are maps
}

// Condition is the status of a condition of a status, with its reason and time.
func (f Free) Condition(name string) (status, reason string, since time.Time) {
	list, _ := f["conditions"].([]any)
	for _, item := range list {
		if c, ok := item.(map[string]any); ok && c["type"] == name {
			free := Free(c)
			return free.Text("status"), free.Text("reason"), free.Time("lastTransitionTime")
		}
	}
	return "", "", time.Time{}
}
