package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// fileDiff is what a patch does to one file.
type fileDiff struct {
	path  string // from the root of the module, slashes
	hunks []hunk
}

// hunk replaces a run of whole lines.
type hunk struct {
	line     int // where the run begins, from 1; a guide only
	old, new []string
}

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@`)

// parseDiff reads a unified diff. Files are only ever changed, not made or removed.
func parseDiff(text string) ([]fileDiff, error) {
	var files []fileDiff
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if path, found := strings.CutPrefix(line, "--- a/"); found {
			files = append(files, fileDiff{path: path})
			continue
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("line %d of the diff: want --- a/FILE, not %q", i+1, line)
		}
		if err := files[len(files)-1].read(line); err != nil {
			return nil, fmt.Errorf("line %d of the diff: %w", i+1, err)
		}
	}
	return files, nil
}

// read takes one line that follows the name of the file.
func (d *fileDiff) read(line string) error {
	if other, found := strings.CutPrefix(line, "+++ b/"); found && len(d.hunks) == 0 {
		if other != d.path {
			return fmt.Errorf("%s becomes %s; files cannot be renamed", d.path, other)
		}
		return nil
	}
	if head := hunkHead.FindStringSubmatch(line); head != nil {
		at, err := strconv.Atoi(head[1])
		d.hunks = append(d.hunks, hunk{line: at})
		return err
	}
	if len(d.hunks) == 0 || !d.hunks[len(d.hunks)-1].add(line) {
		return fmt.Errorf("cannot read %q", line)
	}
	return nil
}

// add takes one line of the hunk's body.
func (h *hunk) add(line string) bool {
	if line == "" { // context whose blank an editor took away
		line = " "
	}
	text := line[1:]
	switch line[0] {
	case ' ':
		h.old, h.new = append(h.old, text), append(h.new, text)
	case '-':
		h.old = append(h.old, text)
	case '+':
		h.new = append(h.new, text)
	default:
		return false
	}
	return true
}

// apply changes the text of a file. Each hunk must match whole lines exactly; where
// they stand may have moved, but must be unmistakable: of several places the one
// nearest to the line that the hunk names.
func (d *fileDiff) apply(text string) (string, error) {
	lines := strings.Split(text, "\n")
	moved := 0
	for i, h := range d.hunks {
		at, err := h.find(lines, h.line-1+moved)
		if err != nil {
			return "", fmt.Errorf("%s, hunk %d: %w", d.path, i+1, err)
		}
		changed := append([]string(nil), lines[:at]...)
		changed = append(changed, h.new...)
		lines = append(changed, lines[at+len(h.old):]...)
		moved = at - (h.line - 1) + len(h.new) - len(h.old)
	}
	return strings.Join(lines, "\n"), nil
}

// find is where the hunk's old lines stand.
func (h *hunk) find(lines []string, near int) (int, error) {
	best := -1
	for at := 0; at+len(h.old) <= len(lines); at++ {
		if h.matches(lines[at:]) && (best < 0 || abs(at-near) < abs(best-near)) {
			best = at
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("its lines are not in the file any more; make the patch anew for the code around %q", strings.TrimSpace(h.landmark()))
	}
	return best, nil
}

func (h *hunk) matches(lines []string) bool {
	for i, want := range h.old {
		if lines[i] != want {
			return false
		}
	}
	return true
}

// landmark is the first line that the hunk changes.
func (h *hunk) landmark() string {
	for i, line := range h.old {
		if i >= len(h.new) || h.new[i] != line {
			return line
		}
	}
	return h.old[len(h.old)-1]
}

func abs(n int) int { return max(n, -n) }
