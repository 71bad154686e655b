package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// mutations are all small changes of some packages. Schemata hold most of them, each
// under its number as the name of a plant.
type mutations struct {
	texts    map[string]string // of the files that differ, by their path from the root of the module
	switched []mutation        // number 1 first
	separate []mutation        // those no switch can choose, as in the declaration of a constant
}

// mutate finds the mutations of a package.
func (c *compiler) mutate(folder string, all *mutations) error {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	files, pkg, err := c.typeCheck(folder, nil, info)
	if err != nil {
		return err
	}
	for i, file := range files {
		name := c.packages[folder].GoFiles[i]
		text, err := os.ReadFile(filepath.Join(c.packages[folder].Dir, name))
		if err != nil {
			return err
		}
		w := switcher{mutations: all, name: folder + "/" + name, text: string(text), file: c.fset.File(file.FileStart), info: info, qualify: imported(file, pkg)}
		before := len(all.switched)
		changed := w.render(file, file.Name.End(), file.FileEnd)
		if len(all.switched) > before {
			all.texts[w.name] = w.plain(file.FileStart, file.Name.End()) + "\nimport " + strconv.Quote(switchImport) + changed
		}
	}
	return nil
}

// imported names packages as a file does; "?" for those it does not import.
func imported(file *ast.File, own *types.Package) types.Qualifier {
	names := map[string]string{own.Path(): ""}
	for _, spec := range file.Imports {
		if at, err := strconv.Unquote(spec.Path.Value); err == nil {
			names[at] = path.Base(at)
			if spec.Name != nil {
				names[at] = spec.Name.Name
			}
		}
	}
	return func(p *types.Package) string {
		if name, ok := names[p.Path()]; ok {
			return name
		}
		return "?"
	}
}

// switcher writes the mutants of a file behind switches.
type switcher struct {
	*mutations
	name     string
	text     string
	file     *token.File
	info     *types.Info
	qualify  types.Qualifier
	constant bool // the text must stay constant
}

func (w *switcher) plain(from, to token.Pos) string {
	return w.text[w.file.Offset(from):w.file.Offset(to)]
}

// render is the text of a node, with switches for the mutants inside.
func (w *switcher) render(n ast.Node, from, to token.Pos) string {
	var b strings.Builder
	ast.Inspect(n, func(child ast.Node) bool {
		if child == nil || child == n {
			return true
		}
		if mustStay(child) && !w.constant {
			w.constant = true
			w.render(child, child.Pos(), child.End())
			w.constant = false
			return false
		}
		text, ok := w.choose(child)
		if ok {
			b.WriteString(w.plain(from, child.Pos()) + text)
			from = child.End()
		}
		return !ok
	})
	return b.String() + w.plain(from, to)
}

// mustStay reports whether a node holds nothing but constants for the compiler.
func mustStay(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.CONST
	case *ast.ArrayType:
		return true
	}
	return false
}

// choose is the text of a node with an operator: the mutants behind their numbers,
// or else the operator as it is. Inside the mutants nothing else is switched, since
// one mutant at a time is on.
func (w *switcher) choose(n ast.Node) (string, bool) {
	op, at, ok := operator(w.info, n)
	if !ok {
		return "", false
	}
	result := ""
	before, after := w.plain(n.Pos(), at), w.plain(at+token.Pos(len(op.String())), n.End())
	if _, binary := n.(*ast.BinaryExpr); binary { // another operator may bind otherwise
		before, after = "("+before+")", "("+after+")"
	}
	if e, isExpression := n.(ast.Expr); isExpression {
		result = types.TypeString(types.Default(w.info.TypeOf(e)), w.qualify)
	}
	if w.constant || strings.Contains(result, "?") {
		for _, to := range swaps[op] {
			w.separate = append(w.separate, mutation{file: w.name, place: w.file.Position(at), from: op, to: to})
		}
		return "", false
	}
	verb := ""
	if result != "" {
		verb = "return "
	}
	var b strings.Builder
	fmt.Fprintf(&b, "func() %s { switch planted.ID {", result)
	for _, to := range swaps[op] {
		w.switched = append(w.switched, mutation{file: w.name, place: w.file.Position(at), from: op, to: to})
		fmt.Fprintf(&b, " case \"%d\": %s%s%s%s\n", len(w.switched), verb, before, to, after)
	}
	fmt.Fprintf(&b, " default: %s%s\n }", verb, w.operands(n, op, at))
	if result != "" {
		b.WriteString("; panic(0)")
	}
	b.WriteString(" }()")
	return b.String(), true
}

// operands is a node with its own operator, and switches inside.
func (w *switcher) operands(n ast.Node, op token.Token, at token.Pos) string {
	right := at + token.Pos(len(op.String()))
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return w.operand(n.X, n.Pos(), at) + op.String() + w.operand(n.Y, right, n.End())
	case *ast.UnaryExpr:
		return op.String() + w.operand(n.X, right, n.End())
	}
	return w.plain(n.Pos(), n.End())
}

func (w *switcher) operand(e ast.Expr, from, to token.Pos) string {
	text, ok := w.choose(e)
	if !ok {
		return w.render(e, from, to)
	}
	return w.plain(from, e.Pos()) + text + w.plain(e.End(), to)
}
