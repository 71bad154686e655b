package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"gopkg.in/yaml.v3"
)

// value is one line of values.yaml, or a section of it.
type value struct {
	key, path string
	about     string // what its comment says
	schema    string // what @schema says, if anything does
	node      *yaml.Node
	children  []value // of a section
}

// readValues reads the values with their comments.
func readValues(path string) ([]value, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, err
	}
	values, err := section("", document.Content[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return values, nil
}

func section(prefix string, node *yaml.Node) ([]value, error) {
	var all []value
	var errs []error
	for i := 0; i < len(node.Content); i += 2 {
		key, content := node.Content[i], node.Content[i+1]
		v := value{key: key.Value, path: prefix + key.Value, node: content}
		v.about, v.schema = comment(key.HeadComment)
		if v.isSection() {
			children, err := section(v.path+".", content)
			errs = append(errs, err)
			v.children = children
		} else if v.about == "" {
			errs = append(errs, fmt.Errorf("%s has no comment that says what it is", v.path))
		}
		all = append(all, v)
	}
	return all, errors.Join(errs...)
}

// isSection: a map with values of its own, and not one value that is a map.
func (v *value) isSection() bool {
	return v.node.Kind == yaml.MappingNode && len(v.node.Content) > 0 && (v.schema == "" || strings.HasPrefix(v.schema, `{"additionalProperties"`))
}

// comment splits what is above a value into sentences and schema.
func comment(text string) (about, schema string) {
	var words []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#"))
		if rest, ok := strings.CutPrefix(line, "@schema "); ok {
			schema = rest
		} else if line != "" {
			words = append(words, line)
		}
	}
	return strings.Join(words, " "), schema
}

const (
	tableBegin = "<!-- values: written by make generate from charts/kick/values.yaml -->\n"
	tableEnd   = "<!-- end of values -->\n"
)

// writeTable puts the table of all values between its marks.
func writeTable(path string, values []value) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(content), tableBegin)
	_, after, ended := strings.Cut(rest, tableEnd)
	if !ok || !ended {
		return fmt.Errorf("%s: the marks of the table of values are gone:\n%s%s", path, tableBegin, tableEnd)
	}
	var b strings.Builder
	b.WriteString("| value | what it is | default |\n|---|---|---|\n")
	if err := rows(&b, values); err != nil {
		return err
	}
	return write(path, before+tableBegin+b.String()+tableEnd+after)
}

func rows(b *strings.Builder, values []value) error {
	for _, v := range values {
		if v.children != nil {
			if err := rows(b, v.children); err != nil {
				return err
			}
			continue
		}
		standard, err := v.json()
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "| `%s` | %s | `%s` |\n", v.path, strings.ReplaceAll(v.about, "|", `\|`), standard)
	}
	return nil
}

// json is the default as JSON.
func (v *value) json() (string, error) {
	var content any
	if err := v.node.Decode(&content); err != nil {
		return "", fmt.Errorf("%s: %w", v.path, err)
	}
	text, err := json.Marshal(content)
	return string(text), err
}
