package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// entry is an object of a file, and where in it.
type entry struct {
	where  string
	object map[string]any
}

// readPolicies reads every KickPolicy of a file.
func (s *session) readPolicies(file string) ([]*v1alpha1.KickPolicy, error) {
	raw, err := s.contents(file)
	if err != nil {
		return nil, err
	}
	if file == "-" {
		file = "standard input"
	}
	entries, err := entriesOf(raw)
	if err != nil {
		return nil, fmt.Errorf("%s, %w", file, err)
	}
	var out []*v1alpha1.KickPolicy
	seen := map[client.ObjectKey]string{}
	for _, e := range entries {
		p, err := s.readPolicy(e.object)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", file, e.where, err)
		}
		key := client.ObjectKeyFromObject(p)
		if first := seen[key]; first != "" {
			return nil, fmt.Errorf("%s: %s and %s are both KickPolicy %s; only the last one would stand: take the other out, or give it another name", file, first, e.where, key)
		}
		seen[key] = e.where
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s holds no KickPolicy", file)
	}
	return out, nil
}

func (s *session) contents(file string) ([]byte, error) {
	switch file {
	case "":
		return nil, usageError{errors.New("name a file with -f")}
	case "-":
		return io.ReadAll(s.In)
	}
	return os.ReadFile(file) //nolint:gosec // the user names it
}

// entriesOf are the objects of a file, those of its lists too, as kubectl apply takes them.
func entriesOf(raw []byte) (out []entry, err error) {
	count := 1 // of those that hold something
	for document := range strings.SplitSeq("\n"+string(raw), "\n---") {
		where := fmt.Sprintf("document %d", count)
		object := map[string]any{}
		text, err := yaml.YAMLToJSONStrict([]byte(document))
		if err == nil {
			err = json.Unmarshal(text, &object) // whole numbers stay whole
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		if len(object) == 0 { // nothing but comments
			continue
		}
		count++
		kind, _ := object["kind"].(string)
		switch items, listed := object["items"].([]any); {
		case !listed || !strings.HasSuffix(kind, "List"):
			out = append(out, entry{where, object})
		default:
			for j, item := range items {
				at := fmt.Sprintf("%s, items[%d]", where, j)
				one, ok := item.(map[string]any)
				if !ok {
					return nil, fmt.Errorf("%s: not an object", at)
				}
				out = append(out, entry{at, one})
			}
		}
	}
	return out, nil
}

func (s *session) readPolicy(object map[string]any) (*v1alpha1.KickPolicy, error) {
	u := &unstructured.Unstructured{Object: object}
	if u.GroupVersionKind() != v1alpha1.GroupVersion.WithKind("KickPolicy") {
		return nil, fmt.Errorf("apiVersion %q, kind %q: plan reads KickPolicies of %s only", u.GetAPIVersion(), u.GetKind(), v1alpha1.GroupVersion)
	}
	p := &v1alpha1.KickPolicy{}
	if err := strictly(object, p); err != nil {
		return nil, fmt.Errorf("KickPolicy %s: %w", u.GetName(), err)
	}
	asked := s.flags.Namespace != nil && *s.flags.Namespace != ""
	switch {
	case p.Namespace == "":
		p.Namespace = s.namespace
	case asked && p.Namespace != *s.flags.Namespace:
		return nil, usageError{fmt.Errorf("metadata.namespace %q is not the one of -n, %q", p.Namespace, *s.flags.Namespace)}
	}
	if p.Namespace == "" || p.Name == "" {
		return nil, errors.New("metadata.name and a namespace (or -n) are needed")
	}
	return s.admitted(u, p)
}

// strictly reads an object as an API server with strict field validation does: a name in
// the wrong case is a name it does not know. An error names every field at fault.
func strictly(object map[string]any, into *v1alpha1.KickPolicy) error {
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object, into, true)
	if err == nil || runtime.IsStrictDecodingError(err) {
		return err
	}
	if found := faults(nil, object); len(found) > 0 {
		return errors.Join(found...)
	}
	return err
}

// faults are the fields of a value that cannot be read: what a converter says of one does not
// tell where it stands, so each is tried alone.
func faults(path []any, value any) (found []error) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			found = append(found, faults(append(slices.Clone(path), name), v[name])...)
		}
		if len(v) > 0 {
			return found
		}
	case []any:
		for i := range v {
			found = append(found, faults(append(slices.Clone(path), i), v[i])...)
		}
		if len(v) > 0 {
			return found
		}
	}
	alone := value
	for _, step := range slices.Backward(path) {
		if name, ok := step.(string); ok {
			alone = map[string]any{name: alone}
		} else {
			alone = []any{alone}
		}
	}
	object, ok := alone.(map[string]any)
	if !ok {
		return nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &v1alpha1.KickPolicy{}); err != nil {
		found = append(found, fmt.Errorf("%s: %v: %w%s", fieldOf(path), value, err, remedy(err)))
	}
	return found
}

// fieldOf is a path as the API server writes it.
func fieldOf(path []any) string {
	var out strings.Builder
	for _, step := range path {
		switch at := step.(type) {
		case int:
			out.WriteString("[" + strconv.Itoa(at) + "]")
		case string:
			out.WriteString("." + at)
		}
	}
	return strings.TrimPrefix(out.String(), ".")
}

// remedy says how a duration is written; Go's errors about one begin so.
func remedy(err error) string {
	if strings.HasPrefix(err.Error(), "time: ") {
		return "; write it in h, m and s, for example 30s, 1h30m, or 24h for a day"
	}
	return ""
}

// admitted is the policy as the API server would store it, with all defaults. Nothing is
// written. Whoever may not write policies is told what was not checked.
func (s *session) admitted(object *unstructured.Unstructured, p *v1alpha1.KickPolicy) (*v1alpha1.KickPolicy, error) {
	object.SetNamespace(p.Namespace)
	policies := s.writes.Resource(v1alpha1.GroupVersion.WithResource("kickpolicies")).Namespace(p.Namespace)
	try := []string{metav1.DryRunAll}
	stored, err := policies.Get(s.ctx, p.Name, metav1.GetOptions{})
	switch {
	case err == nil:
		object.SetResourceVersion(stored.GetResourceVersion())
		stored, err = policies.Update(s.ctx, object, metav1.UpdateOptions{DryRun: try, FieldManager: manager, FieldValidation: metav1.FieldValidationStrict})
	case apierrors.IsNotFound(err):
		stored, err = policies.Create(s.ctx, object, metav1.CreateOptions{DryRun: try, FieldManager: manager, FieldValidation: metav1.FieldValidationStrict})
	}
	if apierrors.IsForbidden(err) {
		_, _ = fmt.Fprintf(s.Stderr, "warning: KickPolicy %s/%s is taken as it is written; whether the API server would have it was not checked: %v\n", p.Namespace, p.Name, err)
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	admitted := &v1alpha1.KickPolicy{}
	return admitted, runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, admitted)
}
