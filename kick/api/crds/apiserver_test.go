package crds_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/corewire/kick/kick/api/crds"
)

// admission is what an API server does to an object before it stores it: defaults, then every check of the
// strategies that kube-apiserver runs for custom resources.
type admission struct {
	structural *structuralschema.Structural
	create     interface {
		Validate(ctx context.Context, obj runtime.Object) field.ErrorList
		ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList
	}
	updateStatus interface {
		ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList
	}
}

// newAdmissions returns the admission of every kind, by kind.
func newAdmissions(tb testing.TB) map[string]*admission {
	tb.Helper()
	admissions := map[string]*admission{}
	for _, definition := range definitions(tb) {
		kind := definition.Spec.Names.Kind
		a, err := newAdmission(definition)
		if err != nil {
			tb.Fatalf("build the admission of %s: %v", kind, err)
		}
		admissions[kind] = a
	}
	return admissions
}

func newAdmission(definition *apiextensionsv1.CustomResourceDefinition) (*admission, error) {
	version := definition.Spec.Versions[0]
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		return nil, err
	}
	statusSchema, hasStatus := internal.Properties["status"]
	var statusValidator validation.SchemaValidator
	var subresource *apiextensions.CustomResourceSubresourceStatus
	if hasStatus {
		subresource = &apiextensions.CustomResourceSubresourceStatus{}
		if statusValidator, _, err = validation.NewSchemaValidator(&statusSchema); err != nil {
			return nil, err
		}
	}
	kind := schema.GroupVersionKind{Group: definition.Spec.Group, Version: version.Name, Kind: definition.Spec.Names.Kind}
	strategy := customresource.NewStrategy(nil, true, kind, validator, statusValidator, structural, subresource, nil, version.SelectableFields)
	return &admission{structural: structural, create: strategy, updateStatus: customresource.NewStatusStrategy(strategy)}, nil
}

// write applies a row as an API server would and returns the object it would store.
func (a *admission) write(r row) (*unstructured.Unstructured, error) {
	object, err := a.decode(r.object)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	if r.before == "" {
		return object, a.create.Validate(ctx, object).ToAggregate()
	}
	before, err := a.decode(r.before)
	if err != nil {
		return nil, err
	}
	if err := a.create.Validate(ctx, before).ToAggregate(); err != nil {
		return nil, fmt.Errorf("object before the update: %w", err)
	}
	object.SetResourceVersion("2")
	before.SetResourceVersion("1")
	if r.status {
		return object, a.updateStatus.ValidateUpdate(ctx, object, before).ToAggregate()
	}
	return object, a.create.ValidateUpdate(ctx, object, before).ToAggregate()
}

func (a *admission) decode(document string) (*unstructured.Unstructured, error) {
	object, err := parse(document)
	if err != nil {
		return nil, err
	}
	structuraldefaulting.Default(object.Object, a.structural)
	return object, nil
}

// parse reads a yaml document with the number types an API server uses.
func parse(document string) (*unstructured.Unstructured, error) {
	raw, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(raw); err != nil {
		return nil, err
	}
	return object, nil
}

func definitions(tb testing.TB) []*apiextensionsv1.CustomResourceDefinition {
	tb.Helper()
	all, err := crds.All()
	if err != nil {
		tb.Fatalf("read the CRDs: %v", err)
	}
	return all
}
