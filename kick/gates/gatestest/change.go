package gatestest

import "github.com/corewire/kick/kick/gates"

// Change alters a world, or what is asked of it, before a case is tried.
type Change = func(*World, *gates.Question)

// In sets a field of an object of the world; see World.Set.
func In(id, path string, value any) Change {
	return func(w *World, _ *gates.Question) { w.Set(id, path, value) }
}

// Both makes changes one after another.
func Both(changes ...Change) Change {
	return func(w *World, q *gates.Question) {
		for _, c := range changes {
			c(w, q)
		}
	}
}
