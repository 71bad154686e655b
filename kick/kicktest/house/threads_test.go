package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// realWorld is the code that the simulator does not replay.
var realWorld = []string{"kick/operator", "kick/kicktest", "sim/confirm"}

// besides are files that start goroutines around simulations, never inside one.
var besides = []string{
	"sim/run/all.go", // whole scenarios run side by side, each in a world of its own
}

// TestNoGoroutinesInSimulatedCode: what the simulator replays runs on one thread,
// else a schedule could not be replayed from its choices.
func TestNoGoroutinesInSimulatedCode(t *testing.T) {
	const root = "../../.."
	files := token.NewFileSet()
	seen := 0
	for _, top := range []string{"kick", "sim"} {
		err := fs.WalkDir(os.DirFS(root), top, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && slices.Contains(realWorld, path):
				return fs.SkipDir
			case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || slices.Contains(besides, path):
				return nil
			}
			seen++
			file, err := parser.ParseFile(files, filepath.Join(root, path), nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if statement, ok := node.(*ast.GoStmt); ok {
					t.Errorf("%s: go statement in simulated code", files.Position(statement.Pos()))
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if seen == 0 {
		t.Error("no source file found: this test proves nothing")
	}
}
