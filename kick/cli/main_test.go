package cli

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/installation"
)

func TestMain(m *testing.M) {
	installation.Main()
	os.Exit(controlplane.Main(m, controlplane.Options{Node: controlplane.FakeNode, PodReadyDelay: time.Second}))
}

// outcome is what a command line came to.
type outcome struct {
	code           int
	stdout, stderr string
}

// call runs the plugin.
func call(ctx context.Context, now func() time.Time, in string, args ...string) outcome {
	var out, errs bytes.Buffer
	code := Main(args, Program{In: strings.NewReader(in), Stdout: &out, Stderr: &errs, Now: now, Name: "kubectl kick", Context: ctx})
	return outcome{code, out.String(), errs.String()}
}

func TestWrongCommandLines(t *testing.T) {
	config := t.TempDir() + "/kubeconfig"
	const nowhere = "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: http://127.0.0.1:1}}]\ncontexts: [{name: c, context: {cluster: c, namespace: shop}}]\ncurrent-context: c\n"
	if err := os.WriteFile(config, []byte(nowhere), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args []string
		code int
		says string
	}{
		"no such command":      {[]string{"whi"}, exitUsage, `unknown command "whi"`},
		"no such flag":         {[]string{"list", "--hurry"}, exitUsage, "unknown flag: --hurry"},
		"no workload":          {[]string{"why"}, exitUsage, "kubectl kick why --help"},
		"no such shell":        {[]string{"completion", "cmd"}, exitUsage, `unknown command "cmd"`},
		"no shell":             {[]string{"completion"}, exitUsage, "name a shell: bash, zsh, fish or powershell"},
		"no slash":             {[]string{"why", "web"}, exitUsage, "write KIND/NAME"},
		"another kind":         {[]string{"why", "job/web"}, exitUsage, "KICK restarts no such kind"},
		"all namespaces":       {[]string{"why", "deploy/web", "-A"}, exitUsage, "with -n instead of -A"},
		"no reason":            {[]string{"now", "deploy/web"}, exitUsage, "say why with --reason"},
		"a form it has not":    {[]string{"tree", "-o", "wide"}, exitUsage, "kubectl kick tree knows json, yaml"},
		"no form at all":       {[]string{"suspend", "policy/all", "-o", "xml"}, exitUsage, "kubectl kick suspend knows json, yaml, name"},
		"no windows":           {[]string{"windows", "policy/all", "--next", "0"}, exitUsage, "--next 0: at least 1"},
		"another group":        {[]string{"why", "deployment.extensions/web"}, exitUsage, "KICK restarts no such kind"},
		"another namespace":    {[]string{"plan", "-n", "other", "-f", "testdata/policy.yaml"}, exitUsage, `"shop" is not the one of -n, "other"`},
		"no policy in it":      {[]string{"plan", "-f", os.DevNull}, exitError, "holds no KickPolicy"},
		"another kind in it":   {[]string{"plan", "-f", "testdata/other.yaml"}, exitError, `apiVersion "kick.corewire.io/v9", kind "KickPolicy": plan reads KickPolicies of kick.corewire.io/v1alpha1 only`},
		"no file":              {[]string{"plan"}, exitUsage, "name a file with -f"},
		"no policy":            {[]string{"suspend", "web"}, exitUsage, "write policy/NAME"},
		"nobody answers":       {[]string{"why", "deploy/web"}, exitError, "connection refused"},
		"a file that is not":   {[]string{"plan", "-f", "none.yaml"}, exitError, "no such file"},
		"no such context":      {[]string{"list", "--context", "other"}, exitError, `context "other" does not exist`},
		"a policy with a slip": {[]string{"plan", "-f", "-"}, exitError, `unknown field "spek"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := call(t.Context(), time.Now, "apiVersion: kick.corewire.io/v1alpha1\nkind: KickPolicy\nspek: {}\n", append(tt.args, "--kubeconfig", config)...)
			if got.code != tt.code || !strings.Contains(got.stderr, tt.says) || got.stdout != "" {
				t.Errorf("exit code %d, stdout %q, stderr %q; want %d and %q", got.code, got.stdout, got.stderr, tt.code, tt.says)
			}
		})
	}
}

func TestVersionAndCompletionNeedNoCluster(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"completion", "bash"}, {"--help"}} {
		if got := call(t.Context(), time.Now, "", args...); got.code != exitOK || got.stdout == "" {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q", args, got.code, got.stdout, got.stderr)
		}
	}
}

// TestShellsCompleteWhatThereIs: the scripts are for a program that exists, and kubectl is
// answered under the name it asks by.
//
// Proves: KICK-FEAT-038.
func TestShellsCompleteWhatThereIs(t *testing.T) {
	for shell, line := range map[string]string{"bash": "__start_kubectl-kick kubectl-kick\n", "zsh": "#compdef kubectl-kick\n", "fish": "complete -c kubectl-kick "} {
		if got := call(t.Context(), time.Now, "", "completion", shell); !strings.Contains(got.stdout, line) {
			t.Errorf("the script for %s does not have %q", shell, line)
		}
	}
	if got := Args([]string{"/usr/bin/kubectl-kick", "why", "deploy/web"}); !slices.Equal(got, []string{"why", "deploy/web"}) {
		t.Errorf("the plugin's arguments are %q", got)
	}
	if got := call(t.Context(), time.Now, "", Args([]string{"/usr/bin/kubectl_complete-kick", "wi"})...); !strings.HasPrefix(got.stdout, "windows\t") {
		t.Errorf("kubectl is told %q", got.stdout)
	}
}
