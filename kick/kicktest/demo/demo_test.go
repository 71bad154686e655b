package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/installation"
)

// asDemo marks a process of this binary that is to be the demo itself.
const asDemo = "KICK_TEST_DEMO"

func TestMain(m *testing.M) {
	installation.Main()
	if os.Getenv(asDemo) != "" {
		_ = os.Unsetenv(asDemo) // the operator it starts is not another demo
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// The story has to be told whole, in order, and leave nothing behind.
func TestOnce(t *testing.T) {
	build(t)
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--once"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	rest := out.String()
	for _, want := range []string{
		"kube-apiserver", "kwok", "CRDs and roles", "kick, the operator",
		"create Deployment web", "NoLongerRequired", "API_TOKEN alpha -> bravo",
		"Executing", "generation 2", "Succeeded", "from nothing to the finished rollout", "nothing is left",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q is missing, or in the wrong place, in\n%s", want, out.String())
		}
		rest = after
	}
}

// Ctrl-C is the ordinary way to end the demo: no error, and no process of it lives on.
func TestInterrupt(t *testing.T) {
	build(t)
	for name, line := range map[string]string{"while it starts": "etcd", "after the story": "Ctrl-C to clean up"} {
		t.Run(name, func(t *testing.T) {
			temp := t.TempDir()
			demo := exec.Command(os.Args[0])
			demo.Env = append(os.Environ(), asDemo+"=1", "TMPDIR="+temp)
			output, err := os.Create(filepath.Join(t.TempDir(), "output"))
			if err != nil {
				t.Fatal(err)
			}
			demo.Stdout, demo.Stderr = output, output
			if err := demo.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = demo.Process.Kill() })
			waitFor(t, func() bool { return strings.Contains(read(t, output.Name()), line) })
			started := children(t, demo.Process.Pid)
			if err := demo.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if err := demo.Wait(); err != nil {
				t.Errorf("after Ctrl-C: %v\n%s", err, read(t, output.Name()))
			}
			for _, pid := range started {
				if syscall.Kill(pid, 0) == nil {
					t.Errorf("process %d lives on", pid)
				}
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestBadArguments(t *testing.T) {
	for _, args := range [][]string{{"--twice"}, {"once"}} {
		err := run(t.Context(), args, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), "usage: demo") {
			t.Errorf("%v: %v, want an error with the usage", args, err)
		}
	}
}

// build takes what is slow, the first time on a machine, out of what is waited for.
func build(t *testing.T) {
	t.Helper()
	if _, err := controlplane.Build(t.Context(), os.Stderr, controlplane.DefaultPrograms()...); err != nil {
		t.Fatal(err)
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatal("waited for three minutes")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// children lists the processes that a process has started. Where the system does
// not tell, the list is empty and the directories left have to speak.
func children(t *testing.T, parent int) []int {
	t.Helper()
	var pids []int
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(parent) + "/task/*/children")
	for _, f := range files {
		content, _ := os.ReadFile(f) // a thread may have ended
		for field := range strings.FieldsSeq(string(content)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
