// Command generate writes the pages that are made from the code, and llms.txt and
// llms-full.txt, which are made from all pages. It is part of make generate; make verify
// and a test fail when a file is not what it writes.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/corewire/kick/site/pages"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run writes all files below the root of the tree.
func run(root string) error {
	files, err := pages.Generate(os.DirFS(root))
	if err != nil {
		return err
	}
	for path, content := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil { //nolint:gosec // a page of the tree, for everybody to read
			return err
		}
	}
	return nil
}
