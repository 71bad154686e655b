package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/corewire/kick/kick/kicktest/controlplane"
)

// renderAll writes every test below a folder as it runs, with the templates of its steps
// filled in, and has Chainsaw read the result. No cluster is asked: what is not bound, and
// what no template asks for, is found here and not after minutes.
func renderAll(ctx context.Context, out, log io.Writer, suite, to string) error {
	built, err := controlplane.Build(ctx, log, controlplane.Chainsaw)
	if err != nil {
		return err
	}
	var all []string
	err = filepath.WalkDir(suite, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Base(path) == "chainsaw-test.yaml" {
			all = append(all, path)
		}
		return err
	})
	if err != nil || len(all) == 0 {
		return errors.Join(err, fmt.Errorf("%d tests below %s", len(all), suite))
	}
	var wrong []error
	for _, path := range all {
		rendered, err := render(path)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", path, err))
			continue
		}
		file := filepath.Join(to, filepath.Base(filepath.Dir(filepath.Dir(path))), filepath.Base(filepath.Dir(path))+".yaml")
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, rendered, 0o644)); err != nil {
			return err
		}
		if said, err := exec.CommandContext(ctx, built[controlplane.Chainsaw], "lint", "test", "--file", file).CombinedOutput(); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w\n%s", file, err, said))
		}
	}
	_, _ = fmt.Fprintf(out, "%d tests rendered into %s, %d of them wrong\n", len(all), to, len(wrong))
	return errors.Join(wrong...)
}

// object is a piece of a test.
type object = map[string]any

// render is one test with its templates filled in.
func render(path string) ([]byte, error) {
	test, err := load(path)
	if err != nil {
		return nil, err
	}
	spec, _ := test["spec"].(object)
	steps, _ := spec["steps"].([]any)
	for i := range steps {
		step, _ := steps[i].(object)
		if err := fill(step, filepath.Dir(path)); err != nil {
			return nil, fmt.Errorf("step %q: %w", step["name"], err)
		}
	}
	return yaml.Marshal(test)
}

func load(path string) (object, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var o object
	return o, yaml.UnmarshalStrict(raw, &o)
}

// fill puts the template that a step uses in its place. Bindings stay beside it, as
// expressions refer to them.
func fill(step object, folder string) error {
	use, uses := step["use"].(object)
	if !uses {
		return bound(step)
	}
	file, _ := use["template"].(string)
	template, err := load(filepath.Join(folder, file))
	if err != nil {
		return err
	}
	spec, _ := template["spec"].(object)
	body := written(spec)
	with, _ := use["with"].(object)
	bindings, _ := spec["bindings"].([]any)
	given, _ := with["bindings"].([]any)
	for _, b := range given {
		name := nameOf(b)
		if !slices.ContainsFunc(bindings, func(d any) bool { return nameOf(d) == name }) && !strings.Contains(body, "$"+name) {
			return fmt.Errorf("%s asks for no %q", file, name)
		}
		bindings = slices.DeleteFunc(slices.Clone(bindings), func(d any) bool { return nameOf(d) == name })
		bindings = append(bindings, b)
	}
	delete(step, "use")
	maps.Copy(step, spec)
	if len(bindings) > 0 {
		step["bindings"] = bindings
	}
	return bound(step)
}

var (
	// expression is a string that Chainsaw evaluates; a script is none, whatever stands in it.
	expression = regexp.MustCompile(`(?m)^[ -]*(?:[^:]+: )?['"]?\(.*\)['"]?(?:: .*)?$`)
	variable   = regexp.MustCompile(`\$([a-z]\w*)`)
	// given are bound by Chainsaw itself.
	given = []string{"namespace", "stdout", "stderr", "error", "values", "client", "config", "test", "step", "operation"}
)

// bound reports a variable of an expression that nothing binds.
func bound(step object) error {
	names := slices.Clone(given)
	bindings, _ := step["bindings"].([]any)
	for _, b := range append(slices.Clone(bindings), outputs(step)...) {
		names = append(names, nameOf(b))
	}
	for _, line := range expression.FindAllString(written(withoutScripts(step)), -1) {
		for _, found := range variable.FindAllStringSubmatch(line, -1) {
			if !slices.Contains(names, found[1]) {
				return fmt.Errorf("nothing binds $%s", found[1])
			}
		}
	}
	return nil
}

// outputs are what the scripts of a step bind.
func outputs(step object) (all []any) {
	operations, _ := step["try"].([]any)
	for _, o := range operations {
		operation, _ := o.(object)
		script, _ := operation["script"].(object)
		names, _ := script["outputs"].([]any)
		all = append(all, names...)
	}
	return all
}

// withoutScripts is a copy of a value without the text of scripts.
func withoutScripts(value any) any {
	switch v := value.(type) {
	case object:
		out := object{}
		for key, inner := range v {
			if key != "content" {
				out[key] = withoutScripts(inner)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutScripts(v[i])
		}
		return out
	}
	return value
}

func nameOf(binding any) string {
	b, _ := binding.(object)
	name, _ := b["name"].(string)
	return name
}

func written(value any) string {
	raw, _ := yaml.Marshal(value) // it was read from YAML
	return string(raw)
}
