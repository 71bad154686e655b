package trace

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// FeaturesFile is where the features are declared, from the root of the tree.
const FeaturesFile = "traceability/features.yaml"

// Level is a kind of proof.
type Level string

// The levels, from the cheapest to the dearest.
const (
	Unit     Level = "unit"     // a Go test
	Sim      Level = "sim"      // a scenario of the simulator
	Envtest  Level = "envtest"  // a Go test against a real control plane
	Chainsaw Level = "chainsaw" // a Chainsaw test of the operator on a real control plane
)

// Levels are all levels, in the order of a report.
var Levels = []Level{Unit, Sim, Envtest, Chainsaw}

// Feature is something KICK promises.
type Feature struct {
	// ID is KICK-FEAT-NNN, or I1 to I8 for an invariant of the model.
	ID    string `yaml:"id" json:"id"`
	Title string `yaml:"title" json:"title"`
	// Doc is the page and the anchor that explain it: docs/policy.md#kickpolicy.
	Doc string `yaml:"doc" json:"doc"`
	// Requires are the levels at which it must be proven.
	Requires []Level `yaml:"requires" json:"requires"`
	// Covers are what scenarios may write under proves for it, besides its id.
	Covers []string `yaml:"covers" json:"covers,omitempty"`
	// Surface is what users see of it, see package function KICK; a name that ends in .* is
	// everything below it.
	Surface []string `yaml:"surface" json:"surface,omitempty"`

	line int
}

var featureID = regexp.MustCompile(`^(KICK-FEAT-\d{3}|I[1-8])$`)

// readFeatures reads the declaration and says what is wrong in it.
func (t *Tree) readFeatures() {
	text, err := readFile(t.files, FeaturesFile)
	if err != nil {
		t.report(FeaturesFile, 1, "cannot be read: %v", err)
		return
	}
	var lines struct{ Features []yaml.Node }
	var all struct{ Features []Feature }
	strict := yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true)
	if err := errors.Join(yaml.Unmarshal(text, &lines), ignoreEOF(strict.Decode(&all))); err != nil {
		t.report(FeaturesFile, 1, "%v", err)
		return
	}
	for i, f := range all.Features {
		f.line = lines.Features[i].Line
		t.judgeDeclaration(&f)
		if _, twice := t.Feature(f.ID); twice {
			t.report(FeaturesFile, f.line, "%s is declared twice", f.ID)
			continue
		}
		t.Features = append(t.Features, f)
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (t *Tree) judgeDeclaration(f *Feature) {
	if !featureID.MatchString(f.ID) {
		t.report(FeaturesFile, f.line, "%q is no id: write KICK-FEAT- and three digits, or I1 to I8", f.ID)
	}
	if strings.TrimSpace(f.Title) == "" {
		t.report(FeaturesFile, f.line, "%s has no title", f.ID)
	}
	if len(f.Requires) == 0 {
		t.report(FeaturesFile, f.line, "%s requires no level: name at least one of unit, sim, envtest, chainsaw", f.ID)
	}
	for _, level := range f.Requires {
		if !slices.Contains(Levels, level) {
			t.report(FeaturesFile, f.line, "%s requires %q, which is no level: write unit, sim, envtest or chainsaw", f.ID, level)
		}
	}
}

// Feature is the one with an id.
func (t *Tree) Feature(id string) (Feature, bool) {
	i := slices.IndexFunc(t.Features, func(f Feature) bool { return f.ID == id })
	if i < 0 {
		return Feature{}, false
	}
	return t.Features[i], true
}

// covered are the features that a word under proves of a scenario counts for.
func (t *Tree) covered(word string) []string {
	var ids []string
	for _, f := range t.Features {
		if f.ID == word || slices.Contains(f.Covers, word) {
			ids = append(ids, f.ID)
		}
	}
	return ids
}
