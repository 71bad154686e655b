package pages

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// index is the page that lists all others, in reading order.
const index = "docs/README.md"

var listed = regexp.MustCompile(`\]\(([^)#\s]+\.md)\)`)

// llms makes llms.txt, a list of all pages with their first sentences, and llms-full.txt,
// all pages in one file, in the order of the index. A page that the index does not name
// fails: nobody would find it.
func llms(tree fs.FS, generated map[string]string) (map[string]string, error) {
	w := writer{tree: tree, generated: generated, seen: map[string]bool{index: true}}
	contents, err := w.read(index)
	if err != nil {
		return nil, err
	}
	title, about := opening(contents)
	fmt.Fprintf(&w.short, "# %s\n\n> %s\n\nEvery page is plain Markdown; llms-full.txt holds all of them in one file.\n", title, about)
	fmt.Fprintf(&w.full, "# %s\n\n%s\n", title, about)
	if err := w.follow(index, contents); err != nil {
		return nil, err
	}
	if err := unlisted(tree, generated, w.seen); err != nil {
		return nil, err
	}
	return map[string]string{"llms.txt": w.short.String(), "llms-full.txt": w.full.String()}, nil
}

// writer writes both files on one walk through the index.
type writer struct {
	tree        fs.FS
	generated   map[string]string
	seen        map[string]bool
	short, full strings.Builder
}

func (w *writer) read(name string) (string, error) {
	if text, ok := w.generated[name]; ok {
		return text, nil
	}
	text, err := fs.ReadFile(w.tree, name)
	return string(text), err
}

// follow writes the pages that an index names, and those that an index among them names.
func (w *writer) follow(from, contents string) error {
	for line := range strings.Lines(contents) {
		if heading, ok := strings.CutPrefix(line, "## "); ok && from == index {
			fmt.Fprintf(&w.short, "\n## %s\n", heading)
		}
		for _, found := range listed.FindAllStringSubmatch(line, -1) {
			name := path.Join(path.Dir(from), found[1])
			if w.seen[name] {
				continue
			}
			w.seen[name] = true
			text, err := w.read(name)
			if err != nil {
				return fmt.Errorf("%s names %s: %w", from, name, err)
			}
			title, about := opening(text)
			fmt.Fprintf(&w.short, "- [%s](%s): %s\n", title, name, about)
			fmt.Fprintf(&w.full, "\n---\n\nSource: %s\n\n%s", name, text)
			if path.Base(name) == path.Base(index) {
				if err := w.follow(name, text); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// unlisted is an error that names the pages that the index forgot.
func unlisted(tree fs.FS, generated map[string]string, seen map[string]bool) error {
	var forgotten []string
	err := fs.WalkDir(tree, path.Dir(index), func(name string, _ fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".md" && !seen[name] && generated[name] == "" {
			forgotten = append(forgotten, name)
		}
		return err
	})
	for name := range generated {
		if !seen[name] {
			forgotten = append(forgotten, name)
		}
	}
	if err == nil && len(forgotten) > 0 {
		err = fmt.Errorf("%s does not name %s", index, strings.Join(forgotten, ", "))
	}
	return err
}

var (
	links    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	sentence = regexp.MustCompile(`^(.*?[^0-9][.!?])(\s|$)`)
)

// opening is the title of a page and its first sentence.
func opening(text string) (title, about string) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(line, "# "); ok && title == "" {
			title = rest
			continue
		}
		if title == "" || line == "" || strings.HasPrefix(line, "<!--") {
			continue
		}
		body, _, _ := strings.Cut(strings.Join(lines[i:], "\n"), "\n\n")
		body = strings.ReplaceAll(links.ReplaceAllString(strings.Join(strings.Fields(body), " "), "$1"), "**", "")
		if first := sentence.FindStringSubmatch(body); first != nil {
			body = first[1]
		}
		return title, strings.TrimSuffix(body, ":")
	}
	return title, ""
}
