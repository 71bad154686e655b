package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
)

// idle is an operator that does nothing.
type idle struct{}

func (idle) Start()                      {}
func (idle) Stop()                       {}
func (idle) Crash()                      {}
func (idle) Restart()                    {}
func (idle) CrashAtWrite(int, bool)      {}
func (idle) Pause(time.Duration)         {}
func (idle) AddFault(run.Fault)          {}
func (idle) Heal()                       {}
func (idle) Idle() bool                  { return true }
func (idle) NextWake() (time.Time, bool) { return time.Time{}, false }

const (
	good = "apiVersion: sim.kick.corewire.io/v1alpha1\nkind: Scenario\nmetadata: {name: good}\nspec:\n  steps: [{advance: 90s}]\n"
	bad  = "apiVersion: sim.kick.corewire.io/v1alpha1\nkind: Scenario\nmetadata: {name: bad}\nspec:\n  expect: {restarts: {shop/Deployment/web: 1}}\n"
	typo = "apiVersion: sim.kick.corewire.io/v1alpha1\nkind: Scenario\nmetadata: {name: typo}\nspec:\n  steps: [{aply: {}}]\n"
	late = "apiVersion: sim.kick.corewire.io/v1alpha1\nkind: Scenario\nmetadata: {name: late}\nspec:\n  operator: {flags: {no-such: x}}\n"
)

// in runs kick-sim in a folder with scenario files of every kind.
func in(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{"good.yaml": good, "bad.yaml": bad, "typo.yaml": typo, "late.yaml": late, "two/good.yaml": good + "---\n" + bad, "two/manifests/typo.yaml": typo} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errors bytes.Buffer
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	code = Main(args, Program{
		Stdout: &out, Stderr: &errors, Version: "v1", Now: func() time.Time { return now },
		NewOperator: func(o run.OperatorOptions) (run.Operator, error) {
			if len(o.Flags) > 0 {
				return nil, os.ErrInvalid
			}
			return idle{}, nil
		},
		Faults: []scenario.Fault{{Name: "conflict", Doc: "A write is refused."}},
	})
	return code, out.String(), errors.String()
}

const passed = "ok    good                             1m30s virtual       0 events    0.0ms\n"

func TestMain_(t *testing.T) {
	tests := map[string]struct {
		args   []string
		code   int
		stdout string
		stderr string
	}{
		"passes": {[]string{"run", "good.yaml"}, 0, passed + "1 passed, 0 failed in 0.0s\n", ""},
		"fails": {[]string{"run", "good.yaml", "bad.yaml"}, 1, passed +
			"FAIL  bad                               0.0s virtual       0 events    0.0ms\n" +
			"      shop/Deployment/web: the scenario expects restarts of it, and it never existed\n      replay: kick-sim run bad.yaml --explain\n1 passed, 1 failed in 0.0s\n", ""},
		"folder": {[]string{"run", "two", "--filter", "^bad$"}, 1,
			"FAIL  bad                               0.0s virtual       0 events    0.0ms\n" +
				"      shop/Deployment/web: the scenario expects restarts of it, and it never existed\n      replay: kick-sim run two/good.yaml --explain\n0 passed, 1 failed in 0.0s\n", ""},
		"typo": {[]string{"run", "good.yaml", "typo.yaml"}, 2, "",
			"typo.yaml:5:12: unknown step verb \"aply\" - did you mean \"apply\"? (kick-sim list steps)\n"},
		"found while running": {[]string{"run", "good.yaml", "late.yaml"}, 2, passed + "1 passed, 0 failed in 0.0s\n", "late.yaml:5:21: operator: invalid argument\n"},
		"no such file":        {[]string{"run", "gone.yaml"}, 2, "", "gone.yaml: no such file or directory\n"},
		"no argument":         {[]string{"run"}, 2, "", "kick-sim: requires at least 1 arg(s), only received 0\n"},
		"bad output":          {[]string{"run", "good.yaml", "-o", "xml"}, 2, "", "kick-sim: unknown output \"xml\": text or json\n"},
		"no match":            {[]string{"run", "good.yaml", "--filter", "zzz"}, 2, "", "kick-sim: no scenario matches --filter \"zzz\"\n"},
		"bad filter":          {[]string{"run", "good.yaml", "--filter", "("}, 2, "", "kick-sim: --filter: error parsing regexp: missing closing ): `(`\n"},
		"unknown command":     {[]string{"rum"}, 2, "", "kick-sim: unknown command \"rum\" for \"kick-sim\"\n\nDid you mean this?\n\trun\n\n"},
		"unwritable report":   {[]string{"run", "good.yaml", "--junit", "no/such/file"}, 2, "", "kick-sim: open no/such/file: no such file or directory\n"},
		"version":             {[]string{"version"}, 0, "kick-sim v1\n", ""},
		"list faults":         {[]string{"list", "faults"}, 0, "conflict          A write is refused.\n", ""},
		"list nonsense":       {[]string{"list", "x"}, 2, "", "kick-sim: list what? steps, faults, checks, marks\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := in(t, tt.args...)
			if code != tt.code || stdout != tt.stdout || stderr != tt.stderr {
				t.Errorf("got %d\n%s%s\nwant %d\n%s%s", code, stdout, stderr, tt.code, tt.stdout, tt.stderr)
			}
		})
	}
}

func TestListsAreComplete(t *testing.T) {
	_, stdout, _ := in(t, "list", "steps")
	for _, verb := range []string{"apply", "create", "update", "patch", "delete", "advance", "settle", "operator", "crashAtWrite", "fault", "heal", "clock", "rollout", "assert", "error"} {
		if !regexp.MustCompile(`(?m)^` + verb + ` +\S`).MatchString(stdout) {
			t.Errorf("list steps lacks %s", verb)
		}
	}
	_, stdout, _ = in(t, "list", "checks")
	if !strings.Contains(stdout, "nothing lost\n    After faults end") {
		t.Errorf("got %s", stdout)
	}
}

func TestReports(t *testing.T) {
	code, stdout, stderr := in(t, "run", "two", "-o", "json", "--junit", "j.xml", "--html", "h.html", "--trace", "t.json")
	if code != 1 || stderr != "" {
		t.Fatalf("code %d: %s", code, stderr)
	}
	var summary struct {
		Passed, Failed int
		Scenarios      []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(stdout), &summary); err != nil {
		t.Fatal(err)
	}
	if summary.Passed != 1 || summary.Failed != 1 || summary.Scenarios[0].Name != "good" {
		t.Errorf("got %+v", summary)
	}
	for name, want := range map[string]string{"j.xml": `<testsuite name="kick-sim" tests="2" failures="1"`, "h.html": "<!doctype html>", "t.json": ""} {
		got, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: %v %s", name, err, got)
		}
	}
}
