package explore

import (
	"slices"
	"testing"

	"github.com/corewire/kick/kick/mark"
)

// What generated worlds need not reach is a mark that there is.
func TestNotGenerated(t *testing.T) {
	for _, name := range notGenerated {
		if !slices.ContainsFunc(mark.All(), func(i mark.Info) bool { return i.Name == name }) {
			t.Errorf("there is no mark %s", name)
		}
	}
}
