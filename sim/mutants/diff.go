package main

import (
	"errors"
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
	for number, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		var file *fileDiff
		if len(files) > 0 {
			file = &files[len(files)-1]
		}
		head := hunkHead.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "--- a/"):
			files = append(files, fileDiff{path: strings.TrimPrefix(line, "--- a/")})
		case file == nil:
			return nil, fmt.Errorf("line %d of the diff: want --- a/FILE, not %q", number+1, line)
		case strings.HasPrefix(line, "+++ b/"):
			if other := strings.TrimPrefix(line, "+++ b/"); other != file.path {
				return nil, fmt.Errorf("line %d of the diff: %s becomes %s; files cannot be renamed", number+1, file.path, other)
			}
		case head != nil:
			at, err := strconv.Atoi(head[1])
			if err != nil {
				return nil, err
			}
			file.hunks = append(file.hunks, hunk{line: at})
		case len(file.hunks) == 0 || !file.hunks[len(file.hunks)-1].add(line):
			return nil, fmt.Errorf("line %d of the diff: cannot read %q", number+1, line)
		}
	}
	if len(files) == 0 {
		return nil, errors.New("there is no --- a/FILE in it")
	}
	return files, nil
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
