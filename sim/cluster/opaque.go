package cluster

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// opaque are the properties of a CRD whose text nothing looks at: strings, wherever
// the name occurs, of which the schema at most bounds the length, that key no list and
// that no rule sees. A message is one. All that a verdict can depend on is on which
// side of the bounds their length is.
type opaque map[string][]int64

var (
	words = regexp.MustCompile(`\w+`)
	// wholeSelf finds rules that look at all below them, and not at fields they name.
	wholeSelf = regexp.MustCompile(`\b(self|oldSelf)\b([^.\w]|$)`)
)

// loose are the lists of a CRD whose items have nothing to do with each other: lists of
// objects, wherever the name occurs, that no rule sees as a whole and whose items need not
// differ. Each item is judged by itself, and of the list only on which side of the bounds
// its length is.
type loose map[string][]int64

func opaqueOf(root *structuralschema.Structural) (opaque, loose) {
	w := opaqueWalk{named: map[string]bool{}, bounds: opaque{}, lists: loose{}, seen: map[string]bool{}}
	w.rules(root)
	w.walk("", root, false)
	for name := range w.seen {
		delete(w.bounds, name)
		delete(w.lists, name)
	}
	return w.bounds, w.lists
}

type opaqueWalk struct {
	named  map[string]bool // by a rule, or as the key of a list
	bounds opaque
	lists  loose
	seen   map[string]bool // by a schema or a rule
}

// rules gathers all names that rules and lists use.
func (w *opaqueWalk) rules(s *structuralschema.Structural) {
	if s == nil {
		return
	}
	for _, rule := range s.XValidations {
		for _, word := range words.FindAllString(rule.Rule+" "+rule.MessageExpression+" "+rule.FieldPath, -1) {
			w.named[word] = true
		}
	}
	for _, key := range s.XListMapKeys {
		w.named[key] = true
	}
	w.below(s, func(_ string, child *structuralschema.Structural) { w.rules(child) })
}

// walk sorts the properties. Below a field that a rule names, or a rule that names
// none, everything is seen.
func (w *opaqueWalk) walk(name string, s *structuralschema.Structural, seen bool) {
	if s == nil {
		return
	}
	seen = seen || w.named[name] || looksBelow(s)
	w.below(s, func(child string, c *structuralschema.Structural) { w.walk(child, c, seen) })
	if name == "" {
		return
	}
	v := cmp.Or(s.ValueValidation, &structuralschema.ValueValidation{})
	switch {
	case !seen && independent(s):
		w.lists[name] = append(slices.Clip(w.lists[name]), bounds(v.MaxItems, v.MinItems)...)
	case !seen && free(s):
		w.bounds[name] = append(slices.Clip(w.bounds[name]), bounds(v.MaxLength, v.MinLength)...)
	default:
		w.seen[name] = true
	}
}

// free reports whether a schema is that of a text of which at most the length counts.
func free(s *structuralschema.Structural) bool {
	return s.Type == "string" && len(s.XValidations) == 0 && onlyLength(s.ValueValidation)
}

// looksBelow reports whether a schema looks at more of its value than its own type.
func looksBelow(s *structuralschema.Structural) bool {
	if v := s.ValueValidation; v != nil && (len(v.AllOf)+len(v.AnyOf)+len(v.OneOf) > 0 || v.Not != nil) {
		return true
	}
	return s.XListType != nil && *s.XListType == "set" ||
		slices.ContainsFunc(s.XValidations, func(r apiextensionsv1.ValidationRule) bool { return wholeSelf.MatchString(r.Rule) })
}

// independent reports whether a schema is that of a list of objects of which each may
// be there whatever the others are.
func independent(s *structuralschema.Structural) bool {
	atomic := s.XListType == nil || *s.XListType == "atomic"
	return s.Type == "array" && atomic && s.Items != nil && s.Items.Type == "object" && len(s.XValidations) == 0 &&
		(s.ValueValidation == nil || !s.ValueValidation.UniqueItems)
}

// bounds are the greatest lengths that are still too short, or not too long; at the least
// none.
func bounds(most, least *int64) []int64 {
	out := []int64{}
	if most != nil {
		out = append(out, *most)
	}
	if least != nil {
		out = append(out, *least-1)
	}
	return out
}

func onlyLength(v *structuralschema.ValueValidation) bool {
	return v == nil || v.Pattern == "" && v.Format == "" && len(v.Enum) == 0
}

// below visits the schemas inside another. Items and values of maps have no name.
func (w *opaqueWalk) below(s *structuralschema.Structural, visit func(string, *structuralschema.Structural)) {
	for name := range s.Properties {
		child := s.Properties[name]
		visit(name, &child)
	}
	visit("", s.Items)
	if s.AdditionalProperties != nil {
		visit("", s.AdditionalProperties.Structural)
	}
}

// of adds a text to a digest and reports whether it is opaque.
func (o opaque) of(d *digest, name, text string) bool {
	bounds, ok := o[name]
	if ok {
		d.flag(text == "")
	}
	for _, bound := range bounds {
		d.flag(int64(utf8.RuneCountInString(text)) > bound)
	}
	return ok
}

// of adds the length of a list to a digest, and its items to those that are judged by
// themselves; false: the list is not one of these.
func (l loose) of(d *digest, name string, list reflect.Value, item digestFunc) bool {
	bounds, ok := l[name]
	if !ok || d.items == nil || list.Kind() != reflect.Slice {
		return false
	}
	d.flag(list.IsNil())
	d.flag(list.Len() == 0)
	for _, bound := range bounds {
		d.flag(int64(list.Len()) > bound)
	}
	one := newDigest(d.dated)
	one.opaque, one.loose, one.items = d.opaque, d.loose, d.items
	for i := range list.Len() {
		one.Reset()
		one.text(name)
		item(one, list.Index(i))
		*d.items = append(*d.items, one.Sum64())
	}
	return true
}

// transitionsOf tells whether a rule compares with what was there before: in the status
// (true), and in the rest (false).
func transitionsOf(root *structuralschema.Structural) map[bool]bool {
	out := map[bool]bool{}
	for name := range root.Properties {
		part := root.Properties[name]
		w := opaqueWalk{named: map[string]bool{}}
		w.rules(&part)
		out[name == "status"] = out[name == "status"] || w.named["oldSelf"]
	}
	return out
}

// compares reports that a verdict on a write can depend on what was there before.
func (c *crd) compares(apart bool, subresource string) bool {
	return !apart || c.transition[subresource == "status"]
}
