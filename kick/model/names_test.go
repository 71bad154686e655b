package model_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/corewire/kick/kick/model"
)

// anyName draws a valid name of an object, long ones more often than users do.
func anyName(t *rapid.T) string {
	length := rapid.SampledFrom([]int{1, 62, 63, 64, 240, 246, 247, 252, 253}).Draw(t, "length")
	body := rapid.SliceOfN(rapid.SampledFrom([]rune("abz09-.")), length, length).Draw(t, "body")
	name := []rune(string(body))
	for i, r := range name {
		edge := i == 0 || i == len(name)-1 || name[i-1] == '.' || name[i-1] == '-' || (i+1 < len(name) && name[i+1] == '.')
		if edge && (r == '.' || r == '-') {
			name[i] = 'x'
		}
	}
	return string(name)
}

func TestNamesAreValidStableAndDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"Secret", "ConfigMap", "Deployment", "StatefulSet", "DaemonSet"}).Draw(t, "kind")
		a, b := anyName(t), anyName(t)
		name := model.ObjectName(model.Key{Kind: kind, Name: a})
		if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
			t.Fatalf("ObjectName(%s %s) = %q: %v", kind, a, name, wrong)
		}
		if again := model.ObjectName(model.Key{Kind: kind, Namespace: "other", Name: a}); again != name {
			t.Fatalf("ObjectName() = %q and %q", name, again)
		}
		if other := model.ObjectName(model.Key{Kind: kind, Name: b}); a != b && other == name {
			t.Fatalf("%q and %q have the same name %q", a, b, name)
		}
		label := model.LabelValue(a)
		if wrong := validation.IsValidLabelValue(label); len(wrong) > 0 {
			t.Fatalf("LabelValue(%s) = %q: %v", a, label, wrong)
		}
		if other := model.LabelValue(b); a != b && other == label {
			t.Fatalf("%q and %q have the same label %q", a, b, label)
		}
	})
}

func TestNames(t *testing.T) {
	long := strings.Repeat("a", 253)
	tests := map[string]struct {
		got, want string
	}{
		"short name":                    {model.ObjectName(model.Key{Kind: "Deployment", Name: "web"}), "deployment-web"},
		"two kinds of one name":         {model.ObjectName(model.Key{Kind: "StatefulSet", Name: "web"}), "statefulset-web"},
		"as long as it may be":          {model.ObjectName(model.Key{Kind: "Secret", Name: long[:246]}), "secret-" + long[:246]},
		"a label of 63 stays":           {model.LabelValue(long[:63]), long[:63]},
		"one of 64 is cut and hashed":   {model.LabelValue(long[:64]), long[:46] + "-ffe054fe7ae0cb6d"},
		"no dash or dot before the cut": {model.LabelValue(strings.Repeat("a", 44) + ".-" + strings.Repeat("b", 20)), strings.Repeat("a", 44) + "-1e507e3ea5c713f2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("got %q, want %q", tt.got, tt.want)
			}
		})
	}
}

func TestLongNamesThatDifferAtTheEnd(t *testing.T) {
	stem := strings.Repeat("a", 250)
	one := model.ObjectName(model.Key{Kind: "Deployment", Name: stem + "one"})
	two := model.ObjectName(model.Key{Kind: "Deployment", Name: stem + "two"})
	if one == two || len(one) > 253 || len(two) > 253 {
		t.Errorf("names %q and %q, want two of at most 253 characters", one, two)
	}
}

// Proves: KICK-FEAT-001.
func TestNameableIsWhatTheAPIServerTakes(t *testing.T) {
	check := func(t rapid.TB, name string) {
		if got, want := model.Nameable(name), len(validation.IsDNS1123Subdomain(name)) == 0; got != want {
			t.Errorf("Nameable(%q) = %t, the API server says %t", name, got, want)
		}
	}
	for _, name := range []string{
		"", "a", "a.b", "a-b", "a--b", "a-.b", "a.-b", "a..b", ".a", "a.", "-a", "a-", ".", "..", "A", "a/b", "a%b", "a_b", "ä", "a b", "0", "a\n",
		strings.Repeat("a", 253), strings.Repeat("a", 254),
	} {
		check(t, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.StringOfN(rapid.RuneFrom([]rune("ab0-.A/%")), 0, 8, -1).Draw(t, "name"))
	})
}
