// Package importlaw draws who imports whom and holds it against the import law.
// The linter enforces the same law; this test makes it visible, and catches what a
// pattern in a linter's configuration can miss.
package importlaw

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/imports.md anew")

const module = "github.com/corewire/kick/"

// law says what a folder must not import, and why.
var law = []struct{ from, never, because string }{
	{"kick", "sim", "the product does not know its simulator"},
	{"kick/model", "kick/api", "decisions are made on plain values"},
	{"kick/model", "sigs.k8s.io/controller-runtime", "decisions know no client"},
	{"kick/model", "k8s.io/client-go", "decisions know no client"},
	{"kick/explain", "kick/api", "sentences are made of verdicts"},
	{"kick/explain", "sigs.k8s.io/controller-runtime", "sentences know no client"},
	{"kick/workloads/", "kick/sources", "ports do not know each other"},
	{"kick/workloads/", "kick/gates", "ports do not know each other"},
	{"kick/sources/", "kick/workloads", "ports do not know each other"},
	{"kick/sources/", "kick/gates", "ports do not know each other"},
	{"kick/gates", "kick/workloads", "ports do not know each other"},
	{"kick/gates", "kick/sources", "ports do not know each other"},
	{"kick/gather", "kick/apply", "what reads does not write"},
	{"kick/apply", "kick/gather", "what writes does not read"},
	{"kick/controllers", "kick/workloads/", "only the operator knows the lists"},
	{"kick/controllers", "kick/sources/", "only the operator knows the lists"},
	{"kick/controllers", "kick/operator", "the operator knows the controllers, not the other way round"},
	{"sim/check", "kick/model", "laws are judged by the world's truth, not by the model's"},
	{"sim/world", "kick/", "the world does not know KICK"},
	{"sim/cluster", "kick/", "the API server does not know KICK"},
}

// borrowed are types of other projects that stand here because their modules cannot be
// imported: they know nothing of KICK.
var borrowed = []string{"kick/api/argorollouts", "kick/api/secretsstore"}

func TestImportLaw(t *testing.T) {
	imports := list(t)
	for _, pkg := range slices.Sorted(maps.Keys(imports)) {
		for _, imported := range imports[pkg] {
			for _, rule := range law {
				if within(pkg, rule.from) && within(imported, rule.never) && !slices.Contains(borrowed, imported) {
					t.Errorf("%s imports %s: %s", pkg, imported, rule.because)
				}
			}
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(imports)) {
		for _, sibling := range imports[pkg] {
			if port := filepath.Dir(pkg); isPort(port) && filepath.Dir(sibling) == port && sibling != pkg {
				t.Errorf("%s imports its sibling %s: the children of a port do not know each other", pkg, sibling)
			}
		}
	}
}

// TestDrawing keeps docs/imports.md true. Run it with -update after a change of
// the structure, and look at what moved.
func TestDrawing(t *testing.T) {
	got := draw(list(t))
	file := filepath.Join("..", "..", "..", "docs", "imports.md")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("docs/imports.md is not what the code says; run go test ./kick/kicktest/importlaw -update and look at the difference")
	}
}

// list maps each package of the module to what it imports, the module's own
// packages by their path below it.
func list(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		for i := range fields {
			fields[i] = strings.TrimPrefix(fields[i], module)
		}
		imports[fields[0]] = fields[1:]
	}
	return imports
}

// within reports whether a path is the folder or below it; a folder that ends in a
// slash means only what is below.
func within(path, folder string) bool {
	if strings.HasSuffix(folder, "/") {
		return strings.HasPrefix(path, folder)
	}
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func isPort(folder string) bool {
	return folder == "kick/workloads" || folder == "kick/sources" || folder == "kick/gates"
}

// draw makes a graph of the folders, two levels deep.
func draw(imports map[string][]string) string {
	edges := map[string]bool{}
	for pkg, all := range imports {
		for _, imported := range all {
			from, to := folder(pkg), folder(imported)
			if from != "" && to != "" && from != to {
				edges[fmt.Sprintf("  %s --> %s\n", from, to)] = true
			}
		}
	}
	var b strings.Builder
	b.WriteString("# Who imports whom\n\nDrawn from the code by `go test ./kick/kicktest/importlaw`, which fails when this page is out of date.\n\n```mermaid\nflowchart TD\n")
	for _, edge := range slices.Sorted(maps.Keys(edges)) {
		b.WriteString(edge)
	}
	b.WriteString("```\n")
	return b.String()
}

// folder is the room a package belongs to; tests' helpers are not drawn.
func folder(pkg string) string {
	parts := strings.Split(pkg, "/")
	if len(parts) < 2 || parts[0] != "kick" && parts[0] != "sim" && parts[0] != "cmd" || parts[1] == "kicktest" {
		return ""
	}
	return strings.Join(parts[:2], "/")
}
