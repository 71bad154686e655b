package main

import (
	"go/ast"
	"go/parser"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withSwitch knows the package that the overlay adds.
type withSwitch struct {
	types.Importer
	planted *types.Package
}

func (w withSwitch) Import(path string) (*types.Package, error) {
	if path == switchImport {
		return w.planted, nil
	}
	return w.Importer.Import(path)
}

// One program holds every plant, or make mutants takes half an hour.
func TestAllPlantsShareAProgram(t *testing.T) {
	root, plants := plantsOf(t)
	c, err := newCompiler(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(c.fset, switchPath, switchText, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	planted, err := (&types.Config{Importer: c.imports}).Check(switchImport, c.fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.imports = withSwitch{c.imports, planted}
	s := newSchemata(root)
	for i := range plants {
		if err := s.add(&plants[i]); err != nil {
			t.Error(err)
		}
	}
	folders := map[string]bool{filepath.Dir(switchPath): true}
	for path := range s.files {
		if folder := filepath.ToSlash(filepath.Dir(path)); !folders[folder] {
			folders[folder] = true
			if _, _, err := c.typeCheck(folder, s.texts(), nil); err != nil {
				t.Error(err)
			}
		}
	}
}

const graftBase = `package p

import "fmt"

type T struct {
	a int // kept
}

func (t *T) Say() string {
	return fmt.Sprint(t.a)
}

func (t *T) Forget() {
	t.a = 0
}

const most = 3
`

func TestGraft(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "p.go"), []byte(graftBase), 0o600); err != nil {
		t.Fatal(err)
	}
	plant := func(id, diff string) Plant {
		p, err := parsePlant(id + ": x\nneeds: x\ntrips: x\n--- a/p.go\n+++ b/p.go\n" + diff)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	field := "@@ -6,1 +6,2 @@\n \ta int // kept\n+\tb int\n"
	s := newSchemata(root)
	for _, test := range []struct{ id, diff, problem string }{
		{id: "A", diff: "@@ -3,1 +3,1 @@\n-import \"fmt\"\n+import \"strconv\"\n@@ -10,1 +10,1 @@\n-\treturn fmt.Sprint(t.a)\n+\treturn strconv.Itoa(t.a)\n"},
		{id: "B", diff: field + "@@ -14,1 +15,1 @@\n-\tt.a = 0\n+\tt.b = 0\n"},
		{id: "C", diff: field + "@@ -17,1 +18,3 @@\n const most = 3\n+\n+func more() {}\n"},
		{id: "D", diff: strings.ReplaceAll(field, "b int", "b string"), problem: "another plant adds it otherwise"},
		{id: "E", diff: "@@ -6,1 +6,1 @@\n-\ta int // kept\n+\ta int64\n", problem: "its field a is another"},
		{id: "F", diff: "@@ -9,1 +9,1 @@\n-func (t *T) Say() string {\n+func (t T) Say() string {\n", problem: "it has another signature"},
		{id: "G", diff: "@@ -17,1 +17,1 @@\n-const most = 3\n+const most = 4\n", problem: "it is no function and no struct"},
		{id: "H", diff: "@@ -13,1 +13,1 @@\n-func (t *T) Forget() {\n+func (t *T) Forget() error {\n", problem: "it has another signature"},
	} {
		p := plant(test.id, test.diff)
		switch err := s.add(&p); {
		case test.problem == "" && err != nil:
			t.Errorf("%s: %v", test.id, err)
		case test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)):
			t.Errorf("%s: got %v, want %q", test.id, err, test.problem)
		}
	}
	got := s.texts()["p.go"]
	want := `package p
import "strconv"
import "github.com/corewire/kick/kick/planted"

import "fmt"

type T struct {
	a int // kept
b int
}

func (t *T) Say() string {
if planted.ID == "A" {
	return strconv.Itoa(t.a)
}

	return fmt.Sprint(t.a)
}

func (t *T) Forget() {
if planted.ID == "B" {
	t.b = 0

return
}

	t.a = 0
}

const most = 3

func more() {}
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
