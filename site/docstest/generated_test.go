package docstest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/corewire/kick/site/pages"
)

// TestGenerated: every generated page, llms.txt and llms-full.txt are what the code and the
// other pages make them.
func TestGenerated(t *testing.T) {
	files, err := pages.Generate(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 7 {
		t.Errorf("only %d files are generated", len(files))
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Error(err)
		} else if string(got) != want {
			t.Errorf("%s is not what the code and the pages say; run make generate and commit what it writes", path)
		}
	}
}
