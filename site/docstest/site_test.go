package docstest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fence    = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	linkForm = map[string]*regexp.Regexp{
		".html": regexp.MustCompile(`(?:href|src)="([^"]+)"`),
		".md":   regexp.MustCompile(`\]\(([^)\s]+)\)`),
	}
)

// TestSite builds the site. Every page is there as HTML and as the Markdown it is made of,
// and no link between them is dead.
func TestSite(t *testing.T) {
	if _, err := exec.LookPath("hugo"); err != nil {
		t.Skip("NOT CHECKED: hugo is not installed, so the site was not built; apt-get install hugo")
	}
	to := filepath.Join(t.TempDir(), "site")
	build := exec.CommandContext(t.Context(), filepath.Join(root, "site", "build"), to)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, page := range allPages(t)[1:] {
		name := filepath.Join(to, strings.TrimSuffix(strings.TrimPrefix(page, "docs/"), ".md"))
		for _, form := range []string{".html", ".md"} {
			if _, err := os.Stat(name + form); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	links := 0
	err := filepath.WalkDir(to, func(path string, _ os.DirEntry, err error) error {
		form := linkForm[filepath.Ext(path)]
		if err != nil || form == nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if filepath.Ext(path) == ".md" {
			text = fence.ReplaceAll(text, nil)
		}
		for _, link := range form.FindAllSubmatch(text, -1) {
			links++
			if why := dead(path, string(link[1])); why != "" {
				t.Errorf("%s: the link to %s is dead: %s", strings.TrimPrefix(path, to), link[1], why)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if links < 1000 {
		t.Errorf("only %d links were followed", links)
	}
}

// dead says why a link of the site leads nowhere; those to other sites are not followed.
func dead(from, link string) string {
	if strings.Contains(link, "://") {
		return ""
	}
	file, anchor, _ := strings.Cut(link, "#")
	if file == "" {
		file = from
	} else {
		file = filepath.Join(filepath.Dir(from), file)
	}
	text, err := os.ReadFile(file)
	switch {
	case err != nil:
		return "there is no such file"
	case anchor != "" && filepath.Ext(file) == ".html" && !strings.Contains(string(text), `id="`+anchor+`"`):
		return "the page has no such heading"
	}
	return ""
}
