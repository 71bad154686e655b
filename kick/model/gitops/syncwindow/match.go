package syncwindow

import (
	"slices"

	"github.com/gobwas/glob"
)

// Target is what windows select by, as the Application writes it.
type Target struct {
	Application string // metadata.name
	Server      string // spec.destination.server
	Cluster     string // spec.destination.name
	Namespace   string // spec.destination.namespace
}

// matches reports whether a window applies to a target.
func (w *Window) matches(t Target) bool {
	matched, set := false, false
	if len(w.Applications) > 0 {
		set, matched = true, anyGlob(w.Applications, t.Application)
	}
	if decided(w.And, set, matched) {
		return matched
	}
	if len(w.Clusters) > 0 {
		set = true
		matched = t.Cluster != "" && anyGlob(w.Clusters, t.Cluster) || t.Server != "" && anyGlob(w.Clusters, t.Server)
	}
	if decided(w.And, set, matched) {
		return matched
	}
	if len(w.Namespaces) > 0 {
		matched = anyGlob(w.Namespaces, t.Namespace)
	}
	return matched
}

// decided: one list that matches is enough, unless all have to.
func decided(and, set, matched bool) bool {
	if and {
		return set && !matched
	}
	return matched
}

func anyGlob(patterns []string, value string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Glob(p, value) })
}

// Glob reports whether a pattern matches a value as Argo CD matches them: with
// github.com/gobwas/glob and no separators, so that * crosses slashes and dots. A
// pattern that cannot be read matches nothing.
func Glob(pattern, value string) (matched bool) {
	if pattern == "*" {
		return true
	}
	defer func() {
		if recover() != nil { // the library gives up on some patterns that way
			matched = false
		}
	}()
	g, err := glob.Compile(pattern)
	return err == nil && g.Match(value)
}
