package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// A volume looks as the kubelet makes it: links into a folder with two dots.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"..2026", "..2026/sub"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{"..2026/pass": "a", "..2026/sub/deep": "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"..data": "..2026", "pass": "..data/pass", "sub": "..data/sub"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := report(&out, []string{"A=a", "EMPTY="}, []string{dir, filepath.Join(dir, "pass"), "/not/there"}); err != nil {
		t.Fatal(err)
	}
	var got struct{ Env, Files map[string]string }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	a, b := digest([]byte("a")), digest([]byte("b"))
	if got.Env["A"] != a || got.Env["EMPTY"] != digest(nil) || len(got.Env) != 2 {
		t.Errorf("env %v", got.Env)
	}
	if got.Files[filepath.Join(dir, "pass")] != a || got.Files[filepath.Join(dir, "sub/deep")] != b || len(got.Files) != 2 {
		t.Errorf("files %v", got.Files)
	}
}
