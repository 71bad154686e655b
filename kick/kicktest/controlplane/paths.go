package controlplane

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

const rootModule = "module github.com/corewire/kick\n"

// Root is the top of the source tree: from the working directory upwards, which
// is right for `go run` and `go test` in any package, else from where this file
// was compiled.
func Root() (string, error) {
	start := make([]string, 0, 2)
	if wd, err := os.Getwd(); err == nil {
		start = append(start, wd)
	}
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		start = append(start, filepath.Dir(file))
	}
	for _, dir := range start {
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
			if err == nil && bytes.Contains(content, []byte(rootModule)) {
				return dir, nil
			}
		}
	}
	return "", errors.New("not inside the source tree of KICK: the control plane is built from its .tools folder")
}

// CacheDir is where built programs and detached clusters live, outside the tree:
// KICK_CACHE_DIR, else the folder kick of the user's cache directory.
func CacheDir() (string, error) {
	if dir := os.Getenv("KICK_CACHE_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		// No HOME, as in a bare CI container: a fixed place still saves the build.
		dir = os.TempDir()
	}
	return filepath.Join(dir, "kick"), nil
}
