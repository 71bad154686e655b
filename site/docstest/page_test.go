package docstest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// notRun marks a block of commands that needs what a test has not; the reason follows.
const notRun = "<!-- not run by the test: "

// block is one fenced block of a page.
type block struct {
	page    string
	line    int    // of its fence
	heading string // that it stands under
	lang    string // first word behind the fence
	text    string
	skip    string // why it is not run; empty: it is
	prints  *block // the text block that follows a block of commands
}

// blocks reads the fenced blocks of a page, in order.
func blocks(t *testing.T, page string) []*block {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	var all []*block
	var open, last *block
	heading, skip := "", ""
	for i, line := range strings.Split(string(content), "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case open != nil && isFence:
			last, open = open, nil
		case open != nil:
			open.text += line + "\n"
		case isFence:
			open = &block{page: page, line: i + 1, heading: heading, lang: strings.TrimSpace(fence), skip: skip}
			if open.lang == "text" && last != nil && last.lang == "sh" && last.prints == nil {
				last.prints = open
			}
			all, skip = append(all, open), ""
		case strings.HasPrefix(line, notRun):
			skip = strings.TrimSuffix(strings.TrimPrefix(line, notRun), " -->")
		case strings.HasPrefix(line, "#"):
			heading, last = strings.TrimSpace(strings.TrimLeft(line, "#")), nil
		}
	}
	if open != nil {
		t.Fatalf("%s:%d: the block is not closed", page, open.line)
	}
	return all
}

// allPages are the pages that users read.
func allPages(t *testing.T) []string {
	t.Helper()
	all := []string{"README.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ os.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			path, err = filepath.Rel(root, path)
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
