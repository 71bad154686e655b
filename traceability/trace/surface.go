package trace

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"github.com/corewire/kick/kick/metrics"
	"github.com/corewire/kick/kick/operator"
)

// Product is the part of what users see that the code tells when it is asked; the rest
// is read from files: API fields (KickPolicy.spec.suspend) from the CRDs, reasons of events
// (event:KickStarted) from package events, values of the chart (value:cage.enabled).
type Product struct {
	Flags   []string // --rollout-timeout
	Metrics []string // kick_requests_total
}

// KICK is the product of this program's own build.
func KICK() Product {
	var p Product
	flags := pflag.NewFlagSet("kick", pflag.ContinueOnError)
	(&operator.Options{}).AddFlags(flags)
	flags.VisitAll(func(f *pflag.Flag) { p.Flags = append(p.Flags, "--"+f.Name) })
	p.Metrics = metrics.Names()
	return p
}

// item is something users see, and where it is declared.
type item struct {
	name, file string
	line       int
}

// checkSurface holds what users see against what the features say: each belongs to one.
func (t *Tree) checkSurface() {
	items := t.surface()
	for _, i := range items {
		var owners []string
		for _, f := range t.Features {
			if slices.ContainsFunc(f.Surface, func(pattern string) bool { return matches(pattern, i.name) }) {
				owners = append(owners, f.ID)
			}
		}
		switch {
		case len(owners) == 0:
			t.report(i.file, i.line, "%s belongs to no feature: name it under surface of one in %s", i.name, FeaturesFile)
		case len(owners) > 1:
			t.report(i.file, i.line, "%s belongs to %s: it must belong to one", i.name, strings.Join(owners, " and "))
		}
	}
	for _, f := range t.Features {
		for _, pattern := range f.Surface {
			if !slices.ContainsFunc(items, func(i item) bool { return matches(pattern, i.name) }) {
				t.report(FeaturesFile, f.line, "%s: there is no %s (any more)", f.ID, pattern)
			}
		}
	}
}

// matches reports whether a name is the pattern's, or below it where that ends in .*
func matches(pattern, name string) bool {
	stem, wild := strings.CutSuffix(pattern, ".*")
	return name == stem || wild && strings.HasPrefix(name, stem+".")
}

func (t *Tree) surface() []item {
	items := append(t.apiFields(), t.eventReasons()...)
	items = append(items, t.chartValues()...)
	for _, name := range t.product.Flags {
		items = append(items, item{name, FeaturesFile, 1})
	}
	for _, name := range t.product.Metrics {
		items = append(items, item{name, FeaturesFile, 1})
	}
	return items
}

// schema is what is read of the schema of a field.
type schema struct {
	Properties yaml.Node
	Items      *schema
}

// apiFields are the leaves of spec and status of each kind.
func (t *Tree) apiFields() []item {
	var items []item
	t.walk("kick/api/crds", ".yaml", func(file string, text []byte) {
		var crd struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct {
					Schema struct {
						OpenAPIV3Schema schema `yaml:"openAPIV3Schema"`
					}
				}
			}
		}
		if err := yaml.Unmarshal(text, &crd); err != nil {
			t.report(file, 1, "%v", err)
			return
		}
		for _, version := range crd.Spec.Versions {
			for _, f := range fields(version.Schema.OpenAPIV3Schema, crd.Spec.Names.Kind, file, 1) {
				if rest := strings.TrimPrefix(f.name, crd.Spec.Names.Kind+"."); strings.HasPrefix(rest, "spec") || strings.HasPrefix(rest, "status") {
					items = append(items, f)
				}
			}
		}
	})
	return items
}

func fields(s schema, name, file string, line int) []item {
	for s.Items != nil {
		s = *s.Items
	}
	if len(s.Properties.Content) == 0 {
		return []item{{name, file, line}}
	}
	var items []item
	for i := 0; i+1 < len(s.Properties.Content); i += 2 {
		key, value := s.Properties.Content[i], s.Properties.Content[i+1]
		var below schema
		_ = value.Decode(&below) // what has no properties is a leaf
		items = append(items, fields(below, name+"."+key.Value, file, key.Line)...)
	}
	return items
}

// eventReasons are the exported text constants of package events.
func (t *Tree) eventReasons() []item {
	var items []item
	files, _ := fs.Glob(t.files, "kick/events/*.go") // the pattern is a constant
	for _, file := range files {
		text, err := readFile(t.files, file)
		positions := token.NewFileSet()
		parsed, broken := parser.ParseFile(positions, path.Base(file), text, parser.SkipObjectResolution)
		if err != nil || broken != nil {
			t.report(file, 1, "cannot be read")
			continue
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, d := range parsed.Decls {
			for _, value := range constants(d) {
				if reason, err := strconv.Unquote(value.Value); err == nil {
					items = append(items, item{"event:" + reason, file, positions.Position(value.Pos()).Line})
				}
			}
		}
	}
	return items
}

// constants are the texts that exported constants of a declaration stand for.
func constants(d ast.Decl) []*ast.BasicLit {
	g, ok := d.(*ast.GenDecl)
	if !ok || g.Tok != token.CONST {
		return nil
	}
	var texts []*ast.BasicLit
	for _, s := range g.Specs {
		value := s.(*ast.ValueSpec) // constants are declared by nothing else
		for i, v := range value.Values {
			if text, ok := v.(*ast.BasicLit); ok && text.Kind == token.STRING && value.Names[i].IsExported() {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

const valuesFile = "charts/kick/values.yaml"

// chartValues are the leaves of the chart's values.
func (t *Tree) chartValues() []item {
	text, err := readFile(t.files, valuesFile)
	if err != nil {
		return nil // a tree without a chart has no values
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil || len(document.Content) == 0 {
		t.report(valuesFile, 1, "cannot be read: %v", err)
		return nil
	}
	return leaves(document.Content[0], "value:")
}

func leaves(n *yaml.Node, prefix string) []item {
	var items []item
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 {
			items = append(items, leaves(value, prefix+key.Value+".")...)
			continue
		}
		items = append(items, item{prefix + key.Value, valuesFile, key.Line})
	}
	return items
}
