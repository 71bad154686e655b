// Package pages makes the pages of the reference from what the code says of itself: CRDs,
// flags, phases, reasons, events, and what scenarios are made of. From all pages together
// it makes llms.txt and llms-full.txt. It reads a tree of files and writes nothing.
//
//	files, err := pages.Generate(os.DirFS("."))
package pages

import (
	"fmt"
	"io/fs"
	"maps"
	"strings"
)

// made says of each generated page how it is made.
var made = map[string]func(tree fs.FS) (string, error){
	"docs/reference/api.md":       api,
	"docs/reference/flags.md":     flags,
	"docs/reference/requests.md":  requests,
	"docs/reference/events.md":    eventsPage,
	"docs/reference/scenarios.md": scenarios,
}

// Generate makes all generated files, by their path in the tree. The tree must hold the
// sources of kick/model/request and all pages that are written by hand.
func Generate(tree fs.FS) (map[string]string, error) {
	files := map[string]string{}
	for path, page := range made {
		content, err := page(tree)
		if err != nil {
			return nil, fmt.Errorf("make %s: %w", path, err)
		}
		files[path] = content
	}
	texts, err := llms(tree, files)
	if err != nil {
		return nil, err
	}
	maps.Copy(files, texts)
	return files, nil
}

// note stands at the top of a generated page.
func note(title, about string) string {
	return "# " + title + "\n\n" + about + " Written by `make generate` from the code; a test fails when this page is not what the code says.\n"
}

// cell makes text fit into a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// code is text as code, or nothing.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}
