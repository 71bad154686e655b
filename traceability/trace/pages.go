package trace

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// page is what is read of a Markdown file.
type page struct {
	anchors map[string]bool
	links   []link
	example bool // it has a fenced block
}

type link struct {
	target string
	line   int
}

var (
	linkForm = regexp.MustCompile(`\]\(([^)\s]+)(?:\s+"[^"]*")?\)`)
	codeSpan = regexp.MustCompile("`[^`]*`")
	heading  = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// readPage finds headings, links and examples. What stands in a fence is none of the first two.
func readPage(text []byte) page {
	p := page{anchors: map[string]bool{}}
	times := map[string]int{}
	fence := ""
	for i, line := range strings.Split(string(text), "\n") {
		start := strings.TrimLeft(line, " >")
		if marker := start[:min(3, len(start))]; marker == "```" || marker == "~~~" {
			p.example = true
			switch fence {
			case "":
				fence = marker
			case marker:
				fence = ""
			}
			continue
		}
		if fence != "" {
			continue
		}
		if title := heading.FindStringSubmatch(line); title != nil {
			slug := anchor(title[1])
			times[slug]++
			if n := times[slug]; n > 1 {
				slug = fmt.Sprintf("%s-%d", slug, n-1)
			}
			p.anchors[slug] = true
		}
		for _, found := range linkForm.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
			p.links = append(p.links, link{found[1], i + 1})
		}
	}
	return p
}

// anchor is what GitHub makes of a heading.
func anchor(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(linkText.ReplaceAllString(title, "$1")) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	return b.String()
}

// checkPages follows the links of all pages and of the features.
func (t *Tree) checkPages() {
	pages := map[string]page{}
	read := func(file string, text []byte) { pages[file] = readPage(text) }
	t.walk(".", ".md", read)
	for _, f := range t.Features {
		file, at, _ := strings.Cut(f.Doc, "#")
		p, ok := pages[file]
		switch {
		case !ok:
			t.report(FeaturesFile, f.line, "%s: its page %q does not exist", f.ID, file)
		case at == "":
			t.report(FeaturesFile, f.line, "%s: doc %q names no heading: write page.md#heading", f.ID, f.Doc)
		case !p.anchors[at]:
			t.report(FeaturesFile, f.line, "%s: %s has no heading %q", f.ID, file, at)
		case !p.example:
			t.report(FeaturesFile, f.line, "%s: %s has no example (a fenced block)", f.ID, file)
		}
	}
	t.followLinks(pages)
}

// followLinks reports the dead links of the pages that users read.
func (t *Tree) followLinks(pages map[string]page) {
	for file, p := range pages {
		if !strings.Contains(file, "/") || strings.HasPrefix(file, "docs/") || strings.HasPrefix(file, "charts/") {
			for _, l := range p.links {
				if why := t.dead(file, l.target, pages); why != "" {
					t.report(file, l.line, "the link to %s is dead: %s", l.target, why)
				}
			}
		}
	}
}

// dead says why a link leads nowhere. Those to other sites are judged by their form.
func (t *Tree) dead(from, target string, pages map[string]page) string {
	parsed, err := url.Parse(target)
	if err != nil {
		return "it is no address"
	}
	if parsed.Scheme != "" || parsed.Host != "" {
		return badForm(parsed)
	}
	file := from
	if parsed.Path != "" {
		file = path.Join(path.Dir(from), parsed.Path)
	}
	if !fs.ValidPath(file) {
		return "it leads out of the tree"
	}
	if _, err := fs.Stat(t.files, file); err != nil {
		return "there is no such file"
	}
	if p, ok := pages[file]; ok && parsed.Fragment != "" && !p.anchors[parsed.Fragment] {
		return "the page has no such heading"
	}
	return ""
}

// badForm says what is wrong with an address outside the tree.
func badForm(u *url.URL) string {
	site := u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
	if site || u.Scheme == "mailto" {
		return ""
	}
	return "it is no address"
}
