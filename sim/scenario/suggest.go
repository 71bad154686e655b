package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// suggest returns ` - did you mean "x"?` for the nearest candidate, or nothing
// where none is near: a wild guess is worse than none.
func suggest(word string, candidates []string) string {
	best, bestDistance := "", max(1, len(word)/3)+1
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		d := distance(strings.ToLower(word), strings.ToLower(c))
		if d < bestDistance {
			best, bestDistance = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" - did you mean %q?", best)
}

// distance is the number of single-character edits, a swap of neighbours
// counting as one, that turn a into b.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// meant suggests a field for one that a type does not have: one of a like name in the same
// place, or one of the same name in a section beside it.
func meant(t reflect.Type, path string) string {
	name, parent := lastStep(path), parentPath(path)
	siblings := fieldsAt(t, parent)
	if hint := suggest(name, siblings); hint != "" {
		return hint
	}
	for _, section := range slices.Sorted(slices.Values(siblings)) {
		below := section
		if parent != "" {
			below = parent + "." + section
		}
		if slices.Contains(fieldsAt(t, below), name) {
			return fmt.Sprintf(" - did you mean %q?", below+"."+name)
		}
	}
	return ""
}
