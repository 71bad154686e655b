package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
)

// source is a Go file that was read.
type source struct {
	text  string
	fset  *token.FileSet
	file  *ast.File
	decls map[string]ast.Node // of its top, by a name that is theirs alone
}

func parseSource(text string) (source, error) {
	s := source{text: text, fset: token.NewFileSet(), decls: map[string]ast.Node{}}
	var err error
	if s.file, err = parser.ParseFile(s.fset, "", text, parser.SkipObjectResolution); err != nil {
		return s, err
	}
	for _, d := range s.file.Decls {
		if name := nameOf(d); name != "" {
			s.decls[name] = d
		}
	}
	return s, nil
}

func (s *source) offset(at token.Pos) int { return s.fset.Position(at).Offset }

func (s *source) between(from, to token.Pos) string { return s.text[s.offset(from):s.offset(to)] }

func (s *source) of(n ast.Node) string { return s.between(n.Pos(), n.End()) }

func (s *source) signature(f *ast.FuncDecl) string { return s.between(f.Pos(), f.Body.Lbrace) }

// nameOf tells declarations apart; it is empty for imports.
func nameOf(n ast.Node) string {
	switch d := n.(type) {
	case *ast.FuncDecl:
		name := "func " + d.Name.Name
		if d.Recv != nil {
			ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
				if of, ok := n.(*ast.Ident); ok {
					name += " of " + of.Name
				}
				return true
			})
		}
		return name
	case *ast.GenDecl:
		switch spec := d.Specs[0].(type) {
		case *ast.TypeSpec:
			return "type " + spec.Name.Name
		case *ast.ValueSpec:
			return d.Tok.String() + " " + spec.Names[0].Name
		}
	}
	return ""
}

// structOf is the struct that a declaration declares; nil if it does not.
func structOf(n ast.Node) *ast.StructType {
	if d, ok := n.(*ast.GenDecl); ok && len(d.Specs) == 1 {
		if spec, ok := d.Specs[0].(*ast.TypeSpec); ok {
			of, _ := spec.Type.(*ast.StructType)
			return of
		}
	}
	return nil
}

// fieldLike is the field of the same name.
func fieldLike(in *ast.StructType, field *ast.Field) *ast.Field {
	for _, f := range in.Fields.List {
		if fieldName(f) == fieldName(field) {
			return f
		}
	}
	return nil
}

// fieldName joins the names that a field's line declares.
func fieldName(f *ast.Field) string {
	if len(f.Names) == 0 { // embedded
		return types.ExprString(f.Type)
	}
	var names []string
	for _, n := range f.Names {
		names = append(names, n.Name)
	}
	return strings.Join(names, ", ")
}
