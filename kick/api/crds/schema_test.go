package crds_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// node is a schema with the place it stands at.
type node struct {
	apiextensionsv1.JSONSchemaProps

	// path leads from the kind to the node, for example "KickPolicy.spec.suspend".
	path string
	// name is the JSON name of a field, empty for an item of a list.
	name string
	// required says that the field must be set.
	required bool
	// foreign says that the schema comes from metav1, with its own descriptions and bounds.
	foreign bool
}

// walk visits every node of a kind's spec and status, parents first and in a fixed order.
func walk(definition *apiextensionsv1.CustomResourceDefinition, visit func(node)) {
	root := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
	for _, part := range []string{"spec", "status"} {
		if schema, ok := root.Properties[part]; ok {
			required := slices.Contains(root.Required, part)
			walkNode(node{JSONSchemaProps: schema, path: definition.Spec.Names.Kind + "." + part, name: part, required: required}, visit)
		}
	}
}

func walkNode(n node, visit func(node)) {
	visit(n)
	names := make([]string, 0, len(n.Properties))
	for name := range n.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	foreign := n.foreign || n.name == "conditions" || strings.HasSuffix(n.name, "Selector")
	for _, name := range names {
		walkNode(node{
			JSONSchemaProps: n.Properties[name], path: n.path + "." + name, name: name,
			required: slices.Contains(n.Required, name), foreign: foreign,
		}, visit)
	}
	if n.Items != nil && n.Items.Schema != nil {
		walkNode(node{JSONSchemaProps: *n.Items.Schema, path: n.path + "[]", required: true, foreign: foreign}, visit)
	}
	if n.AdditionalProperties != nil && n.AdditionalProperties.Schema != nil {
		walkNode(node{JSONSchemaProps: *n.AdditionalProperties.Schema, path: n.path + "{}", required: true, foreign: foreign}, visit)
	}
}

// The checks an API server makes when a CRD is created: structural schema, CEL that compiles and stays within its cost
// budget, names, columns, selectable fields.
func TestDefinitionsAreAdmitted(t *testing.T) {
	for _, definition := range definitions(t) {
		apiextensionsv1.SetDefaults_CustomResourceDefinition(definition)
		apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&definition.Spec)
		internal := &apiextensions.CustomResourceDefinition{}
		if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(definition, internal, nil); err != nil {
			t.Fatalf("convert %s: %v", definition.Name, err)
		}
		internal.Status.StoredVersions = []string{definition.Spec.Versions[0].Name}
		for _, err := range apiextensionsvalidation.ValidateCustomResourceDefinition(t.Context(), internal) {
			t.Errorf("%s: %v", definition.Name, err)
		}
	}
}

func TestNames(t *testing.T) {
	want := map[string]string{"ConfigBundle": "cb", "KickPolicy": "kpol", "KickRequest": "kreq", "NotificationPolicy": "npol", "SourceObservation": "kobs"}
	got := map[string]string{}
	for _, definition := range definitions(t) {
		names := definition.Spec.Names
		got[names.Kind] = strings.Join(names.ShortNames, ",")
		if !slices.Equal(names.Categories, []string{"kick"}) {
			t.Errorf("%s: categories %v, want kick only", names.Kind, names.Categories)
		}
		if label := definition.Labels["app.kubernetes.io/name"]; label != "kick" {
			t.Errorf("%s: label app.kubernetes.io/name is %q, want kick", names.Kind, label)
		}
		if hasStatus := definition.Spec.Versions[0].Subresources.Status != nil; hasStatus != (names.Kind != "SourceObservation") {
			t.Errorf("%s: status subresource is %t; only SourceObservation has none", names.Kind, hasStatus)
		}
	}
	for kind, short := range want {
		if got[kind] != short {
			t.Errorf("%s: short name %q, want %q", kind, got[kind], short)
		}
	}
	if len(got) != len(want) {
		t.Errorf("kinds %v, want %v", got, want)
	}
}

// A description begins with the JSON name of its field and says what it means to leave the field out.
func TestEveryFieldIsDescribed(t *testing.T) {
	tellsUnset := regexp.MustCompile(`\b(Unset|Empty|Default:|0:|Exactly one of)`)
	for _, definition := range definitions(t) {
		walk(definition, func(n node) {
			switch {
			case n.name == "":
			case n.Description == "":
				t.Errorf("%s: no description", n.path)
			case n.foreign:
			case !strings.HasPrefix(n.Description, n.name+" "):
				t.Errorf("%s: the description begins with %.20q, want the name of the field", n.path, n.Description)
			case !n.required && !tellsUnset.MatchString(n.Description):
				t.Errorf("%s: the description does not say what it means to leave the field out", n.path)
			case n.required && !strings.Contains(n.Description, "Required") && !strings.HasSuffix(n.path, "."+"spec"):
				t.Errorf("%s: the description does not say that the field is required", n.path)
			case n.Default != nil && !strings.Contains(n.Description, "Default:") && n.Type != "object":
				t.Errorf("%s: the description does not name the default", n.path)
			}
		})
	}
}

// Every string, list and number has bounds. Label selectors are metav1's and have none of their own: a rule bounds them.
func TestEveryValueIsBounded(t *testing.T) {
	for _, definition := range definitions(t) {
		walk(definition, func(n node) {
			if n.foreign && !strings.Contains(n.path, ".conditions") {
				return
			}
			switch n.Type {
			case "string":
				if n.MaxLength == nil && n.Enum == nil && n.Format == "" && n.Pattern == "" {
					t.Errorf("%s: a string without maxLength, enum, format or pattern", n.path)
				}
			case "array":
				if n.MaxItems == nil || n.XListType == nil {
					t.Errorf("%s: a list without maxItems or list type", n.path)
				}
			case "integer":
				if n.Minimum == nil || n.Format == "int32" && n.Maximum == nil {
					t.Errorf("%s: a number without bounds", n.path)
				}
			}
			if n.AdditionalProperties != nil && n.MaxProperties == nil {
				t.Errorf("%s: a map without maxProperties", n.path)
			}
			if strings.HasSuffix(n.name, "Selector") && len(n.XValidations) == 0 {
				t.Errorf("%s: a selector without rules", n.path)
			}
			if n.Format == "date-time" && n.Pattern == "" && !n.foreign {
				t.Errorf("%s: a time without the pattern that makes sure that it decodes", n.path)
			}
		})
	}
}

func TestPhasesOfTheSchemaAreTheConstants(t *testing.T) {
	constants := []v1alpha1.Phase{
		v1alpha1.PhasePending, v1alpha1.PhaseWaitingForGate, v1alpha1.PhaseWaitingForOwner,
		v1alpha1.PhaseWaitingForApplicationSync, v1alpha1.PhaseWaitingForRollout, v1alpha1.PhaseExecuting,
		v1alpha1.PhaseSucceeded, v1alpha1.PhaseNoLongerRequired, v1alpha1.PhaseFailed, v1alpha1.PhaseDryRun,
	}
	want := make([]string, len(constants))
	for i, phase := range constants {
		want[i] = `"` + string(phase) + `"`
	}
	lists := map[string][]string{"KickRequest.status.phase": append([]string{`""`}, want...), "NotificationPolicy.spec.phases[]": want}
	for _, definition := range definitions(t) {
		walk(definition, func(n node) {
			want, ok := lists[n.path]
			if !ok {
				return
			}
			delete(lists, n.path)
			var got []string
			for _, value := range n.Enum {
				got = append(got, string(value.Raw))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: values %v, want %v", n.path, got, want)
			}
		})
	}
	if len(lists) > 0 {
		t.Errorf("not found in any schema: %v", lists)
	}
}
