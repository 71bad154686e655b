package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	apiequality "k8s.io/apimachinery/pkg/api/equality"
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
	selectable []string // paths of the fields that a field selector may name

	declared   *apiextensionsv1.CustomResourceDefinition
	structural *structuralschema.Structural
	whole      validation.SchemaValidator
	status     validation.SchemaValidator
	rules      *cel.Validator
	opaque     opaque
	loose      loose
	transition map[bool]bool // whether a rule compares with what was there: in the status, in the rest
	memo       *verdicts
	plain      forms // forms that decoding leaves as they are
	valid      forms // forms of valid writes
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
			plain:      newForms(),
			valid:      newForms(),
		}
		for _, f := range v.SelectableFields {
			c.selectable = append(c.selectable, strings.TrimPrefix(f.JSONPath, "."))
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
	c.opaque, c.loose = opaqueOf(c.structural)
	c.transition = transitionsOf(c.structural)
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
	if k.fast() {
		return k.remembered(obj, func() (client.Object, error) { return c.fill(k, obj) })
	}
	return c.fill(k, obj)
}

// fill makes the object that decoding leads to.
func (c *crd) fill(k *kind, obj client.Object) (client.Object, error) {
	content := c.content(k, obj)
	c.complete(content, false)
	delete(content, "metadata")
	out := k.empty()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, out); err != nil {
		return nil, serverError(err.Error())
	}
	*objectMeta(out) = *objectMeta(obj)
	k.normalise(out)
	return out, nil
}

// complete prunes and fills the content of an object. A null that is applied is not
// dropped: it is refused as a value of another type.
func (c *crd) complete(content map[string]any, applied bool) {
	structuralpruning.Prune(content, c.structural, true)
	if !applied {
		structuraldefaulting.PruneNonNullableNullsWithoutDefaults(content, c.structural)
	}
	structuraldefaulting.Default(content, c.structural)
}

// loose reads what a patch made of a custom resource: the object, and the content that
// its Go type cannot hold, such as a value of another type, or a field that is missing
// where the type has an empty one. An object that does not fit its type is left to the
// validation of the content.
func (k *kind) loose(content map[string]any) (client.Object, map[string]any, error) {
	out := k.empty()
	m, ok := content["metadata"].(map[string]any)
	if !ok && content["metadata"] != nil {
		return nil, nil, fmt.Errorf("metadata is not an object")
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"metadata": m}, out); err != nil {
		return nil, nil, err
	}
	content = runtime.DeepCopyJSON(content)
	metadata := map[string]any{"name": out.GetName()}
	if generate := out.GetGenerateName(); generate != "" {
		metadata["generateName"] = generate
	}
	content["metadata"] = metadata
	if whole, err := k.typed(content); err == nil {
		*objectMeta(whole) = *objectMeta(out)
		out = whole
	}
	return out, content, nil
}

// decodePatched is decode for the result of a patch. The content of a custom resource
// stays with the request where the Go type holds less.
func (k *kind) decodePatched(in, old client.Object, o *WriteOptions) (client.Object, error) {
	if o.content == nil {
		return k.decode(in)
	}
	k.crd.complete(o.content, o.verb == "apply")
	var was map[string]any
	if old != nil {
		was = k.crd.content(k, old)
	}
	o.content = k.crd.held(o.content, was, o.Subresource)
	out, err := k.typed(o.content)
	if err != nil {
		return in, nil // to be refused by the validation of the content
	}
	*objectMeta(out) = *objectMeta(in)
	k.normalise(out)
	if apiequality.Semantic.DeepEqual(o.content, k.crd.content(k, out)) {
		o.content = nil
	}
	return out, nil
}

// validateCreate checks a new object, or the content given, against schema and rules,
// and returns that with the errors found before.
func (c *crd) validateCreate(k *kind, in client.Object, content map[string]any, before field.ErrorList) field.ErrorList {
	judge := func(content map[string]any) field.ErrorList {
		errs := append(before, validation.ValidateCustomResource(nil, content, c.whole)...)
		errs = append(errs, structurallisttype.ValidateListSetsAndMaps(nil, c.structural, content)...)
		return c.checkRules(errs, content, nil)
	}
	switch {
	case content != nil:
		return k.fits(judge(content), content)
	case len(before) > 0:
		return judge(c.content(k, in))
	}
	return c.memo.of(k, in, nil, "", func() field.ErrorList { return judge(c.content(k, in)) })
}

// validateUpdate checks a change. Values that were invalid before and did not change
// are let through, as by the real server ("ratcheting").
func (c *crd) validateUpdate(k *kind, in, old client.Object, o WriteOptions, before field.ErrorList) field.ErrorList {
	switch {
	case o.content != nil:
		return k.fits(c.judgeUpdate(o.content, c.content(k, old), o.Subresource, before), o.content)
	case len(before) > 0:
		return c.judgeUpdate(c.content(k, in), c.content(k, old), o.Subresource, before)
	}
	return c.memo.of(k, in, old, o.Subresource, func() field.ErrorList {
		return c.judgeUpdate(c.content(k, in), c.content(k, old), o.Subresource, nil)
	})
}

func (c *crd) judgeUpdate(content, was map[string]any, subresource string, before field.ErrorList) field.ErrorList {
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
	return c.checkRules(append(before, errs...), content, was, cel.WithRatcheting(correlated))
}

// held takes from the content of a patch what its endpoint lets it set, the rest from
// what was there before. Without a status endpoint, status is a field like any other.
func (c *crd) held(content, was map[string]any, subresource string) map[string]any {
	if !c.hasStatus {
		return content
	}
	from, into := was, maps.Clone(content)
	if subresource == "status" {
		from, into = content, maps.Clone(was)
	}
	switch status, ok := from["status"]; {
	case ok:
		into["status"] = status
	default:
		delete(into, "status")
	}
	return into
}

// fits adds an error when content that is valid cannot be stored as its Go type.
func (k *kind) fits(errs field.ErrorList, content map[string]any) field.ErrorList {
	if _, err := k.typed(content); err != nil && len(errs) == 0 {
		return field.ErrorList{field.InternalError(nil, fmt.Errorf("the Go type cannot hold this: %w", err))}
	}
	return errs
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
