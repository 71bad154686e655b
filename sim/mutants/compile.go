package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// compiler type-checks plants without building them: a package that a plant touches
// is read anew, what it imports comes out of the build cache. A plant must not
// change what another package sees of the one it touches.
type compiler struct {
	root     string
	fset     *token.FileSet
	packages map[string]listed // by folder, from the root of the module
	imports  types.Importer
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath string
	Dir        string
	Export     string
	GoFiles    []string
}

func newCompiler(ctx context.Context, root string) (*compiler, error) {
	out, err := goTool(ctx, root, "list", "-e", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./cmd/kick-sim", "./cmd/kick")
	if err != nil {
		return nil, err
	}
	c := &compiler{root: root, fset: token.NewFileSet(), packages: map[string]listed{}}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read what go list says: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if folder, err := filepath.Rel(root, p.Dir); err == nil && filepath.IsLocal(folder) {
			c.packages[filepath.ToSlash(folder)] = p
		}
	}
	c.imports = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("%s does not compile as it stands", path)
		}
		return os.Open(exports[path])
	})
	return c, nil
}

// check reports whether a plant applies and compiles.
func (c *compiler) check(p *Plant) error {
	texts, err := p.patched(c.root)
	if err != nil {
		return err
	}
	folders := map[string]bool{}
	for path := range texts {
		folder := filepath.ToSlash(filepath.Dir(path))
		if folders[folder] {
			continue
		}
		folders[folder] = true
		if _, _, err := c.typeCheck(folder, texts, nil); err != nil {
			return fmt.Errorf("%s does not compile: %w", p.ID, err)
		}
	}
	return nil
}

// typeCheck reads a package, with texts in place of some of its files, and fills info
// unless it is nil.
func (c *compiler) typeCheck(folder string, texts map[string]string, info *types.Info) ([]*ast.File, *types.Package, error) {
	pkg, known := c.packages[folder]
	if !known {
		return nil, nil, fmt.Errorf("neither kick nor kick-sim is made of %s", folder)
	}
	var files []*ast.File
	for _, name := range pkg.GoFiles {
		var source any
		if text, touched := texts[folder+"/"+name]; touched {
			source = text
		}
		file, err := parser.ParseFile(c.fset, filepath.Join(pkg.Dir, name), source, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, file)
	}
	config := types.Config{Importer: c.imports}
	checked, err := config.Check(pkg.ImportPath, c.fset, files, info)
	return files, checked, err
}

// build compiles kick-sim with one plant into dir.
func build(ctx context.Context, root, dir string, p *Plant) (program, error) {
	texts, err := p.patched(root)
	if err != nil {
		return program{}, err
	}
	binary, err := buildWith(ctx, root, filepath.Join(dir, p.ID), texts)
	return program{binary: binary}, err
}

// overlay writes the file in dir that tells the Go toolchain which texts to read
// instead of some files, and returns its path.
func overlay(root, dir string, texts map[string]string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range texts {
		copied := filepath.Join(dir, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(path))] = copied
	}
	said, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, said, 0o600)
}

// buildWith compiles kick-sim with other texts in place of some of its files.
func buildWith(ctx context.Context, root, dir string, texts map[string]string) (string, error) {
	file, err := overlay(root, dir, texts)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "kick-sim")
	_, err = goTool(ctx, root, "build", "-buildvcs=false", "-ldflags=-s -w", "-overlay", file, "-o", binary, "./cmd/kick-sim")
	return binary, err
}

// goTool runs the Go toolchain in the module and returns what it printed.
func goTool(ctx context.Context, root string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(errs.Bytes()))
	}
	return out.Bytes(), nil
}
