package cli

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestUnusableKubeconfig: the message names the file, what is wrong, and what to do.
func TestUnusableKubeconfig(t *testing.T) {
	const config = "apiVersion: v1\nkind: Config\nclusters:\n- {name: a, cluster: {server: \"https://127.0.0.1:1\"}}\n" +
		"contexts:\n- {name: a, context: {cluster: a, user: b}}\ncurrent-context: a\nusers:\n- {name: b, user: {token: secret}}\n"
	const another = `, or give another (file )?with --kubeconfig\n$`
	tests := map[string]struct{ text, want string }{
		"broken":    {"apiVersion: v1\nkind: Config\nclusters: [\n", ` is none: yaml: line \d: did not find expected node content: mend it` + another},
		"text":      {"hello\n", ` is none: it has no apiVersion: v1 and kind: Config: mend it` + another},
		"empty":     {"apiVersion: v1\nkind: Config\n", ` names no control plane: give another with --kubeconfig \(make cluster-up starts one\)\n$`},
		"no server": {config, `: no control plane answers at https://127\.0\.0\.1:1: .*connection refused: start it \(make cluster-up\)` + another},
		"context":   {regexp.MustCompile("current-context: a").ReplaceAllString(config, "current-context: z"), `: .*context was not found for specified context: z.*: mend it` + another},
		"no client": {regexp.MustCompile("token: secret").ReplaceAllString(config, "client-certificate: /no/such/file"), `: .*unable to read client-cert /no/such/file.*: mend it` + another},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			unconfirmed(t, file, tt.want)
		})
	}
	unconfirmed(t, filepath.Join(t.TempDir(), "gone"), `: no such file: give another with --kubeconfig`)
	unconfirmed(t, t.TempDir(), ` is none: .*is a directory: mend it`+another)
}

func unconfirmed(t *testing.T, file, want string) {
	t.Helper()
	code, stdout, stderr := quitter(context.Background(), "confirm", secretChange, "--operator", os.Args[0], "--kubeconfig", file)
	if code != 2 || stdout != "" || !regexp.MustCompile("^kick-sim: kubeconfig "+regexp.QuoteMeta(file)+want).MatchString(stderr) {
		t.Errorf("got %d %s%s", code, stdout, stderr)
	}
}
