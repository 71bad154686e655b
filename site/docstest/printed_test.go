package docstest

import (
	"regexp"
	"strings"
	"testing"
)

// vary is what differs from run to run, and by what it stands in a comparison.
var vary = []struct {
	form *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d \S+`), "TIME"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(ms|us|h|m|s|d))+\b`), "AGO"},
	{regexp.MustCompile(`-[0-9a-f]{6,10}-[0-9a-z]{5}\b`), "-POD"},
	{regexp.MustCompile(`[ \t]+`), " "},
}

func plain(text string) string {
	for _, v := range vary {
		text = v.form.ReplaceAllString(text, v.as)
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// printed reports whether a command printed what a page says. Times, ages, the random part
// of pods' names and the width of columns do not count; "..." stands for anything, on a line
// of its own for any number of lines.
func printed(page, got string) bool {
	var form strings.Builder
	for line := range strings.SplitSeq(plain(page), "\n") {
		if line == "..." {
			form.WriteString(`(?:.*\n)*?`)
			continue
		}
		parts := strings.Split(line, "...")
		for j, part := range parts {
			parts[j] = regexp.QuoteMeta(part)
		}
		form.WriteString(strings.Join(parts, `.*`) + `\n`)
	}
	return regexp.MustCompile(`^` + form.String() + `$`).MatchString(plain(got) + "\n")
}

func TestPrinted(t *testing.T) {
	for name, c := range map[string]struct {
		page, got string
		want      bool
	}{
		"the same":         {"a b\nc\n", "a b\nc\n", true},
		"another word":     {"a b", "a c", false},
		"a line too many":  {"a\n", "a\nb\n", false},
		"a line too few":   {"a\nb\n", "a\n", false},
		"width of columns": {"NAME  AGE\nweb   3s\n", "NAME        AGE\nweb         14m12s\n", true},
		"times":            {"at 2026-03-01 12:00:00.25Z", "at 2026-11-30T11:39:09.178841Z", true},
		"pods":             {"pod web-7d9c4f5b6-x2kqp", "pod web-55cb9cb69-2f9h8", true},
		"another pod":      {"pod web-7d9c4f5b6-x2kqp", "pod api-55cb9cb69-2f9h8", false},
		"lines left out":   {"a\n...\nd\n", "a\nb\nc\nd\n", true},
		"lines at the end": {"a\n...\n", "a\nb\nc\n", true},
		"none left out":    {"a\n...\n", "a\n", true},
		"words left out":   {"leader: ...", "leader: vm_1", true},
		"signs of regexps": {"a.c (x)", "abc (x)", false},
		"nothing":          {"", "a", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := printed(c.page, c.got); got != c.want {
				t.Errorf("printed(%q, %q) = %v", c.page, c.got, got)
			}
		})
	}
}
