package mark

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

func TestEveryMarkIsNamed(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[string]bool{}
	for i, m := range All() {
		if !name.MatchString(m.Name) || seen[m.Name] {
			t.Errorf("mark %d: name %q is missing, taken or not in lower case", i, m.Name)
		}
		if !strings.HasSuffix(m.Says, ".") || strings.Count(m.Says, ". ") > 0 {
			t.Errorf("mark %s: %q is not one sentence", m.Name, m.Says)
		}
		seen[m.Name] = true
	}
}

// TestEveryMarkStandsSomewhere: a mark that no code hits would fail every campaign.
func TestEveryMarkStandsSomewhere(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^\t([A-Z]\w+): +\{"`)
	source, err := os.ReadFile("marks.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	err = fs.WalkDir(os.DirFS(".."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(filepath.Join("..", path))
		for _, m := range regexp.MustCompile(`\bmark\.([A-Z]\w+)`).FindAllSubmatch(text, -1) {
			used[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := declared.FindAllSubmatch(source, -1)
	if len(all) != int(end) {
		t.Fatalf("found %d declarations of %d marks", len(all), end)
	}
	for _, m := range all {
		if !used[string(m[1])] {
			t.Errorf("no code hits mark.%s", m[1])
		}
	}
}

func TestCountsAreSumsAndOnlyWhenAskedFor(t *testing.T) {
	defer Count(false)
	defer Reset()
	Hit(KeyMade)
	if got := Counts()[KeyMade]; got != 0 {
		t.Errorf("counted %d without being asked to", got)
	}
	Count(true)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				Hit(KeyMade)
			}
		})
	}
	all.Wait()
	if got := Counts()[KeyMade]; got != 8000 {
		t.Errorf("counted %d, want 8000", got)
	}
	Reset()
	if got := Counts()[KeyMade]; got != 0 {
		t.Errorf("%d left after a reset", got)
	}
}
