package syncwindow

import (
	"fmt"
	"slices"
	"strings"

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

// anyGlob: a pattern of which nobody says what it matches may match, so that its window is
// asked, and refused.
func anyGlob(patterns []string, value string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return tangled(p) || Glob(p, value) })
}

// Glob reports whether a pattern matches a value as Argo CD matches them: with
// github.com/gobwas/glob and no separators, so that * crosses slashes and dots. A
// pattern that cannot be read matches nothing.
func Glob(pattern, value string) (matched bool) {
	switch {
	case pattern == "*":
		return true
	case stars(pattern) <= mostStars:
	case tangled(pattern):
		return false
	default:
		return plain([]rune(pattern), []rune(value))
	}
	defer func() {
		if recover() != nil { // the library gives up on some patterns that way
			matched = false
		}
	}()
	g, err := glob.Compile(pattern)
	return err == nil && g.Match(value)
}

// mostStars is how many stars a pattern may have that the library is given: each one more
// doubles the time it takes, and with twenty it takes seconds.
const mostStars = 10

// stars counts those of a pattern; several in a row cost no more than one.
func stars(pattern string) int {
	n := 0
	for i := range len(pattern) {
		if pattern[i] == '*' && (i == 0 || pattern[i-1] != '*') {
			n++
		}
	}
	return n
}

// tangled reports whether a pattern has more stars than the library is given, and more than
// stars and question marks, so that nobody says what it matches.
func tangled(pattern string) bool {
	return stars(pattern) > mostStars && strings.ContainsAny(pattern, `[]{}\`)
}

// unreadable names a selector of a window of which nobody says what it matches.
func (w *Window) unreadable() error {
	for _, list := range []struct {
		field    string
		patterns []string
	}{{"applications", w.Applications}, {"clusters", w.Clusters}, {"namespaces", w.Namespaces}} {
		for i, p := range list.patterns {
			if tangled(p) {
				return fmt.Errorf("%s.%s[%d] %.80q: more than %d stars beside brackets, braces or backslashes", w.Where, list.field, i, p, mostStars)
			}
		}
	}
	return nil
}

// plain matches a pattern of stars and question marks in as many steps as pattern and value
// have places: only the last star may have to give way.
func plain(pattern, value []rune) bool {
	p, v, star, taken := 0, 0, -1, 0
	for v < len(value) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, taken, p = p, v, p+1
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == value[v]):
			p, v = p+1, v+1
		case star >= 0:
			taken++
			p, v = star+1, taken
		default:
			return false
		}
	}
	return strings.Trim(string(pattern[p:]), "*") == ""
}
