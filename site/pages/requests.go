package pages

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// constant is a named string of the code and what its comment says.
type constant struct{ group, name, value, about string }

// constants reads the string constants of one type from the sources of a package.
func constants(tree fs.FS, dir, of string) ([]constant, error) {
	names, err := fs.Glob(tree, path.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []constant
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, declaration := range file.Decls {
			if d, ok := declaration.(*ast.GenDecl); ok && d.Tok == token.CONST {
				all = append(all, declared(d, of)...)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s declares no constant of type %s", dir, of)
	}
	return all, nil
}

// declared reads one group of constants.
func declared(d *ast.GenDecl, of string) (all []constant) {
	for _, s := range d.Specs {
		spec := s.(*ast.ValueSpec)
		typed, _ := spec.Type.(*ast.Ident)
		if typed == nil || typed.Name != of || len(spec.Values) != 1 {
			continue
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			continue
		}
		value, err := strconv.Unquote(literal.Value)
		if err != nil {
			continue // a number
		}
		about := paragraph(spec.Comment.Text())
		if about == "" {
			about = strings.TrimPrefix(paragraph(spec.Doc.Text()), spec.Names[0].Name+": ")
		}
		all = append(all, constant{paragraph(d.Doc.Text()), spec.Names[0].Name, value, about})
	}
	return all
}

const requestFolder = "kick/model/request"

// requests explains the phases and the reasons of a KickRequest.
func requests(tree fs.FS) (string, error) {
	phases, err := constants(tree, requestFolder, "Phase")
	if err != nil {
		return "", err
	}
	reasons, err := constants(tree, requestFolder, "Reason")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(note("Phases and reasons of a KickRequest", "`status.phase` says where a request stands, `status.gate.reason` in one word why; `status.gate.message` is a sentence that names objects, fields and times. What to do about each is in [troubleshooting](../guides/troubleshooting.md)."))
	b.WriteString("\n## Phases\n\n| phase | meaning |\n|---|---|\n")
	for _, p := range phases {
		fmt.Fprintf(&b, "| %s | %s |\n", code(p.value), cell(p.about))
	}
	group := ""
	for _, r := range reasons {
		if r.group != group {
			group = r.group
			fmt.Fprintf(&b, "\n## %s\n\n| reason | meaning |\n|---|---|\n", strings.TrimSuffix(group, "."))
		}
		fmt.Fprintf(&b, "| %s | %s |\n", code(r.value), cell(r.about))
	}
	b.WriteString("\nProof: which phase may follow which is tested for all pairs in `kick/model/request`; the law that every phase a request passes through is legal, and that every wait has a wake-up, is checked in [every schedule of the simulator](../simulator.md).\n")
	return b.String(), nil
}
