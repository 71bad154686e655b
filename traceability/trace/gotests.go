package trace

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// harness is the package that starts a real control plane.
const harness = "/kick/kicktest/controlplane"

// provesLine is the last line of a test's doc comment.
var provesLine = regexp.MustCompile(`^// Proves: ([^.]*)\.$`)

// testFile is a parsed file of tests.
type testFile struct {
	name string
	*ast.File
}

// readTests finds the Go tests that say what they prove.
func (t *Tree) readTests() {
	positions := token.NewFileSet()
	folders := map[string][]testFile{}
	var order []string
	t.walk(".", "_test.go", func(file string, text []byte) {
		parsed, err := parser.ParseFile(positions, file, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.report(file, 1, "%v", err)
			return
		}
		folder := path.Dir(file)
		if folders[folder] == nil {
			order = append(order, folder)
		}
		folders[folder] = append(folders[folder], testFile{file, parsed})
	})
	for _, folder := range order {
		real := onControlPlane(folders[folder])
		for _, file := range folders[folder] {
			t.addTests(positions, file, real)
		}
	}
}

func (t *Tree) addTests(positions *token.FileSet, file testFile, real map[string]bool) {
	attached := map[*ast.Comment]*ast.FuncDecl{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Doc != nil && isTest(f) {
			attached[f.Doc.List[len(f.Doc.List)-1]] = f
		}
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, "// Proves:") {
				t.addTest(positions, file, comment, attached[comment], real)
			}
		}
	}
}

// addTest reads what a comment says of a test; a nil one: it stands at none.
func (t *Tree) addTest(positions *token.FileSet, file testFile, comment *ast.Comment, test *ast.FuncDecl, real map[string]bool) {
	line := positions.Position(comment.Pos()).Line
	words := provesLine.FindStringSubmatch(comment.Text)
	switch {
	case words == nil:
		t.report(file.name, line, "cannot be read: write // Proves: KICK-FEAT-003, I2.")
	case test == nil:
		t.report(file.name, line, "stands at no test: make it the last line of the doc comment of a Test function")
	case skips(test) || neverBuilt(file):
		t.report(file.name, line, "%s never runs, so it proves nothing", test.Name.Name)
	default:
		level := Unit
		if real[test.Name.Name] {
			level = Envtest
		}
		ids := regexp.MustCompile(`,\s*`).Split(words[1], -1)
		t.Proofs = append(t.Proofs, Proof{Level: level, Name: test.Name.Name, File: file.name,
			Line: positions.Position(test.Pos()).Line, Features: t.known(ids, file.name, line)})
	}
}

func isTest(f *ast.FuncDecl) bool {
	return f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && len(f.Type.Params.List) == 1
}

// skips reports whether a test is left out whatever happens: a call of Skip that stands
// under no condition.
func skips(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Body.List, func(s ast.Stmt) bool {
		statement, ok := s.(*ast.ExprStmt)
		if !ok {
			return false
		}
		call, ok := statement.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		return ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, method.Sel.Name)
	})
}

// neverBuilt reports whether a file asks for a tag that a plain go test does not set.
func neverBuilt(file testFile) bool {
	for _, group := range file.Comments {
		if group.Pos() > file.Package {
			break
		}
		for _, comment := range group.List {
			if expr, err := constraint.Parse(comment.Text); err == nil && !expr.Eval(isPlainTag) {
				return true
			}
		}
	}
	return false
}

func isPlainTag(tag string) bool {
	return tag == "linux" || tag == "unix" || tag == "amd64" || tag == "gc" || strings.HasPrefix(tag, "go1.")
}

// onControlPlane names what, in the tests of a folder, comes to the control plane's package,
// directly or through others: names are compared, which errs towards more.
func onControlPlane(files []testFile) map[string]bool {
	uses := map[string][]string{}
	reaches := map[string]bool{}
	for _, file := range files {
		imported := slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool {
			return strings.HasSuffix(strings.Trim(i.Path.Value, `"`), harness)
		})
		for _, d := range file.Decls {
			for _, name := range names(d) {
				ast.Inspect(d, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						uses[name] = append(uses[name], id.Name)
						reaches[name] = reaches[name] || imported && id.Name == path.Base(harness)
					}
					return true
				})
			}
		}
	}
	for grown := true; grown; {
		grown = false
		for name, used := range uses {
			if !reaches[name] && slices.ContainsFunc(used, func(u string) bool { return reaches[u] }) {
				reaches[name], grown = true, true
			}
		}
	}
	return reaches
}

// names are what a declaration declares.
func names(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []string{d.Name.Name}
	case *ast.GenDecl:
		var all []string
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				all = append(all, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					all = append(all, n.Name)
				}
			}
		}
		return all
	}
	return nil
}
