package trace

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"

	"gopkg.in/yaml.v3"
)

// scenario is what is read of one; package sim/scenario judges the rest.
type scenario struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct{ Proves yaml.Node }
}

// readScenarios finds what the simulator replays.
func (t *Tree) readScenarios() {
	t.walk("scenarios", ".yaml", func(file string, text []byte) {
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		for {
			var document yaml.Node
			var s scenario
			err := decoder.Decode(&document)
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				t.report(file, 1, "%v", err)
				return
			}
			if document.Decode(&s) == nil && s.Kind == "Scenario" {
				t.addScenario(file, document.Content[0].Line, &s)
			}
		}
	})
}

func (t *Tree) addScenario(file string, line int, s *scenario) {
	proves := &s.Spec.Proves
	if proves.Alias != nil {
		proves = proves.Alias
	}
	if len(proves.Content) == 0 {
		t.report(file, line, "scenario %s proves nothing: name features, invariants or cases under spec.proves", s.Metadata.Name)
		return
	}
	p := Proof{Level: Sim, Name: s.Metadata.Name, File: file, Line: line}
	for _, word := range proves.Content {
		ids := t.covered(word.Value)
		if len(ids) == 0 {
			t.report(file, word.Line, "scenario %s proves %q, which no feature of %s covers", s.Metadata.Name, word.Value, FeaturesFile)
		}
		p.Features = append(p.Features, ids...)
	}
	slices.Sort(p.Features)
	p.Features = slices.Compact(p.Features)
	t.Proofs = append(t.Proofs, p)
}

const (
	chainsawTest = "chainsaw-test.yaml"
	traceFile    = "trace.yaml"
)

var traceID = regexp.MustCompile(`^(KICK-E2E-\d{3}|[a-z0-9]+(-[a-z0-9]+)*)$`)

// readChainsaw finds the Chainsaw tests and what lies beside them.
func (t *Tree) readChainsaw() {
	seen := map[string]string{} // the file of an id
	t.walk("chainsaw", chainsawTest, func(file string, text []byte) {
		beside := path.Join(path.Dir(file), traceFile)
		about, err := readFile(t.files, beside)
		if errors.Is(err, fs.ErrNotExist) {
			t.report(file, 1, "there is no %s beside it: write one with id and features", traceFile)
			return
		}
		var trace struct {
			ID       string
			Features []string
		}
		strict := yaml.NewDecoder(bytes.NewReader(about))
		strict.KnownFields(true)
		if err := errors.Join(err, strict.Decode(&trace)); err != nil {
			t.report(beside, 1, "%v", err)
			return
		}
		switch {
		case !traceID.MatchString(trace.ID):
			t.report(beside, 1, "id %q: write KICK-E2E- and three digits, or a name of small letters, digits and dashes", trace.ID)
		case seen[trace.ID] != "":
			t.report(beside, 1, "id %s is taken by %s", trace.ID, seen[trace.ID])
		case len(trace.Features) == 0:
			t.report(beside, 1, "names no features")
		case t.skipped(file, text):
			t.report(file, 1, "%s always skips, so it proves nothing", trace.ID)
		default:
			t.Proofs = append(t.Proofs, Proof{Level: Chainsaw, Name: trace.ID, File: file, Line: 1, Features: t.known(trace.Features, beside, 1)})
		}
		seen[trace.ID] = beside
	})
	t.walk("chainsaw", traceFile, func(file string, _ []byte) {
		if _, err := fs.Stat(t.files, path.Join(path.Dir(file), chainsawTest)); err != nil {
			t.report(file, 1, "there is no %s beside it", chainsawTest)
		}
	})
}

// skipped reports whether Chainsaw leaves a test out.
func (t *Tree) skipped(file string, text []byte) bool {
	var test struct{ Spec struct{ Skip bool } }
	if err := yaml.Unmarshal(text, &test); err != nil {
		t.report(file, 1, "%v", err)
	}
	return test.Spec.Skip
}
