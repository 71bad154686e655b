package docstest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDevelopmentCluster: what needs Docker cannot run here. That make would call the right
// commands, that the chart takes what they set, and that the Tiltfile names files that
// exist, can be seen.
func TestDevelopmentCluster(t *testing.T) {
	s := reader(t, os.DevNull)
	out, code := s.run("make -n kind-create kind-load install kind-delete")
	if code != 0 {
		t.Fatal(out)
	}
	for _, want := range []string{
		"kind create cluster --name kick-dev", "docker build --tag kick:dev .", "kind load docker-image kick:dev --name kick-dev",
		"upgrade --install kick charts/kick --kube-context kind-kick-dev", "kind delete cluster --name kick-dev",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("make would not run %q:\n%s", want, out)
		}
	}
	set := regexp.MustCompile(`--set (\S+) --set-string (\S+?=)`).FindStringSubmatch(out)
	if set == nil {
		t.Fatalf("make install sets nothing:\n%s", out)
	}
	rendered, code := s.run("helm template kick charts/kick --set " + set[1] + " --set-string " + set[2] + "1 --values hack/tilt-values.yaml")
	for _, want := range []string{"image: \"?kick:dev\"?\n", "--otel-otlp-endpoint=jaeger.observability:4317", `installed: "1"`} {
		if code != 0 || !regexp.MustCompile(want).MatchString(rendered) {
			t.Errorf("the chart does not render %q (exit code %d)", want, code)
		}
	}
	tiltfile, err := os.ReadFile(filepath.Join(root, "Tiltfile"))
	if err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile(`'((?:hack|charts)/[^']+)'`).FindAllStringSubmatch(string(tiltfile), -1)
	if len(files) < 3 {
		t.Errorf("the Tiltfile names %d files", len(files))
	}
	for _, f := range files {
		if _, err := os.Stat(filepath.Join(root, f[1])); err != nil {
			t.Errorf("the Tiltfile: %v", err)
		}
	}
}
