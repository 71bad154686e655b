package main

import (
	"errors"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// graft is a file into which variants of its functions are put.
type graft struct {
	source
	taken []insert
	names map[string]string // what was put in under a name, by the name
}

// insert is a text that is put into a file.
type insert struct {
	at   int    // offset in the file as it stands
	name string // what is put in once, however many plants bring it; may be empty
	text string
}

func newGraft(root, path string) (*graft, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return nil, err
	}
	read, err := parseSource(string(text))
	if err != nil {
		return nil, err
	}
	return &graft{source: read, names: map[string]string{}}, nil
}

// take puts in what inserts returned.
func (g *graft) take(inserts []insert) {
	for _, in := range inserts {
		if _, known := g.names[in.name]; known && in.name != "" {
			continue
		}
		g.names[in.name] = in.text
		g.taken = append(g.taken, in)
	}
}

// joined is the text of the file with all that was taken.
func (g *graft) joined() string {
	slices.SortStableFunc(g.taken, func(a, b insert) int { return a.at - b.at })
	var b strings.Builder
	from := 0
	for _, in := range g.taken {
		b.WriteString(g.text[from:in.at])
		b.WriteString(in.text)
		from = in.at
	}
	b.WriteString(g.text[from:])
	return b.String()
}

// inserts are what turns the file into one that can do as the changed text does.
func (g *graft) inserts(plant, changed string) ([]insert, error) {
	other, err := parseSource(changed)
	if err != nil {
		return nil, err
	}
	out := g.imports(&other)
	for _, decl := range other.file.Decls {
		name := nameOf(decl)
		if name == "" {
			continue
		}
		old, known := g.decls[name]
		var in []insert
		switch {
		case !known:
			in = []insert{{at: len(g.text), name: name, text: "\n" + other.of(decl) + "\n"}}
		case g.of(old) != other.of(decl):
			in, err = g.variant(plant, old, &other, decl)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, in...)
	}
	for _, in := range out {
		if text, known := g.names[in.name]; known && in.name != "" && text != in.text {
			return nil, fmt.Errorf("%s: another plant adds it otherwise", in.name)
		}
	}
	return out, nil
}

// imports are those that the file has not.
func (g *graft) imports(other *source) []insert {
	var out []insert
	for _, spec := range other.file.Imports {
		if !slices.ContainsFunc(g.file.Imports, func(have *ast.ImportSpec) bool { return g.of(have) == other.of(spec) }) {
			out = append(out, g.importOf(other.of(spec)))
		}
	}
	return out
}

func (g *graft) importOf(spec string) insert {
	text := "\nimport " + spec
	return insert{at: g.offset(g.file.Name.End()), name: text, text: text}
}

// variant is what a declaration needs in order to be the other one, too.
func (g *graft) variant(plant string, old ast.Node, other *source, decl ast.Node) ([]insert, error) {
	if was, ok := old.(*ast.FuncDecl); ok {
		is := decl.(*ast.FuncDecl)
		if g.signature(was) != other.signature(is) {
			return nil, errors.New("it has another signature")
		}
		body := other.between(is.Body.Lbrace+1, is.Body.Rbrace)
		if is.Type.Results == nil {
			body += "\nreturn\n"
		}
		at := g.offset(was.Body.Lbrace + 1)
		return []insert{
			g.importOf(strconv.Quote(switchImport)),
			{at: at, text: fmt.Sprintf("\nif planted.ID == %q {%s}\n", plant, body)},
		}, nil
	}
	return g.fields(old, other, decl)
}

// fields are those that the struct has not.
func (g *graft) fields(old ast.Node, other *source, decl ast.Node) ([]insert, error) {
	was, is := structOf(old), structOf(decl)
	if was == nil || is == nil {
		return nil, errors.New("it is no function and no struct")
	}
	var out []insert
	for _, field := range is.Fields.List {
		text := other.of(field)
		switch have := fieldLike(was, field); {
		case have == nil:
			out = append(out, insert{at: g.offset(was.Fields.Closing), name: "field of " + nameOf(old) + ": " + fieldName(field), text: text + "\n"})
		case strings.Join(strings.Fields(g.of(have)), " ") != strings.Join(strings.Fields(text), " "):
			return nil, fmt.Errorf("its field %s is another", fieldName(field))
		}
	}
	return out, nil
}
