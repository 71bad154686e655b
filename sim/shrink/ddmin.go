package shrink

import "slices"

// ddmin returns a part of items for which fails still holds and from which no
// single item can be taken away, given enough runs.
func ddmin[T any](items []T, fails func([]T) bool) []T {
	if len(items) == 0 {
		return items
	}
	if fails(nil) {
		return nil
	}
	for size := (len(items) + 1) / 2; size > 0; {
		removed := false
		for from := 0; from < len(items); {
			to := min(from+size, len(items))
			without := slices.Concat(items[:from], items[to:])
			if len(without) < len(items) && fails(without) {
				items, removed = without, true
			} else {
				from = to
			}
		}
		switch {
		case size > 1:
			size = (size + 1) / 2
		case !removed:
			return items
		}
	}
	return items
}
