package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Verb is one kind of step as the parser sees it.
type Verb struct {
	Name    string
	Doc     string // one sentence for `kick-sim list steps`
	Example string // one line of YAML
	// Decode reads the verb's argument; nil means it noted a problem.
	Decode func(d *Decoder, arg *yaml.Node) any
}

// Fault is a fault that scenarios may name.
type Fault struct{ Name, Doc string }

// Parser reads scenario files. It keeps the names seen, because a name must be
// unique among all files of one run.
type Parser struct {
	verbs  map[string]Verb
	faults map[string]Fault
	seen   map[string]Position
}

// NewParser returns a parser for these verbs and faults.
func NewParser(verbs []Verb, faults []Fault) *Parser {
	p := &Parser{verbs: map[string]Verb{}, faults: map[string]Fault{}, seen: map[string]Position{}}
	for _, v := range verbs {
		p.verbs[v.Name] = v
	}
	for _, f := range faults {
		p.faults[f.Name] = f
	}
	return p
}

// ParseFiles reads files and folders. A folder stands for every *.yaml below it
// except those in folders named manifests. All problems of all files come back.
func (p *Parser) ParseFiles(paths []string) ([]Scenario, Problems) {
	var out []Scenario
	var problems Problems
	files, problems := expand(paths)
	order := map[string]int{}
	for i, file := range files {
		order[file] = i
		found, mistakes := p.ParseFile(file)
		out = append(out, found...)
		problems = append(problems, mistakes...)
	}
	return out, problems.sorted(order)
}

// ParseFile reads one file of one or more documents.
func (p *Parser) ParseFile(file string) ([]Scenario, Problems) {
	var problems Problems
	docs, err := readDocuments(file)
	if err != nil {
		return nil, Problems{asProblem(file, err)}
	}
	d := &Decoder{parser: p, file: file, problems: &problems}
	var out []Scenario
	for _, doc := range docs {
		out = append(out, d.scenario(doc))
	}
	if len(docs) == 0 {
		problems = append(problems, Problem{Position{File: file}, "the file holds no scenario"})
	}
	return out, problems
}

// expand turns folders into the files below them, in order.
func expand(paths []string) (files []string, problems Problems) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			problems = append(problems, Problem{Position{File: path}, rootCause(err)})
			continue
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		found := len(files)
		err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "manifests":
				return filepath.SkipDir
			case !entry.IsDir() && filepath.Ext(name) == ".yaml":
				files = append(files, name)
			}
			return nil
		})
		if err != nil {
			problems = append(problems, Problem{Position{File: path}, rootCause(err)})
		} else if len(files) == found {
			problems = append(problems, Problem{Position{File: path}, "no *.yaml file in this folder"})
		}
	}
	// The same file named twice is one file, not a duplicate scenario.
	seen := map[string]bool{}
	files = slices.DeleteFunc(files, func(f string) bool {
		again := seen[filepath.Clean(f)]
		seen[filepath.Clean(f)] = true
		return again
	})
	return files, problems
}

// asProblem gives an error of a file its form.
func asProblem(file string, err error) Problem {
	if p, ok := errors.AsType[Problem](err); ok {
		return p
	}
	return Problem{Position{File: file}, rootCause(err)}
}

// rootCause drops the operation and path that os errors repeat.
func rootCause(err error) string {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err.Error()
	}
	return err.Error()
}

var dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// name reads metadata.name, which must be a DNS label that no other scenario has.
func (d *Decoder) name(n *yaml.Node, into *string) {
	if !d.String(n, into) {
		return
	}
	if !dnsLabel.MatchString(*into) {
		d.Problemf(n, "name %q is not a DNS label: lower-case letters, digits and -, at most 63 characters", *into)
		return
	}
	if first, ok := d.parser.seen[*into]; ok {
		d.Problemf(n, "scenario %q exists already: %s:%d", *into, first.File, first.Line)
		return
	}
	d.parser.seen[*into] = d.Position(n)
}

// missing notes the fields a mapping should have had.
func (d *Decoder) missing(n *yaml.Node, field string) {
	d.Problemf(n, "%s is missing", field)
}

func quoted(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(out, " and ")
}
