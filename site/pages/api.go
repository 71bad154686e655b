package pages

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/corewire/kick/kick/api/crds"
)

// api lists every field of every kind, as the CRDs have them.
func api(fs.FS) (string, error) {
	definitions, err := crds.All()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(note("API", "All kinds of group `kick.corewire.io`, version `v1alpha1`, with every field. `kubectl explain kickpolicy.spec` shows the same."))
	for _, d := range definitions {
		names, version := d.Spec.Names, d.Spec.Versions[0]
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", names.Kind, paragraph(version.Schema.OpenAPIV3Schema.Description))
		short := strings.Join(append(slices.Clone(names.ShortNames), names.Singular), ", ")
		fmt.Fprintf(&b, "\n`kubectl get %s` (%s)", names.Plural, short)
		if len(names.Categories) > 0 {
			fmt.Fprintf(&b, "; listed by `kubectl get %s`", strings.Join(names.Categories, ", "))
		}
		b.WriteString(".\n")
		for _, part := range []string{"spec", "status"} {
			if schema, ok := version.Schema.OpenAPIV3Schema.Properties[part]; ok {
				fmt.Fprintf(&b, "\n### %s.%s\n\n", names.Kind, part)
				rules(&b, schema)
				b.WriteString("| field | type | default | what it is |\n|---|---|---|---|\n")
				fields(&b, part+".", schema)
			}
		}
	}
	return b.String(), nil
}

func paragraph(text string) string { return strings.Join(strings.Fields(text), " ") }

// rules are the sentences with which the API server refuses a whole part.
func rules(b *strings.Builder, schema apiextensionsv1.JSONSchemaProps) {
	for _, rule := range schema.XValidations {
		if rule.Message != "" {
			fmt.Fprintf(b, "- Rule: %s\n", paragraph(rule.Message))
		}
	}
	if len(schema.XValidations) > 0 {
		b.WriteString("\n")
	}
}

// fields lists the fields of a schema and of what is in them, in order.
func fields(b *strings.Builder, prefix string, schema apiextensionsv1.JSONSchemaProps) {
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		field := schema.Properties[name]
		standard := ""
		if field.Default != nil {
			standard = string(field.Default.Raw)
		}
		about := []string{paragraph(field.Description)}
		if slices.Contains(schema.Required, name) && !strings.HasSuffix(about[0], "Required.") {
			about = append(about, "Required.")
		}
		about = append(about, bounds(field)...)
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", code(prefix+name), typeOf(field), code(standard), cell(strings.Join(about, " ")))
		switch {
		case name == "conditions": // of the form that all of Kubernetes has
		case field.Type == "array" && field.Items != nil && field.Items.Schema != nil:
			fields(b, prefix+name+"[].", *field.Items.Schema)
		default:
			fields(b, prefix+name+".", field)
		}
	}
}

// typeOf is a type in words.
func typeOf(f apiextensionsv1.JSONSchemaProps) string {
	switch {
	case f.XIntOrString:
		return "integer or string"
	case f.Type == "array" && f.Items != nil && f.Items.Schema != nil:
		return "list of " + typeOf(*f.Items.Schema)
	case f.Type == "object" && f.AdditionalProperties != nil && f.AdditionalProperties.Schema != nil:
		return "map of " + typeOf(*f.AdditionalProperties.Schema)
	case f.Format != "":
		return f.Type + " (" + f.Format + ")"
	}
	return f.Type
}

// bounds are what the API server refuses beyond the type, but for patterns, which descriptions tell in words.
func bounds(f apiextensionsv1.JSONSchemaProps) (all []string) {
	if len(f.Enum) > 0 {
		values := make([]string, len(f.Enum))
		for i, v := range f.Enum {
			values[i] = "`" + strings.Trim(string(v.Raw), `"`) + "`"
		}
		all = append(all, "One of "+strings.Join(values, ", ")+".")
	}
	number := func(form string, n *int64) {
		if n != nil {
			all = append(all, fmt.Sprintf(form, *n))
		}
	}
	number("At most %d characters.", f.MaxLength)
	number("At least %d entries.", f.MinItems)
	number("At most %d entries.", f.MaxItems)
	if f.Minimum != nil {
		all = append(all, fmt.Sprintf("At least %g.", *f.Minimum))
	}
	if f.Maximum != nil {
		all = append(all, fmt.Sprintf("At most %g.", *f.Maximum))
	}
	for _, rule := range f.XValidations {
		if rule.Message != "" {
			all = append(all, "Rule: "+paragraph(rule.Message)+".")
		}
	}
	return all
}
