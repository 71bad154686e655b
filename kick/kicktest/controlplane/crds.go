package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

const fieldManager = "kick-controlplane"

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// InstallCRDs applies every CustomResourceDefinition found in the YAML files of
// files, in any folder, and waits until the API server serves them. Installing
// again is an upgrade. No CRD at all is an error: a test would prove nothing.
func (cp *ControlPlane) InstallCRDs(ctx context.Context, files fs.FS) error {
	crds, err := readCRDs(files)
	if err != nil {
		return fmt.Errorf("read CRDs: %w", err)
	}
	client, err := dynamic.NewForConfig(cp.Config)
	if err != nil {
		return err
	}
	api := client.Resource(crdResource)
	for _, crd := range crds {
		if _, err := api.Apply(ctx, crd.GetName(), crd, metav1.ApplyOptions{FieldManager: fieldManager, Force: true}); err != nil {
			return fmt.Errorf("apply CRD %s: %w", crd.GetName(), err)
		}
	}
	for _, crd := range crds {
		err := waitFor(ctx, "CRD "+crd.GetName(), nil, func(ctx context.Context) error {
			live, err := api.Get(ctx, crd.GetName(), metav1.GetOptions{})
			if err != nil {
				return err
			}
			return established(live)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readCRDs takes all CRDs out of the YAML files, in any folder.
func readCRDs(files fs.FS) (crds []*unstructured.Unstructured, err error) {
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || (path.Ext(name) != ".yaml" && path.Ext(name) != ".yml") {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		found, err := parseCRDs(content)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		crds = append(crds, found...)
		return nil
	})
	if err == nil && len(crds) == 0 {
		err = errors.New("no CustomResourceDefinition found")
	}
	return crds, err
}

// parseCRDs takes the CRDs out of a file of one or more YAML documents.
func parseCRDs(content []byte) (crds []*unstructured.Unstructured, err error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return crds, nil
		} else if err != nil {
			return nil, err
		}
		if object.GetKind() == "CustomResourceDefinition" {
			crds = append(crds, object)
		}
	}
}

// established is nil when the CRD is served; a refused name or a schema that is
// not structural says so instead of timing out in silence.
func established(crd *unstructured.Unstructured) error {
	conditions, _, err := unstructured.NestedSlice(crd.Object, "status", "conditions")
	if err != nil {
		return err
	}
	state := map[string]string{}
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		kind, _ := condition["type"].(string)
		status, _ := condition["status"].(string)
		message, _ := condition["message"].(string)
		if kind == "Established" && status == string(metav1.ConditionTrue) {
			return nil
		}
		state[kind] = status + ": " + message
	}
	return fmt.Errorf("not served yet: %v", state)
}
