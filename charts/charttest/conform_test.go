package charttest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/corewire/kick/kick/kicktest/controlplane"
)

// TestConforms: kubeconform takes every set of values, and refuses a slip. The schemas that
// it loads from the internet otherwise are those of the API server that runs here.
//
// Proves: KICK-FEAT-042.
func TestConforms(t *testing.T) {
	plane, _ := admitting(t)
	binaries, err := controlplane.Build(context.Background(), os.Stderr, controlplane.Kubeconform)
	if err != nil {
		t.Fatal(err)
	}
	texts, folder := map[string]string{}, t.TempDir()
	for name, values := range valueSets(t) {
		if texts[name], err = render(t, "--values", values); err != nil {
			t.Fatal(err)
		}
	}
	writeSchemas(t, plane, folder, texts)
	conform := func(text string) (string, error) {
		cmd := exec.CommandContext(t.Context(), binaries[controlplane.Kubeconform], "-strict", "-summary", "-schema-location", folder+"/{{.Group}}-{{.ResourceAPIVersion}}-{{.ResourceKind}}.json")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	slips := [][2]string{{"replicas:", "replica:"}, {"containerPort: ", "containerPort: a"}, {"kind: Deployment", "kind: Deploymend"}}
	for name, text := range texts {
		if out, err := conform(text); err != nil || !strings.Contains(out, "Skipped: 0") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		for _, slip := range slips {
			if out, err := conform(strings.Replace(text, slip[0], slip[1], 1)); err == nil {
				t.Errorf("%s: %s for %s is taken:\n%s", name, slip[1], slip[0], out)
			}
		}
	}
}

// writeSchemas writes a file for each kind that is rendered, from what the API server
// publishes of its group.
func writeSchemas(t *testing.T, plane *controlplane.ControlPlane, folder string, texts map[string]string) {
	t.Helper()
	d, err := discovery.NewDiscoveryClientForConfig(plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := d.OpenAPIV3().Paths()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[schema.GroupVersionKind]bool{}
	for _, text := range texts {
		for _, o := range objects(t, text) {
			kinds[o.GroupVersionKind()] = true
		}
	}
	for kind := range kinds {
		path, group := "apis/"+kind.GroupVersion().String(), kind.Group
		if group == "" { // which kubeconform calls by its version
			path, group = "api/"+kind.Version, kind.Version
		}
		raw, err := paths[path].Schema("application/json")
		if err != nil {
			t.Fatal(err)
		}
		file := group + "-" + kind.Version + "-" + strings.ToLower(kind.Kind) + ".json"
		if err := os.WriteFile(filepath.Join(folder, file), schemaOf(t, kind, raw), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// schemaOf makes a JSON schema of one kind from the OpenAPI document of its group.
func schemaOf(t *testing.T, kind schema.GroupVersionKind, raw []byte) []byte {
	t.Helper()
	var document struct {
		Ref        string `json:"$ref"`
		Components struct {
			Schemas map[string]map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	for name, s := range document.Components.Schemas {
		strict(s)
		all, _ := s["x-kubernetes-group-version-kind"].([]any)
		for _, one := range all {
			if k, _ := one.(map[string]any); k["group"] == kind.Group && k["version"] == kind.Version && k["kind"] == kind.Kind {
				document.Ref = "#/components/schemas/" + name
			}
		}
	}
	out, err := json.Marshal(document)
	if err != nil || document.Ref == "" {
		t.Fatalf("%s: %v, or no schema", kind, err)
	}
	return out
}

// strict has a schema refuse fields that it does not know, as the API server does with
// strict field validation, and take null for what is left out, as it does, too.
func strict(s map[string]any) {
	_, some := s["additionalProperties"]
	if s["properties"] != nil && !some && s["x-kubernetes-preserve-unknown-fields"] == nil {
		s["additionalProperties"] = false
	}
	if kind, ok := s["type"].(string); ok {
		s["type"] = []any{kind, "null"}
	}
	for key, part := range s {
		switch part := part.(type) {
		case map[string]any:
			if key != "properties" {
				strict(part)
				continue
			}
			for _, p := range part {
				if one, ok := p.(map[string]any); ok {
					strict(one)
				}
			}
		case []any:
			for _, p := range part {
				if one, ok := p.(map[string]any); ok {
					strict(one)
				}
			}
		}
	}
}
