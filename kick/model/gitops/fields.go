package gitops

import (
	"fmt"
	"strings"
	"time"
)

// Fields reads values out of an object by their paths. What is missing or null is the
// zero value; the first value of another type is remembered as the error.
type Fields struct {
	where string
	at    string
	value map[string]any
	err   *error
}

// Read begins to read an object; where names it in errors.
func Read(where string, object map[string]any) *Fields {
	var err error
	return &Fields{where: where, value: object, err: &err}
}

// Err names and quotes the first value that is not what it should be; nil: none.
func (f *Fields) Err() error { return *f.err }

// Where names what is read: the object, and the path to where the reading began.
func (f *Fields) Where() string {
	if f.at == "" {
		return f.where
	}
	return f.where + ": " + f.at
}

// Wrong notes that a value cannot be used, and quotes it.
func (f *Fields) Wrong(value any, want string, path ...string) {
	if *f.err == nil {
		*f.err = fmt.Errorf("%s: %s %s: want %s", f.where, f.name(path), Quote(value), want)
	}
}

// Quote prints a foreign value for a message, cut if it is long.
func Quote(value any) string { return fmt.Sprintf("%.80q", fmt.Sprint(value)) }

func (f *Fields) name(path []string) string {
	name := strings.Join(path, ".")
	switch {
	case f.at == "":
		return name
	case name == "":
		return f.at
	}
	return f.at + "." + name
}

// look follows a path; nil: there is nothing.
func (f *Fields) look(path []string) any {
	at := f.value
	for i, key := range path {
		value, ok := at[key]
		if !ok || value == nil {
			return nil
		}
		if i == len(path)-1 {
			return value
		}
		if at, ok = value.(map[string]any); !ok {
			f.Wrong(value, "an object", path[:i+1]...)
			return nil
		}
	}
	return at
}

func value[T any](f *Fields, want string, path []string) T {
	var zero T
	found := f.look(path)
	if found == nil {
		return zero
	}
	typed, ok := found.(T)
	if !ok {
		f.Wrong(found, want, path...)
	}
	return typed
}

// Has reports whether there is a value.
func (f *Fields) Has(path ...string) bool { return f.look(path) != nil }

// Any is the value, whatever it is; nil: none.
func (f *Fields) Any(path ...string) any { return f.look(path) }

// String is a text.
func (f *Fields) String(path ...string) string { return value[string](f, "a text", path) }

// Bool is true or false.
func (f *Fields) Bool(path ...string) bool { return value[bool](f, "true or false", path) }

// Int is a whole number.
func (f *Fields) Int(path ...string) int64 { return value[int64](f, "a whole number", path) }

// Map is an object.
func (f *Fields) Map(path ...string) map[string]any {
	return value[map[string]any](f, "an object", path)
}

// Time is a time as Kubernetes writes it, in UTC.
func (f *Fields) Time(path ...string) time.Time {
	text := f.String(path...)
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		f.Wrong(text, "a time such as 2026-03-01T12:00:00Z", path...)
	}
	return t.UTC()
}

// Strings is a list of texts.
func (f *Fields) Strings(path ...string) []string {
	var all []string
	for i, element := range value[[]any](f, "a list", path) {
		text, ok := element.(string)
		if !ok {
			f.Wrong(element, "a text", fmt.Sprintf("%s[%d]", strings.Join(path, "."), i))
			return nil
		}
		all = append(all, text)
	}
	return all
}

// Each reads a list of objects one by one.
func (f *Fields) Each(read func(*Fields), path ...string) {
	for i, element := range value[[]any](f, "a list", path) {
		at := fmt.Sprintf("%s[%d]", f.name(path), i)
		object, ok := element.(map[string]any)
		if !ok {
			(&Fields{where: f.where, at: at, err: f.err}).Wrong(element, "an object")
			return
		}
		read(&Fields{where: f.where, at: at, value: object, err: f.err})
	}
}
