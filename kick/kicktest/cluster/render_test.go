package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRender: a test is written as it runs, and what cannot run is found without a cluster.
func TestRender(t *testing.T) {
	const template = "spec:\n  bindings:\n  - name: to\n    value: after\n  try:\n  - patch:\n      resource:\n        metadata:\n          name: ($secret)\n        stringData:\n          TOKEN: ($to)\n"
	const use = "spec:\n  steps:\n  - name: a change\n    use:\n      template: change.yaml\n      with:\n        bindings:\n"
	for name, tt := range map[string]struct{ test, wants, says string }{
		"filled in":        {use + "        - name: secret\n          value: back\n", "- name: to\n      value: after", ""},
		"over the default": {use + "        - name: secret\n          value: back\n        - name: to\n          value: before\n", "- name: to\n      value: before", ""},
		"not bound":        {use + "        - name: to\n          value: before\n", "", "nothing binds $secret"},
		"not asked for":    {use + "        - name: secert\n          value: back\n", "", `change.yaml asks for no "secert"`},
		"no template":      {strings.Replace(use, "change.yaml", "chnage.yaml", 1), "", "no such file"},
		"of a script":      {"spec:\n  steps:\n  - name: a script\n    try:\n    - script:\n        content: |\n          ($pod)\n", "($pod)", ""},
		"an output":        {"spec:\n  steps:\n  - name: a script\n    try:\n    - script:\n        outputs:\n        - name: said\n          value: ($stdout)\n    - assert:\n        resource:\n          (said == $said): true\n", "$said", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"change.yaml": template, "chainsaw-test.yaml": tt.test} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := render(filepath.Join(dir, "chainsaw-test.yaml"))
			if tt.says != "" {
				if err == nil || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("says %v, want %q", err, tt.says)
				}
				return
			}
			if err != nil || !strings.Contains(string(got), tt.wants) {
				t.Errorf("%v, %s, want %q in it", err, got, tt.wants)
			}
		})
	}
}

// TestSuitesRender: all suites of this tree do.
func TestSuitesRender(t *testing.T) {
	all, err := filepath.Glob("../../../chainsaw/suites/*/*/chainsaw-test.yaml")
	if err != nil || len(all) < 60 {
		t.Fatalf("%d tests, %v", len(all), err)
	}
	for _, path := range all {
		if _, err := render(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
