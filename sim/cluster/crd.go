package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	structurallisttype "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	structuralpruning "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// crd is a compiled CustomResourceDefinition: the storage version, which is the one
// that is served.
type crd struct {
	convert    sync.Once
	converter  managedfields.TypeConverter
	convertErr error

	gvk        schema.GroupVersionKind
	plural     string
	namespaced bool
	hasStatus  bool

	declared   *apiextensionsv1.CustomResourceDefinition
	structural *structuralschema.Structural
	whole      validation.SchemaValidator
	status     validation.SchemaValidator
	rules      *cel.Validator
	memo       *verdicts
}

// Compiling takes tens of milliseconds and depends on the CRD alone.
var (
	compiledLock sync.Mutex
	compiled     = map[*apiextensionsv1.CustomResourceDefinition]*crd{}
)

// compileCRD compiles a CRD, once per process. A CRD must not be changed afterwards.
func compileCRD(declared *apiextensionsv1.CustomResourceDefinition) *crd {
	compiledLock.Lock()
	defer compiledLock.Unlock()
	if c := compiled[declared]; c != nil {
		return c
	}
	c, err := newCRD(declared)
	if err != nil {
		panic(fmt.Sprintf("CRD %s: %v", declared.Name, err))
	}
	compiled[declared] = c
	return c
}

func newCRD(declared *apiextensionsv1.CustomResourceDefinition) (*crd, error) {
	for i := range declared.Spec.Versions {
		v := &declared.Spec.Versions[i]
		if !v.Storage {
			continue
		}
		c := &crd{
			gvk:        schema.GroupVersionKind{Group: declared.Spec.Group, Version: v.Name, Kind: declared.Spec.Names.Kind},
			plural:     declared.Spec.Names.Plural,
			namespaced: declared.Spec.Scope == apiextensionsv1.NamespaceScoped,
			hasStatus:  v.Subresources != nil && v.Subresources.Status != nil,
			declared:   declared,
			memo:       newVerdicts(),
		}
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			return nil, fmt.Errorf("version %s has no schema", v.Name)
		}
		return c, c.compile(v.Schema.OpenAPIV3Schema)
	}
	return nil, fmt.Errorf("no storage version")
}

// compile builds the validators as the API server's handler of custom resources does.
func (c *crd) compile(declared *apiextensionsv1.JSONSchemaProps) error {
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(declared, &props, nil); err != nil {
		return err
	}
	var err error
	if c.structural, err = structuralschema.NewStructural(&props); err != nil {
		return err
	}
	if errs := structuralschema.ValidateStructural(nil, c.structural); len(errs) > 0 {
		return errs.ToAggregate()
	}
	if c.whole, _, err = validation.NewSchemaValidator(&props); err != nil {
		return err
	}
	if status, ok := props.Properties["status"]; ok && c.hasStatus {
		if c.status, _, err = validation.NewSchemaValidator(&status); err != nil {
			return err
		}
	}
	c.rules = cel.NewValidator(c.structural, true, celconfig.PerCallLimit)
	return nil
}

// content is the object as JSON values, with the little metadata that rules may see.
func (c *crd) content(k *kind, obj client.Object) map[string]any {
	bare := k.withGVK(obj)
	*objectMeta(bare) = metav1.ObjectMeta{}
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(bare)
	if err != nil {
		panic(fmt.Sprintf("%s %s: %v", k.gk.Kind, client.ObjectKeyFromObject(obj), err))
	}
	metadata := map[string]any{"name": obj.GetName()}
	if generate := obj.GetGenerateName(); generate != "" {
		metadata["generateName"] = generate
	}
	out["metadata"] = metadata
	return out
}

// decode prunes what the schema does not know and fills its defaults.
func (c *crd) decode(k *kind, obj client.Object) (client.Object, error) {
	content := c.content(k, obj)
	structuralpruning.Prune(content, c.structural, true)
	structuraldefaulting.PruneNonNullableNullsWithoutDefaults(content, c.structural)
	structuraldefaulting.Default(content, c.structural)
	delete(content, "metadata")
	out := k.empty()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, out); err != nil {
		return nil, serverError(err.Error())
	}
	*objectMeta(out) = *objectMeta(obj)
	k.normalise(out)
	return out, nil
}

// validateCreate checks a new object against schema and rules.
func (c *crd) validateCreate(k *kind, in client.Object) field.ErrorList {
	return c.memo.of(k, in, nil, "", func() field.ErrorList {
		content := c.content(k, in)
		errs := validation.ValidateCustomResource(nil, content, c.whole)
		errs = append(errs, structurallisttype.ValidateListSetsAndMaps(nil, c.structural, content)...)
		return c.checkRules(errs, content, nil)
	})
}

// validateUpdate checks a change. Values that were invalid before and did not change
// are let through, as by the real server ("ratcheting").
func (c *crd) validateUpdate(k *kind, in, old client.Object, subresource string) field.ErrorList {
	return c.memo.of(k, in, old, subresource, func() field.ErrorList {
		content, was := c.content(k, in), c.content(k, old)
		correlated := common.NewCorrelatedObject(content, was, &model.Structural{Structural: c.structural})
		var errs field.ErrorList
		if subresource == "status" {
			if status, ok := content["status"]; ok {
				errs = validation.ValidateCustomResourceUpdate(field.NewPath("status"), status, was["status"], c.status,
					validation.WithRatcheting(correlated.Key("status")))
			}
		} else {
			errs = validation.ValidateCustomResourceUpdate(nil, content, was, c.whole, validation.WithRatcheting(correlated))
		}
		if len(structurallisttype.ValidateListSetsAndMaps(nil, c.structural, was)) == 0 {
			errs = append(errs, structurallisttype.ValidateListSetsAndMaps(nil, c.structural, content)...)
		}
		return c.checkRules(errs, content, was, cel.WithRatcheting(correlated))
	})
}

// checkRules evaluates the CEL rules, unless the schema already failed in a way that
// makes them meaningless.
func (c *crd) checkRules(errs field.ErrorList, content, was map[string]any, opts ...cel.Option) field.ErrorList {
	// The validators walk maps, in the order of the maps.
	slices.SortStableFunc(errs, compareErrors)
	if c.rules == nil {
		return errs
	}
	for _, err := range errs {
		switch err.Type { //nolint:exhaustive // the rest leaves the rules meaningful
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; "+
				"correct the existing errors to complete validation"))
		}
	}
	// A nil map in an interface is not nil: a create has no old object at all.
	var old any
	if was != nil {
		old = was
	}
	more, _ := c.rules.Validate(context.Background(), nil, c.structural, content, old, celconfig.RuntimeCELCostBudget, opts...)
	slices.SortStableFunc(more, compareErrors)
	return append(errs, more...)
}

// typeConverter knows the CRD's schema for server-side apply: list types, map keys.
// It is made once for all servers, like everything that follows from the CRD alone.
func (c *crd) typeConverter() (managedfields.TypeConverter, error) {
	c.convert.Do(func() { c.converter, c.convertErr = c.newTypeConverter() })
	return c.converter, c.convertErr
}

func (c *crd) newTypeConverter() (managedfields.TypeConverter, error) {
	spec, err := builder.BuildOpenAPIV3(c.declared, c.gvk.Version, builder.Options{})
	if err != nil {
		return nil, err
	}
	return managedfields.NewTypeConverter(spec.Components.Schemas, false)
}
