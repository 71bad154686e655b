package scenario

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// readDocuments reads the documents of a file; empty ones are left out.
func readDocuments(file string) ([]*yaml.Node, error) {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return nil, Problem{Position{File: file}, "is a folder: name one of its files"}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	docs, err := documents(text)
	if err != nil {
		return nil, syntaxProblem(file, text, err)
	}
	return docs, nil
}

func documents(text []byte) ([]*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var docs []*yaml.Node
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, err
		}
		if len(doc.Content) == 1 && doc.Content[0].Tag != "!!null" {
			docs = append(docs, doc.Content[0])
		}
	}
}

// Error lets a syntax error of a file travel as an error.
func (p Problem) Error() string { return p.String() }

var yamlError = regexp.MustCompile(`^yaml: (?:unmarshal errors:\s*)?(?:line (\d+): )?(?s:(.*))$`)

// unclosed are complaints about something that never ends. They stand where it begins:
// the scanner counts lines from 1, the parser (false) from 0.
var unclosed = map[string]bool{
	"found unexpected end of stream":   true,
	"did not find expected ',' or ']'": false,
	"did not find expected ',' or '}'": false,
}

// syntaxProblem gives a syntax error its place. The library names the beginning of the
// block that the mistake stands in, if anything; the mistake is in the first line
// without which there is none.
func syntaxProblem(file string, text []byte, err error) Problem {
	m := yamlError.FindStringSubmatch(err.Error())
	if m == nil {
		return Problem{Position{File: file}, err.Error()}
	}
	line, _ := strconv.Atoi(m[1])
	if scanned, begins := unclosed[m[2]]; !begins {
		line = firstWrong(text, max(line, 1), m[2])
	} else if !scanned {
		line++
	}
	line = max(line, 1)
	return Problem{Position{File: file, Line: line, Col: firstColumn(text, line)}, "not YAML: " + m[2]}
}

// firstWrong is the first line, from one on, with which the text has this mistake.
func firstWrong(text []byte, from int, mistake string) int {
	end := 0
	for line := 1; end < len(text); line++ {
		length := bytes.IndexByte(text[end:], '\n') + 1
		if length == 0 {
			length = len(text) - end
		}
		end += length
		if line < from {
			continue
		}
		if _, err := documents(text[:end]); err != nil && strings.HasSuffix(err.Error(), mistake) {
			return line
		}
	}
	return from
}

// firstColumn is where the text of a line begins, from 1.
func firstColumn(text []byte, line int) int {
	lines := bytes.Split(text, []byte("\n"))
	if line > len(lines) {
		return 1
	}
	return 1 + len(lines[line-1]) - len(bytes.TrimLeft(lines[line-1], " "))
}
