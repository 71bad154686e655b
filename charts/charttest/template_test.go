package charttest

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files anew")

// render renders the chart as helm template does, in the namespace that the docs use.
func render(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return helm(t, append([]string{"template", "kick", chart, "--namespace", "kick-system"}, args...)...)
}

func objects(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		o := &unstructured.Unstructured{}
		switch err := decoder.Decode(&o.Object); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		case len(o.Object) > 0:
			all = append(all, o)
		}
	}
}

// TestGolden: what each set of values renders. Of CRDs, which are compared with those of
// the code by make verify, only the metadata stands in the files.
//
// Proves: KICK-FEAT-042.
func TestGolden(t *testing.T) {
	for name, values := range valueSets(t) {
		t.Run(name, func(t *testing.T) {
			text, err := render(t, "--values", values)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			for _, o := range objects(t, text) {
				if o.GetKind() == "CustomResourceDefinition" {
					delete(o.Object, "spec")
				}
				part, err := sigsyaml.Marshal(o.Object)
				if err != nil {
					t.Fatal(err)
				}
				got.WriteString("---\n")
				got.Write(part)
			}
			file := filepath.Join("testdata", "golden", name+".yaml")
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != string(want) {
				t.Errorf("%s is not what the chart renders; run go test ./charts/charttest -run TestGolden -update and look at the difference", file)
			}
		})
	}
}

func TestLint(t *testing.T) {
	for name, values := range valueSets(t) {
		if out, err := helm(t, "lint", "--strict", chart, "--values", values); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// TestTyposFail: in every section of the values, and within the Kubernetes types that
// values have, a key that does not exist is refused.
//
// Proves: KICK-FEAT-042.
func TestTyposFail(t *testing.T) {
	content, err := os.ReadFile(chart + "/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := sigsyaml.Unmarshal(content, &values); err != nil {
		t.Fatal(err)
	}
	typos := []string{
		"affinity.podAffinity.typo=1", "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].typo=1", "tolerations[0].typo=1",
		"topologySpreadConstraints[0].labelSelector.typo=1", "extraEnv[0].valueFrom.typo=1", "extraVolumes[0].secret.typo=1",
		"extraVolumeMounts[0].typo=1", "extraEnvFrom[0].typo=1", "networkPolicy.metricsFrom[0].typo=1", "networkPolicy.extraEgress[0].typo=1",
	}
	var walk func(prefix string, section map[string]any)
	walk = func(prefix string, section map[string]any) {
		if prefix != "global." { // others have values there, too
			typos = append(typos, prefix+"typo=1")
		}
		for key, value := range section {
			if sub, ok := value.(map[string]any); ok && len(sub) > 0 && key != "labels" && key != "nodeSelector" && key != "limits" && key != "requests" {
				walk(prefix+key+".", sub)
			}
		}
	}
	walk("", values)
	for _, typo := range typos {
		if _, err := render(t, "--set", typo); err == nil || !strings.Contains(err.Error(), "typo") {
			t.Errorf("--set %s: %v, want an error that names it", typo, err)
		}
	}
	if len(typos) < 30 {
		t.Errorf("only %d sections were tried", len(typos))
	}
}

// TestBadValuesFail: values that cannot work are refused, with what to do instead.
//
// Proves: KICK-FEAT-042.
func TestBadValuesFail(t *testing.T) {
	tests := map[string]struct {
		set  string
		says string
	}{
		"a duration without a unit":          {"rolloutTimeout=15", "rolloutTimeout"},
		"an unknown log level":               {"logLevel=loud", "logLevel"},
		"an unknown mode":                    {"rbac.mode=Namespace", "mode"},
		"a tag for a digest":                 {"image.digest=v1", "digest"},
		"a number for a name":                {"fullnameOverride=1", "fullnameOverride"},
		"an extra argument that is no flag":  {"extraArgs={debug}", "extraArgs"},
		"Role only, but no namespaces":       {"rbac.mode=Namespaced", "needs watchNamespaces"},
		"a page for all with Roles only":     {"rbac.mode=Namespaced,watchNamespaces={a},ui.enabled=true,ui.exposed=true", "needs rbac.mode=Cluster"},
		"replicas without an election":       {"replicaCount=2,leaderElection.enabled=false", "needs leaderElection.enabled=true"},
		"Kargo without Argo CD":              {"integrations.kargo.enabled=true,integrations.argocd.enabled=false", "needs integrations.argocd.enabled=true"},
		"a lease shorter than its renewal":   {"leaderElection.leaseDuration=5s", "renewDeadline=10s must be less than leaderElection.leaseDuration=5s"},
		"a lease of half seconds":            {"leaderElection.leaseDuration=15500ms", "whole seconds"},
		"tries that come too late":           {"leaderElection.retryPeriod=9s", "leaderElection.retryPeriod=9s must be"},
		"no pause between tries":             {"leaderElection.retryPeriod=0s", "leaderElection.retryPeriod=0s must be"},
		"clocks too far apart":               {"clockAllowance=2m", "at most 1m"},
		"no time for a rollout":              {"rolloutTimeout=5ms", "rolloutTimeout=5ms must be at least 1s"},
		"no retention":                       {"requestRetention=0s", "requestRetention=0s must be at least 1s"},
		"a driver that looks once a day":     {"integrations.secretsStoreCSI.rotationPollInterval=24h", "between 1s and 1h"},
		"no name of a namespace":             {"watchNamespaces={Shop_A}", "watchNamespaces"},
		"no name of a tool's namespace":      {"integrations.namespaces={argocd/*}", "integrations/namespaces"},
		"both monitors":                      {"metrics.serviceMonitor.enabled=true,metrics.podMonitor.enabled=true", "exclude each other"},
		"a ServiceMonitor without a Service": {"metrics.serviceMonitor.enabled=true,metrics.service.enabled=false", "needs metrics.service.enabled=true"},
		"a monitor of metrics that are off":  {"metrics.enabled=false,metrics.podMonitor.enabled=true", "nothing to monitor"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := render(t, "--set", tt.set); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("--set %s: %v, want an error with %q", tt.set, err, tt.says)
			}
		})
	}
	if _, err := render(t, "--kube-version", "1.29.0"); err == nil || !strings.Contains(err.Error(), "cage.enabled=false") {
		t.Errorf("on Kubernetes 1.29: %v, want an error that says how to do without the cage", err)
	}
	if _, err := render(t, "--kube-version", "1.29.0", "--set", "cage.enabled=false"); err != nil {
		t.Errorf("on Kubernetes 1.29 without the cage: %v", err)
	}
	if _, err := render(t, "--set", "global.theirs=1,enabled=true"); err != nil {
		t.Errorf("as a dependency of another chart: %v", err)
	}
}
