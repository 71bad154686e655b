package decide_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/corewire/kick/kick/explain"
	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model/decide"
)

// TestNoSentenceTellsOfNoTime: whatever is read, no sentence about it names a time that
// nobody has set, which reads 0001-01-01.
func TestNoSentenceTellsOfNoTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := decide.Decide(anySnapshot(t), build.At(second(t, "now")))
		said := []string{explain.Step(v.Decisive)}
		for _, l := range explain.Trail(&v) {
			said = append(said, l.Message)
		}
		for _, s := range said {
			if strings.Contains(s, "0001-01-01") {
				t.Fatal(s)
			}
		}
	})
}
