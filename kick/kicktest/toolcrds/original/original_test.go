package original_test

import (
	"io/fs"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/corewire/kick/kick/kicktest/toolcrds"
	"github.com/corewire/kick/kick/kicktest/toolcrds/original"
)

// what the simulator relies on in a definition, and what the API server does by it.
type what struct {
	Name, Group, Kind, Plural string
	Scope                     apiextensionsv1.ResourceScope
	Status                    bool
}

func of(t *testing.T, d *apiextensionsv1.CustomResourceDefinition, version string) what {
	t.Helper()
	w := what{Name: d.Name, Group: d.Spec.Group, Kind: d.Spec.Names.Kind, Plural: d.Spec.Names.Plural, Scope: d.Spec.Scope}
	i := slices.IndexFunc(d.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version && v.Served })
	if i < 0 {
		t.Fatalf("%s serves no version %s", d.Name, version)
	}
	s := d.Spec.Versions[i].Subresources
	w.Status = s != nil && s.Status != nil
	return w
}

// The definitions written by hand for the simulator are those of the tools in all that
// matters to it.
func TestTheHandWrittenOnesAreTheTools(t *testing.T) {
	for _, tool := range []string{"argo-rollouts", "argocd", "flux", "kargo", "secrets-store-csi"} {
		t.Run(tool, func(t *testing.T) {
			files, err := original.Files(t.Context(), tool)
			if err != nil {
				t.Fatal(err)
			}
			shipped := map[string]*apiextensionsv1.CustomResourceDefinition{}
			err = fs.WalkDir(files, ".", func(path string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				content, err := fs.ReadFile(files, path)
				d := &apiextensionsv1.CustomResourceDefinition{}
				if err == nil {
					err = yaml.Unmarshal(content, d)
				}
				shipped[d.Name] = d
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			written := toolcrds.Of(tool)
			if len(written) != len(shipped) {
				t.Errorf("%d written by hand, %d shipped", len(written), len(shipped))
			}
			for _, d := range written {
				theirs := shipped[d.Name]
				if theirs == nil {
					t.Errorf("%s is not shipped", d.Name)
					continue
				}
				version := d.Spec.Versions[0].Name
				if diff := cmp.Diff(of(t, theirs, version), of(t, d, version)); diff != "" {
					t.Errorf("%s (- shipped, + by hand):\n%s", d.Name, diff)
				}
			}
		})
	}
}

func TestUnknownTool(t *testing.T) {
	if _, err := original.Files(t.Context(), "spinnaker"); err == nil {
		t.Error("an unknown tool has definitions")
	}
}
