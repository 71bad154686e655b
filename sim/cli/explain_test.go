package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCausalChains: a chain names what decides: the source that is missing, the window
// that is open or shut, the restart before.
func TestCausalChains(t *testing.T) {
	for name, tt := range map[string]struct {
		file, filter string
		want         []string
	}{
		"missing":  {"required-source.yaml", "^required-key-missing$", []string{"WaitingForGate (SourceMissing: Secret shop/db has no key "}},
		"window":   {"window-edges.yaml", "^window-opens$", []string{`is shut)`, `is open`}},
		"interval": {"rate-min-interval.yaml", "^rate-min-interval$", []string{"WaitingForGate (RateLimited: restarted at "}},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errors bytes.Buffer
			code := Main([]string{"explain", "../../scenarios/" + tt.file, "--filter", tt.filter}, Program{
				Stdout: &out, Stderr: &errors, Version: "v1.2.3", Now: time.Now, Context: context.Background(),
			})
			if code != 0 || errors.Len() > 0 {
				t.Fatalf("%d %s", code, errors.String())
			}
			for _, want := range tt.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is missing", want)
				}
			}
			if lines := strings.Count(out.String(), "\n"); lines > 15 {
				t.Errorf("%d lines", lines)
			}
			golden(t, filepath.Join("testdata", name+".golden"), out.Bytes())
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
