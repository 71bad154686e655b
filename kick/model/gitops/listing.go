package gitops

import (
	"slices"
	"strings"
)

// A listing is the objects that a tool says it manages, kept as one text: a cache holds
// thousands of them, and as separate maps they would cost ten times as much.

// Pack makes a listing. What a name cannot hold is left out: no object is called so.
func Pack(objects []Object) string {
	lines := make([]string, 0, len(objects))
	for _, o := range objects {
		if l := o.line(); strings.Count(l, "\n") == 0 {
			lines = append(lines, l)
		}
	}
	slices.Sort(lines)
	return "\n" + strings.Join(slices.Compact(lines), "\n") + "\n"
}

// Packed reports whether a listing holds an object.
func Packed(listing string, o Object) bool { return strings.Contains(listing, "\n"+o.line()+"\n") }

// Unpack gives the objects of a listing, in order.
func Unpack(listing string) []Object {
	var all []Object
	for l := range strings.Lines(strings.TrimPrefix(listing, "\n")) {
		group, rest, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "/")
		kind, rest, _ := strings.Cut(rest, ":")
		namespace, name, found := strings.Cut(rest, "/")
		if found {
			all = append(all, Object{Group: group, Kind: kind, Namespace: namespace, Name: name})
		}
	}
	return all
}

// line is the object as Argo CD's tracking ids name it.
func (o Object) line() string { return o.Group + "/" + o.Kind + ":" + o.Namespace + "/" + o.Name }

// Everywhere is the index value of a listing that spreads over too many namespaces to
// be indexed by each of them.
const Everywhere = "*"

// namespacesMax bounds what the index of one listing costs.
const namespacesMax = 500

// Namespaces are the index values of a listing: the namespaces it reaches into, or
// Everywhere. Whoever looks up a namespace looks up Everywhere as well.
func Namespaces(listing string) []string {
	var all []string
	for _, o := range Unpack(listing) {
		all = append(all, o.Namespace)
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > namespacesMax {
		return []string{Everywhere}
	}
	return all
}
