// Package crds carries the CustomResourceDefinitions of group kick.corewire.io, generated from
// kick/api/v1alpha1. It only hands them out; installing them is the caller's act. The yaml files
// are not edited by hand.
//
//	definitions, err := crds.All()
package crds

import (
	"embed"
	"fmt"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// FS holds one yaml file per CustomResourceDefinition.
//
//go:embed *.yaml
var FS embed.FS

// All returns the CustomResourceDefinitions in the order of their file names. The caller owns the
// result. An error means that a generated file is broken.
func All() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	names, err := fs.Glob(FS, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list CRD files: %w", err)
	}
	definitions := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(names))
	for _, name := range names {
		raw, err := FS.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read CRD file %s: %w", name, err)
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(raw, definition); err != nil {
			return nil, fmt.Errorf("decode CRD file %s: %w", name, err)
		}
		definitions = append(definitions, definition)
	}
	return definitions, nil
}
