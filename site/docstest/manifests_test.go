package docstest

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/corewire/kick/kick/api/crds"
	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/toolcrds"
	"github.com/corewire/kick/kick/kicktest/toolcrds/original"
	"github.com/corewire/kick/kick/operator"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// fragments are pages with YAML that is neither a manifest nor values of the chart.
var fragments = map[string]string{
	"docs/traceability.md": "files of kick-trace, whose check reads them strictly",
	"docs/scenarios.md":    "parts of a scenario besides the whole one",
}

// TestManifests: a real API server that has the CRDs takes every manifest of every page,
// without a field that it does not know.
//
// Proves: KICK-FEAT-006.
func TestManifests(t *testing.T) {
	c := serverOfAllKinds(t)
	seen := 0
	for _, page := range allPages(t) {
		for _, b := range blocks(t, page) {
			if b.lang != "yaml" {
				continue
			}
			first, _, _ := strings.Cut(b.text, "\n")
			switch {
			case strings.HasPrefix(first, "# values of the chart"):
				values(t, b)
			case strings.Contains(first, scenario.APIVersion):
				parsed(t, b)
			case strings.HasPrefix(first, "apiVersion: "):
				admitted(t, c, b.page, b.line, b.text)
			case fragments[page] == "":
				t.Errorf("%s:%d: neither a manifest, nor values of the chart (begin with # values of the chart), nor a scenario", page, b.line)
				continue
			}
			seen++
		}
	}
	for _, file := range []string{"hack/jaeger.yaml"} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		admitted(t, c, file, 0, string(text))
	}
	if seen < 25 {
		t.Errorf("only %d blocks of YAML were looked at", seen)
	}
}

// serverOfAllKinds is a client of an API server that has the CRDs of KICK and of the tools: their
// own, and of Argo Rollouts one that takes any field.
func serverOfAllKinds(t *testing.T) client.Client {
	t.Helper()
	plane := controlplane.ForTest(t, controlplane.Options{})
	if err := plane.InstallCRDs(t.Context(), crds.FS); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"argocd", "flux", "kargo"} {
		files, err := original.Files(t.Context(), tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := plane.InstallCRDs(t.Context(), files); err != nil {
			t.Fatal(err)
		}
	}
	loose := fstest.MapFS{}
	for _, d := range toolcrds.Of("argo-rollouts") {
		d.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		text, err := sigsyaml.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		loose[d.Name+".yaml"] = &fstest.MapFile{Data: text}
	}
	if err := plane.InstallCRDs(t.Context(), loose); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(plane.Config, client.Options{Scheme: operator.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// admitted sends the objects of a text to the API server, which stores none of them. Their
// namespaces are made first.
func admitted(t *testing.T, c client.Client, page string, line int, text string) {
	t.Helper()
	strict := client.WithFieldValidation(client.NewDryRunClient(c), metav1.FieldValidationStrict)
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(&o.Object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Errorf("%s:%d: %v", page, line, err)
			return
		}
		if o.GetNamespace() != "" {
			space(t, c, o.GetNamespace())
		}
		err := strict.Create(t.Context(), o)
		for i := 0; i < 100 && err != nil && strings.Contains(err.Error(), "no matches for kind"); i++ { // a CRD that is just made
			err = strict.Create(t.Context(), o)
		}
		if err != nil && !apierrors.IsAlreadyExists(err) {
			t.Errorf("%s:%d: %s %s: %v", page, line, o.GetKind(), o.GetName(), err)
		}
	}
}

func space(t *testing.T, c client.Client, name string) {
	t.Helper()
	err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// values renders the chart with the values of a block: its schema refuses what it does not know.
func values(t *testing.T, b *block) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := reader(t, os.DevNull).run("helm template kick charts/kick --values " + file + " >/dev/null"); code != 0 {
		t.Errorf("%s:%d: %s", b.page, b.line, out)
	}
}

// parsed reads a scenario as kick-sim does, beside the files that it names.
func parsed(t *testing.T, b *block) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.CopyFS(filepath.Join(filepath.Dir(file), "manifests"), os.DirFS(filepath.Join(root, "scenarios", "manifests"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
		t.Fatal(err)
	}
	var known []scenario.Fault
	for _, name := range faults.Names() {
		known = append(known, scenario.Fault{Name: name})
	}
	scenarios, problems := scenario.NewParser(steps.All(), known).ParseFiles([]string{file})
	for _, p := range problems {
		t.Errorf("%s:%d: %v", b.page, b.line, p)
	}
	if len(scenarios) == 0 {
		t.Errorf("%s:%d: no scenario", b.page, b.line)
	}
}
