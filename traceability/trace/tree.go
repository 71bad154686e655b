package trace

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Problem is something that must be put right, and where.
type Problem struct {
	File    string
	Line    int
	Message string
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message) }

// Proof is a scenario or a test that proves features.
type Proof struct {
	Level    Level    `json:"level"`
	Name     string   `json:"name"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Features []string `json:"-"`
}

// Tree is the project as it is traced.
type Tree struct {
	Features []Feature
	Proofs   []Proof

	files    fs.FS
	product  Product
	problems []Problem
}

// Load reads features and proofs of the tree. What is wrong in them Check tells.
func Load(files fs.FS, product Product) *Tree {
	t := &Tree{files: files, product: product}
	t.readFeatures()
	t.readScenarios()
	t.readTests()
	t.readChainsaw()
	slices.SortStableFunc(t.Proofs, func(a, b Proof) int {
		return cmp.Or(slices.Index(Levels, a.Level)-slices.Index(Levels, b.Level), strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	return t
}

// Proven are the proofs of a feature at a level.
func (t *Tree) Proven(id string, level Level) []Proof {
	var proofs []Proof
	for _, p := range t.Proofs {
		if p.Level == level && slices.Contains(p.Features, id) {
			proofs = append(proofs, p)
		}
	}
	return proofs
}

// Check are all problems of the tree, by file and line.
func (t *Tree) Check() []Problem {
	before := len(t.problems)
	t.checkLevels()
	t.checkSurface()
	t.checkPages()
	all := slices.Clone(t.problems)
	t.problems = t.problems[:before]
	slices.SortFunc(all, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(all)
}

func (t *Tree) checkLevels() {
	for _, f := range t.Features {
		for _, level := range f.Requires {
			if slices.Contains(Levels, level) && len(t.Proven(f.ID, level)) == 0 {
				t.report(FeaturesFile, f.line, "%s (%s) is not proven at level %s: %s", f.ID, f.Title, level, remedy[level])
			}
		}
	}
}

// remedy says how a feature is proven at a level.
var remedy = map[Level]string{
	Unit:     "end the doc comment of a test with a line // Proves: and the id",
	Sim:      "name it under proves of a scenario",
	Envtest:  "end the doc comment of a test that uses kick/kicktest/controlplane with a line // Proves: and the id",
	Chainsaw: "name it in the trace.yaml beside a chainsaw-test.yaml",
}

func (t *Tree) report(file string, line int, format string, a ...any) {
	t.problems = append(t.problems, Problem{File: file, Line: line, Message: fmt.Sprintf(format, a...)})
}

// known leaves the ids that features have, and reports the others.
func (t *Tree) known(ids []string, file string, line int) []string {
	var known []string
	for _, id := range ids {
		if _, ok := t.Feature(id); !ok {
			t.report(file, line, "proves %q, which is no feature of %s", id, FeaturesFile)
			continue
		}
		known = append(known, id)
	}
	return known
}

// walk calls visit with the text of every file below a folder whose name ends so, in
// lexical order. A folder that does not exist is empty; hidden ones and those of test data are left out.
func (t *Tree) walk(folder, suffix string, visit func(file string, text []byte)) {
	err := fs.WalkDir(t.files, folder, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && file == folder:
			return fs.SkipAll
		case err != nil:
			return err
		case entry.IsDir():
			return enter(file)
		case !strings.HasSuffix(entry.Name(), suffix):
			return nil
		}
		text, err := readFile(t.files, file)
		if err == nil {
			visit(file, text)
		}
		return err
	})
	if err != nil {
		t.report(folder, 1, "cannot be read: %v", err)
	}
}

// enter leaves out hidden folders, test data and what is built.
func enter(folder string) error {
	name := path.Base(folder)
	if name != "." && strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" {
		return fs.SkipDir
	}
	return nil
}

func readFile(files fs.FS, file string) ([]byte, error) { return fs.ReadFile(files, path.Clean(file)) }
