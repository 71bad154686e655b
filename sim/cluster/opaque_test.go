package cluster

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/corewire/kick/kick/api/crds"
)

func text(change func(*structuralschema.Structural)) structuralschema.Structural {
	s := structuralschema.Structural{Generic: structuralschema.Generic{Type: "string"}, ValueValidation: &structuralschema.ValueValidation{}}
	if change != nil {
		change(&s)
	}
	return s
}

func ruled(rule string, properties map[string]structuralschema.Structural) structuralschema.Structural {
	s := structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, Properties: properties}
	if rule != "" {
		s.XValidations = apiextensionsv1.ValidationRules{{Rule: rule}}
	}
	return s
}

func list(change func(*structuralschema.Structural)) structuralschema.Structural {
	item := ruled("", map[string]structuralschema.Structural{"part": text(nil)})
	s := structuralschema.Structural{Generic: structuralschema.Generic{Type: "array"}, Items: &item, ValueValidation: &structuralschema.ValueValidation{}}
	if change != nil {
		change(&s)
	}
	return s
}

// TestLoose: only lists whose items have nothing to do with each other are judged item by
// item.
func TestLoose(t *testing.T) {
	root := ruled("self.named.size() > 1", map[string]structuralschema.Structural{
		"free": list(nil),
		"few": list(func(s *structuralschema.Structural) {
			s.ValueValidation.MaxItems, s.ValueValidation.MinItems = new(int64(3)), new(int64(1))
		}),
		"atomic": list(func(s *structuralschema.Structural) { s.XListType = new("atomic") }),
		"map":    list(func(s *structuralschema.Structural) { s.XListType, s.XListMapKeys = new("map"), []string{"key"} }),
		"set":    list(func(s *structuralschema.Structural) { s.XListType = new("set") }),
		"unique": list(func(s *structuralschema.Structural) { s.ValueValidation.UniqueItems = true }),
		"judged": list(func(s *structuralschema.Structural) {
			s.XValidations = apiextensionsv1.ValidationRules{{Rule: "self.size() > 1"}}
		}),
		"named": list(nil),
		"whole": ruled("self == oldSelf", map[string]structuralschema.Structural{"inner": list(nil)}),
		"texts": {Generic: structuralschema.Generic{Type: "array"}, Items: new(text(nil))},
	})
	_, lists := opaqueOf(&root)
	want := loose{"free": nil, "atomic": nil, "few": {3, 0}}
	if diff := cmp.Diff(want, lists); diff != "" {
		t.Error(diff)
	}
}

func TestOpaque(t *testing.T) {
	most := new(int64(10))
	root := ruled("has(self.named) || self.below.size() > 0", map[string]structuralschema.Structural{
		"free":   text(nil),
		"long":   text(func(s *structuralschema.Structural) { s.ValueValidation.MaxLength = most }),
		"formed": text(func(s *structuralschema.Structural) { s.ValueValidation.Pattern = "^a" }),
		"one":    text(func(s *structuralschema.Structural) { s.ValueValidation.Enum = []structuralschema.JSON{{Object: "a"}} }),
		"dated":  text(func(s *structuralschema.Structural) { s.ValueValidation.Format = "date-time" }),
		"judged": text(func(s *structuralschema.Structural) {
			s.XValidations = apiextensionsv1.ValidationRules{{Rule: "self != ''"}}
		}),
		"named":   text(nil),
		"below":   ruled("", map[string]structuralschema.Structural{"inside": text(nil), "twice": text(nil)}),
		"whole":   ruled("self == oldSelf", map[string]structuralschema.Structural{"inner": text(nil)}),
		"other":   ruled("", map[string]structuralschema.Structural{"twice": text(nil), "deep": text(nil)}),
		"objects": {Generic: structuralschema.Generic{Type: "array"}, Extensions: structuralschema.Extensions{XListMapKeys: []string{"key"}}, Items: &structuralschema.Structural{Properties: map[string]structuralschema.Structural{"key": text(nil), "value": text(nil)}}},
	})
	opaque, _ := opaqueOf(&root)
	got := slices.Sorted(maps.Keys(opaque))
	if diff := cmp.Diff([]string{"deep", "free", "long", "value"}, got); diff != "" {
		t.Error(diff)
	}
	if bounds := opaque["long"]; !slices.Equal(bounds, []int64{10}) {
		t.Errorf("bounds %v", bounds)
	}
}

// TestOpaqueOfKick: what KICK writes anew in every schedule is opaque, what the rules
// of its CRDs are about is not.
func TestOpaqueOfKick(t *testing.T) {
	all, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, declared := range all {
		o, lists := compileCRD(declared).opaque, compileCRD(declared).loose
		for kind, name := range map[string]string{"KickRequest": "transitions", "SourceObservation": "history"} {
			if _, ok := lists[name]; !ok && declared.Spec.Names.Kind == kind {
				t.Errorf("%s of a %s are judged as a whole: %v", name, kind, lists)
			}
		}
		for _, name := range []string{"phase", "trigger", "changedAt", "at"} {
			if _, ok := o[name]; ok {
				t.Errorf("%s: %s is taken for opaque", declared.Name, name)
			}
		}
		if _, ok := o["message"]; !ok && declared.Spec.Names.Kind == "KickRequest" {
			t.Errorf("messages of a KickRequest count by their text: %v", o)
		}
	}
}
