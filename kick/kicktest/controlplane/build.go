package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build provides the programs: from KUBEBUILDER_ASSETS where that is set and has
// them, else from the cache, else built with the Go toolchain, which takes some
// minutes the first time and shows itself on out (nil: silent). Two processes
// never build at once, and an interrupted build leaves nothing half done.
func Build(ctx context.Context, out io.Writer, programs ...Program) (Binaries, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	cache, err := CacheDir()
	if err != nil {
		return nil, fmt.Errorf("find the cache directory: %w", err)
	}
	b := &builder{root: root, cache: cache, progress: newProgress(out), found: Binaries{}}
	missing, err := b.lookUp(programs)
	if err != nil || len(missing) == 0 {
		return b.found, err
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	// Whoever held the lock may have built what is missing here.
	if missing, err = b.lookUp(missing); err != nil {
		return nil, err
	}
	for i, p := range missing {
		if err := b.build(ctx, p, fmt.Sprintf("%s (%d/%d)", p, i+1, len(missing))); err != nil {
			return nil, fmt.Errorf("build %s: %w", p, err)
		}
	}
	return b.found, nil
}

type builder struct {
	root, cache string
	progress    progress
	found       Binaries
}

// lookUp notes which programs exist and returns the others.
func (b *builder) lookUp(programs []Program) (missing []Program, err error) {
	for _, p := range programs {
		path, err := b.place(p)
		if err != nil {
			return nil, err
		}
		if asset := filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), string(p)); filepath.IsAbs(asset) && isFile(asset) {
			path = asset
		}
		if b.found[p] = path; !isFile(path) {
			missing = append(missing, p)
		}
	}
	return missing, nil
}

// place is where the cache keeps a program.
func (b *builder) place(p Program) (string, error) {
	src, ok := sources[p]
	if !ok {
		return "", fmt.Errorf("unknown program %q, want one of %v", p, Programs())
	}
	_, key, err := src.pin(b.root)
	return filepath.Join(b.cache, key, string(p)), err
}

func (b *builder) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(b.cache, "build.lock")
	err = b.progress.during("waiting for another build", "", func() error {
		unlock, err = lockFile(ctx, path)
		return err
	})
	return unlock, err
}

// build compiles one program beside its place and moves it there in one step.
func (b *builder) build(ctx context.Context, p Program, label string) error {
	src := sources[p]
	version, key, err := src.pin(b.root)
	if err != nil {
		return err
	}
	home := filepath.Join(b.cache, key)
	// Always the same directory, which the lock keeps to us: what is left of an
	// interrupted build goes away, and Go's own cache finds what that had compiled.
	scratch := filepath.Join(b.cache, "building")
	if err := os.RemoveAll(scratch); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	for _, dir := range []string{scratch, home} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return b.progress.during("building "+label, "built "+label, func() error {
		dir, err := b.prepare(ctx, src, scratch)
		if err != nil {
			return err
		}
		made := filepath.Join(scratch, string(p))
		if _, err := goCommand(ctx, dir, "build", "-buildvcs=false", "-ldflags", src.ldflags(version), "-o", made, src.pkg); err != nil {
			return err
		}
		if p == Kwok {
			if err := copyStages(ctx, dir, home); err != nil {
				return err
			}
		}
		return os.Rename(made, filepath.Join(home, string(p)))
	})
}

// prepare returns the directory to build in: the tool module itself, or, if it
// has patches, a vendored copy of it with the patches laid over.
func (b *builder) prepare(ctx context.Context, src source, scratch string) (string, error) {
	dir := filepath.Join(b.root, ".tools", src.tool)
	patch := filepath.Join(dir, "_patch")
	if _, err := os.Stat(patch); err != nil {
		return dir, nil
	}
	module := filepath.Join(scratch, "module")
	if err := os.CopyFS(module, os.DirFS(dir)); err != nil {
		return "", err
	}
	if _, err := goCommand(ctx, module, "mod", "vendor"); err != nil {
		return "", err
	}
	return module, os.CopyFS(module, os.DirFS(patch))
}

// goCommand runs the Go toolchain in a tool module and returns what it printed.
func goCommand(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// No cgo: static programs, and no C compiler needed. No workspace, no flags of
	// the caller: -mod or -tags meant for the root module would break these.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=", "GOOS=", "GOARCH=")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("no go command on PATH: install Go, or set KUBEBUILDER_ASSETS")
	case err != nil:
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, lastLines(stderr.String(), 15))
	}
	return strings.TrimSpace(stdout.String()), nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
