package main

import (
	"fmt"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// imports are the packages a text may import.
type imports map[string]*types.Package

func (i imports) Import(path string) (*types.Package, error) {
	if p, ok := i[path]; ok {
		return p, nil
	}
	return nil, fmt.Errorf("there is no %s", path)
}

// Every mutation stands behind its number, and what it is made of is right Go.
func TestMutate(t *testing.T) {
	dir := t.TempDir()
	const text = `package p

const day = 24 * hour

const hour = 60

func late(minutes, days int, names string) bool {
	days--
	return minutes >= day-1 && names+"!" != "" || days == -2
}
`
	if err := os.WriteFile(filepath.Join(dir, "late.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	switches := types.NewPackage(switchImport, "planted")
	switches.Scope().Insert(types.NewVar(token.NoPos, switches, "ID", types.Typ[types.String]))
	switches.MarkComplete()
	c := compiler{
		fset: fset, packages: map[string]listed{"p": {ImportPath: "p", Dir: dir, GoFiles: []string{"late.go"}}},
		imports: imports{switchImport: switches},
	}
	all := mutations{texts: map[string]string{}, switched: make([]mutation, 7)}
	if err := c.mutate("p", &all); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.typeCheck("p", all.texts, nil); err != nil {
		t.Errorf("the mutations do not compile: %v\n%s", err, all.texts["p/late.go"])
	}
	var got []string
	for _, m := range append(all.switched[7:], all.separate...) {
		got = append(got, fmt.Sprintf("%d %s %s", m.place.Line, m.from, m.to))
	}
	slices.Sort(got)
	want := []string{"3 * /", "8 -- ++", "9 != ==", "9 && ||", "9 - +", "9 - +", "9 == !=", "9 >= <", "9 >= >", "9 || &&"}
	if !slices.Equal(got, want) {
		t.Errorf("got mutants %q, want %q", got, want)
	}
	if text := all.texts["p/late.go"]; !strings.Contains(text, `case "8": `) || strings.Contains(text, `case "7": `) {
		t.Errorf("the numbers do not begin behind 7:\n%s", text)
	}
}

func TestMutationApply(t *testing.T) {
	const text = "package p\n\nvar ok = 1 < 2\n"
	m := mutation{place: token.Position{Offset: strings.Index(text, "<")}, from: token.LSS, to: token.GEQ}
	if got, want := m.apply(text), "package p\n\nvar ok = 1 >= 2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
