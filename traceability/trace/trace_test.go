package trace_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/corewire/kick/traceability/trace"
)

// good is a tree without a problem.
var good = map[string]string{
	"traceability/features.yaml": `features:
- {id: KICK-FEAT-001, title: Restarts, doc: docs/a.md#how-it-works, requires: [unit, sim, envtest, chainsaw], covers: [DESIGN-4], surface: [KickPolicy.spec.*, --flag, event:KickStarted, "value:image.*"]}
- {id: I2, title: Nothing is lost, doc: docs/a.md#how-it-works-1, requires: [sim], surface: [kick_total]}
`,
	"docs/a.md":                              "# A `page`\n\n## How it works\n[here](#how-it-works-1) [there](../README.md) [far](https://example.com/x)\n```\n[no link](nowhere.md)\n# no heading\n```\n## How it works\n",
	"README.md":                              "# Readme\n[a](docs/a.md#a-page)\n",
	"scenarios/a.yaml":                       "kind: Scenario\nmetadata: {name: a}\nspec:\n  proves: [DESIGN-4, I2]\n---\nkind: Secret\n",
	"a/a_test.go":                            "package a\n\nimport \"testing\"\n\n// TestA is a test.\n//\n// Proves: KICK-FEAT-001.\nfunc TestA(t *testing.T) {}\n",
	"b/main_test.go":                         "package b\n\nimport \"example.com/kick/kicktest/controlplane\"\n\nvar cluster = controlplane.Start()\n",
	"b/b_test.go":                            "package b\n\nimport \"testing\"\n\n// Proves: KICK-FEAT-001, I2.\nfunc TestB(t *testing.T) { help() }\n\n// Proves: I2.\nfunc TestAlone(t *testing.T) {}\n\nfunc help() { cluster.Stop() }\n",
	"chainsaw/suites/x/y/chainsaw-test.yaml": "kind: Test\n",
	"chainsaw/suites/x/y/trace.yaml":         "id: x-y\nfeatures: [KICK-FEAT-001]\n",
	"kick/events/events.go":                  "package events\n\nconst (\n\tStarted = \"KickStarted\"\n\tinner = \"inner\"\n)\n",
	"charts/kick/values.yaml":                "image:\n  tag: \"\"\n  list: []\n",
	"kick/api/crds/kick_kickpolicies.yaml":   "spec:\n  names: {kind: KickPolicy}\n  versions:\n  - schema: {openAPIV3Schema: {properties: {kind: {}, spec: {properties: {list: {items: {properties: {a: {}}}}}}}}}\n",
}

var product = trace.Product{Flags: []string{"--flag"}, Metrics: []string{"kick_total"}}

// tree is the good one with some files changed; an empty text takes one away.
func tree(changes map[string]string) fstest.MapFS {
	files := maps.Clone(good)
	maps.Copy(files, changes)
	m := fstest.MapFS{}
	for name, text := range files {
		if text != "" {
			m[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return m
}

func features(old, changed string) map[string]string {
	return map[string]string{trace.FeaturesFile: strings.Replace(good[trace.FeaturesFile], old, changed, 1)}
}

func TestGoodTree(t *testing.T) {
	loaded := trace.Load(tree(nil), product)
	for _, p := range loaded.Check() {
		t.Error(p)
	}
	for level, want := range map[trace.Level][]string{trace.Unit: {"TestA"}, trace.Sim: {"a"}, trace.Envtest: {"TestB"}, trace.Chainsaw: {"x-y"}} {
		var got []string
		for _, p := range loaded.Proven("KICK-FEAT-001", level) {
			got = append(got, p.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("proven at level %s by %v, want %v", level, got, want)
		}
	}
	if got := loaded.Proven("I2", trace.Unit); len(got) != 1 || got[0].Name != "TestAlone" {
		t.Errorf("I2 is proven at level unit by %v, want TestAlone", got)
	}
}

func TestFindings(t *testing.T) {
	test := func(text string) map[string]string { return map[string]string{"a/more_test.go": text} }
	for name, c := range map[string]struct {
		changes map[string]string
		want    string // the beginning of the one finding, or a part of it
	}{
		"level without proof":   {map[string]string{"a/a_test.go": ""}, "features.yaml:2: KICK-FEAT-001 (Restarts) is not proven at level unit"},
		"unknown id in a test":  {test("package a\n\n// Proves: KICK-FEAT-099.\nfunc TestX(t *testing.T) {}\n"), `a/more_test.go:3: proves "KICK-FEAT-099"`},
		"line that is not read": {test("package a\n\n// Proves: KICK-FEAT-001\nfunc TestX(t *testing.T) {}\n"), "a/more_test.go:3: cannot be read"},
		"line at no test":       {test("package a\n\n// Proves: I2.\nfunc help(t *testing.T) {}\n"), "a/more_test.go:3: stands at no test"},
		"test that skips":       {test("package a\n\n// Proves: I2.\nfunc TestX(t *testing.T) { t.Skip() }\n"), "a/more_test.go:3: TestX never runs"},
		"test of another build": {test("//go:build never\n\npackage a\n\n// Proves: I2.\nfunc TestX(t *testing.T) {}\n"), "a/more_test.go:5: TestX never runs"},
		"broken test":           {test("package"), "a/more_test.go:1: "},
		"id declared twice":     {features("- {id: I2", "- {id: I2, title: Again, doc: docs/a.md#how-it-works, requires: [sim]}\n- {id: I2"), "I2 is declared twice"},
		"no id":                 {features("{id: I2,", "{id: I9,"), `"I9" is no id`},
		"no level":              {features("requires: [sim]", "requires: [sim, moon]"), `I2 requires "moon"`},
		"nothing required":      {features("requires: [sim]", "requires: []"), "I2 requires no level"},
		"no title":              {features("Nothing is lost", `""`), "I2 has no title"},
		"unknown field":         {features("title: Nothing", "tittle: x, title: Nothing"), "tittle"},
		"no features":           {map[string]string{trace.FeaturesFile: ""}, "features.yaml:1: cannot be read"},
		"no trace.yaml":         {map[string]string{"chainsaw/suites/x/z/chainsaw-test.yaml": "kind: Test"}, "x/z/chainsaw-test.yaml:1: there is no trace.yaml"},
		"trace.yaml alone":      {map[string]string{"chainsaw/suites/x/z/trace.yaml": "id: z"}, "x/z/trace.yaml:1: there is no chainsaw-test.yaml"},
		"bad id":                {chainsaw("id: A B\nfeatures: [I2]", ""), `z/trace.yaml:1: id "A B"`},
		"id twice":              {chainsaw("id: x-y\nfeatures: [I2]", ""), "id x-y is taken by chainsaw/suites/x/y/trace.yaml"},
		"no features of a test": {chainsaw("id: z\n", ""), "names no features"},
		"unknown feature":       {chainsaw("id: z\nfeatures: [I3]", ""), `proves "I3"`},
		"wrong trace.yaml":      {chainsaw("id: z\nfeature: [I2]", ""), "field feature not found"},
		"skipped":               {chainsaw("id: z\nfeatures: [I2]", "spec: {skip: true}"), "z always skips"},
		"scenario of nothing":   {map[string]string{"scenarios/b.yaml": "---\nkind: Scenario\nmetadata: {name: b}\n"}, "scenarios/b.yaml:2: scenario b proves nothing"},
		"scenario, unknown":     {map[string]string{"scenarios/b.yaml": "kind: Scenario\nmetadata: {name: b}\nspec: {proves: [B99]}\n"}, `scenarios/b.yaml:3: scenario b proves "B99"`},
		"surface of nobody":     {map[string]string{"charts/kick/values.yaml": "image: {tag: x}\nnew: 1\n"}, "charts/kick/values.yaml:2: value:new belongs to no feature"},
		"field of nobody":       {features("KickPolicy.spec.*, ", ""), "kick_kickpolicies.yaml:4: KickPolicy.spec.list.a belongs to no feature"},
		"flag of nobody":        {features("--flag, ", ""), "--flag belongs to no feature"},
		"event of nobody":       {features("event:KickStarted, ", ""), "kick/events/events.go:4: event:KickStarted belongs to no feature"},
		"surface of two":        {features("[kick_total]", "[kick_total, value:image.tag]"), "charts/kick/values.yaml:2: value:image.tag belongs to KICK-FEAT-001 and I2"},
		"surface that is gone":  {features("[kick_total]", "[kick_total, kick_gone]"), "features.yaml:3: I2: there is no kick_gone"},
		"page that is gone":     {features("docs/a.md#how-it-works-1", "docs/b.md#x"), `I2: its page "docs/b.md" does not exist`},
		"heading that is gone":  {features("#how-it-works-1", "#how"), `I2: docs/a.md has no heading "how"`},
		"no heading named":      {features("#how-it-works-1", ""), "names no heading"},
		"page without example":  {features("docs/a.md#how-it-works-1", "README.md#readme"), "I2: README.md has no example"},
		"dead file":             {map[string]string{"docs/b.md": "\n[x](c.md)\n"}, "docs/b.md:2: the link to c.md is dead: there is no such file"},
		"dead anchor":           {map[string]string{"charts/kick/README.md": "[x](../../docs/a.md#no)\n"}, "charts/kick/README.md:1: the link to ../../docs/a.md#no is dead"},
		"link out of the tree":  {map[string]string{"docs/b.md": "[x](../../c.md)\n"}, "leads out of the tree"},
		"no address":            {map[string]string{"docs/b.md": "[x](https:///a)\n"}, "it is no address"},
	} {
		t.Run(name, func(t *testing.T) {
			problems := trace.Load(tree(c.changes), product).Check()
			if !slices.ContainsFunc(problems, func(p trace.Problem) bool { return strings.Contains(p.String(), c.want) }) {
				t.Errorf("Check() = %v, want one with %q", problems, c.want)
			}
		})
	}
}

func chainsaw(about, test string) map[string]string {
	return map[string]string{"chainsaw/suites/x/z/chainsaw-test.yaml": "kind: Test\n" + test, "chainsaw/suites/x/z/trace.yaml": about}
}

// TestThisTree is the check of the project itself.
func TestThisTree(t *testing.T) {
	loaded := trace.Load(os.DirFS("../.."), trace.KICK())
	for _, p := range loaded.Check() {
		t.Error(p)
	}
	if len(loaded.Features) == 0 || len(loaded.Proofs) == 0 {
		t.Error("nothing was read: this test proves nothing")
	}
}

func TestCommands(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(root, tree(features("requires: [sim]", "requires: [sim, chainsaw]"))); err != nil {
		t.Fatal(err)
	}
	run := func(want int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if got := trace.Main(append(args, "--root", root), &out, &errs); got != want {
			t.Errorf("kick-trace %v = %d, want %d: %s", args, got, want, errs.String())
		}
		return out.String()
	}
	if out := run(1, "check"); !strings.Contains(out, "I2 (Nothing is lost) is not proven at level chainsaw") {
		t.Errorf("check says %q", out)
	}
	if out := run(0, "report"); !strings.Contains(out, "| I2 | Nothing is lost | 1 | 1 | 1 | MISSING |") {
		t.Errorf("report says %q", out)
	}
	if out := run(0, "report", "-o", "html"); !strings.Contains(out, `<td class="missing">MISSING</td>`) {
		t.Errorf("report says %q", out)
	}
	run(2, "report", "-o", "pdf")
	run(0, "report", "-o", "json", "--out", filepath.Join(root, "out"))
	text, err := os.ReadFile(filepath.Join(root, "out", "traceability.json"))
	var report trace.Report
	if err != nil || json.Unmarshal(text, &report) != nil || len(report.Features) != 2 || len(report.Features[1].Missing) != 1 {
		t.Errorf("the file holds %s (%v)", text, err)
	}
}
