package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/corewire/kick/sim/explore/exploretest"
	"github.com/corewire/kick/sim/run"
)

const secretChange = "../run/testdata/secret-change.yaml"

// quitter runs kick-sim over an operator that gives up too early.
func quitter(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errors bytes.Buffer
	code = Main(args, Program{
		Stdout: &out, Stderr: &errors, Version: "v1.2.3", Now: time.Now, NewOperator: exploretest.Quitter, Faults: faults(), Context: ctx,
	})
	return code, out.String(), errors.String()
}

// words splits a command line as a shell would, as far as ours need it.
func words(command string) []string {
	return strings.Fields(strings.ReplaceAll(strings.TrimPrefix(command, "kick-sim "), "'", ""))
}

// TestFromFindingToScenario: what explore finds, replay and explain show again, and
// shrink makes a scenario of that fails by itself.
func TestFromFindingToScenario(t *testing.T) {
	ctx := context.Background()
	saved := t.TempDir()
	code, stdout, stderr := quitter(ctx, "explore", "--profile", "crash", "-o", "json", "--save", saved, secretChange)
	if code != 1 || stderr != "" {
		t.Fatalf("explore: %d %s", code, stderr)
	}
	var got struct {
		Schedules, Transitions uint64
		Seconds                float64
		Profile, Build         string
		Failures               []struct{ Seed, Law, Message, Replay, Shrink, Recording string }
		Marks                  map[string]uint64
		Sites                  map[string]map[string]uint64
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schedules == 0 || got.Transitions == 0 || got.Profile != "crash" || got.Build != "v1.2.3" || len(got.Failures) != 1 ||
		got.Sites["crashLost"]["patch Deployment"] != 1 || got.Marks["phase-pending"] == 0 {
		t.Fatalf("got %s", stdout)
	}
	found := got.Failures[0]
	if found.Law != "nothing lost" {
		t.Errorf("got %+v", found)
	}
	for name, args := range map[string][]string{
		"replay": words(found.Replay), "explain": append([]string{"explain"}, words(found.Replay)[1:]...), "recording": {"replay", found.Recording},
	} {
		code, stdout, stderr := quitter(ctx, args...)
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		if code != 1 || stderr != "" || !strings.HasPrefix(stdout, "law broken: nothing lost") || len(lines) > 15 ||
			!strings.Contains(stdout, "crashLost at patch Deployment") || !strings.Contains(stdout, "Secret shop/db: content a -> b") {
			t.Errorf("%s: %d %s\n%s", name, code, stderr, stdout)
		}
	}
	shrinks(t, words(found.Shrink), "nothing lost")
}

// shrinks shrinks a schedule and runs what comes of it.
func shrinks(t *testing.T, args []string, law string) {
	t.Helper()
	code, text, stderr := quitter(context.Background(), args...)
	if code != 0 || !regexp.MustCompile(`^law broken: `+law+`\nshrunk from \d+ choices, \d+ steps, \d+ objects to \d+ choices, \d+ steps, \d+ objects in \d+ runs\n$`).MatchString(stderr) {
		t.Fatalf("shrink: %d %s", code, stderr)
	}
	file := filepath.Join(t.TempDir(), "small.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := quitter(context.Background(), "run", file, "--explain")
	if code != 1 || stderr != "" || !strings.Contains(stdout, "law broken: "+law) {
		t.Errorf("run: %d %s\n%s\nof\n%s", code, stderr, stdout, text)
	}
	if steps := strings.Count(text, "\n    - "); steps > 8 {
		t.Errorf("%d entries are left:\n%s", steps, text)
	}
}

// TestSeedToScenario: the same where a seed decides what goes wrong.
func TestSeedToScenario(t *testing.T) {
	code, stdout, stderr := quitter(context.Background(), "explore", "--profile", "swarm", "--seeds", "400", secretChange)
	m := regexp.MustCompile(`(?m)^as a scenario: (.*)$`).FindStringSubmatch(stdout)
	if code != 1 || stderr != "" || m == nil || !strings.Contains(stdout, "replay: kick-sim replay 0x") || !strings.Contains(stdout, "@v1.2.3 ") {
		t.Fatalf("explore: %d %s\n%s", code, stderr, stdout)
	}
	shrinks(t, words(m[1]), regexp.MustCompile(`^law broken: ([^,]*?)(,|   )`).FindStringSubmatch(stdout)[1])
}

// TestSeedOfAFailure: replay takes the seed that -o json names, and the command beside it.
func TestSeedOfAFailure(t *testing.T) {
	idler := func(args ...string) (code int, stdout, stderr string) {
		var out, errors bytes.Buffer
		code = Main(args, Program{
			Stdout: &out, Stderr: &errors, Version: "v1.2.3", Now: time.Now,
			NewOperator: func(run.OperatorOptions) (run.Operator, error) { return idle{}, nil },
		})
		return code, out.String(), errors.String()
	}
	for name, paths := range map[string][]string{"world": nil, "scenario": {secretChange}} {
		code, stdout, stderr := idler(append([]string{"explore", "--profile", "swarm", "--seeds", "400", "-o", "json"}, paths...)...)
		var got struct {
			Failures []struct{ Seed, Scenario, Law, Replay string }
		}
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 1 || len(got.Failures) == 0 {
			t.Fatalf("%s: %d %v %s", name, code, err, stderr)
		}
		found := got.Failures[0]
		if !regexp.MustCompile(`^0x[0-9a-f]+$`).MatchString(found.Seed) || (found.Scenario == "secret-change") != (paths != nil) {
			t.Errorf("%s: got %+v", name, found)
		}
		for _, args := range [][]string{append([]string{"replay", found.Seed}, paths...), words(found.Replay)} {
			code, stdout, stderr := idler(args...)
			if code != 1 || stderr != "" || !strings.HasPrefix(stdout, "law broken: ") || !strings.Contains(strings.SplitN(stdout, "\n", 2)[0], found.Law) {
				t.Errorf("%s: %v: %d %s\n%s", name, args, code, stderr, stdout)
			}
		}
	}
}

func TestInterruptedExplore(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(300*time.Millisecond, cancel)
	code, stdout, stderr := quitter(ctx, "explore", "--for", "1h", "--seed", "8", "--profile", "pct", "../run/testdata/metadata-only.yaml")
	if code != 130 || stderr != "" || !regexp.MustCompile(`(?m)^interrupted\nstopped after \d+ seeds$`).MatchString(stdout) || !strings.Contains(stdout, " schedules, ") {
		t.Errorf("got %d %s\n%s", code, stderr, stdout)
	}
}

// TestCutCampaign: a plan that was not done to its end is not called done.
func TestCutCampaign(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for name, tt := range map[string]struct {
		ctx     context.Context
		args    []string
		code    int
		stopped string
	}{
		"crash pass by --for":  {context.Background(), []string{"--profile", "crash", "--for", "1ns", secretChange}, 0, "stopped by --for after 0 of 1 scenarios of the crash pass"},
		"crash pass by Ctrl-C": {ended, []string{"--profile", "crash", "--pairs", secretChange}, 130, "stopped after 0 of 1 scenarios of the crash pass"},
		"mix by --for":         {context.Background(), []string{"--for", "1ns", secretChange}, 0, "stopped by --for after 0 of 1 scenarios of the crash pass"},
		"exhaustive":           {context.Background(), []string{"--profile", "exhaustive", "--for", "1ns", "--seeds", "3"}, 0, "stopped by --for after 0 of 3 worlds at depth 1"},
		"seeds":                {context.Background(), []string{"--seeds", "5", "--for", "1ns"}, 0, "stopped by --for after 0 of 5 seeds"},
		"without an end":       {context.Background(), []string{"--for", "1ns"}, 0, ""},
		"done":                 {context.Background(), []string{"--profile", "crash", "--pairs", "../run/testdata/metadata-only.yaml"}, 0, ""},
		"seeds done":           {context.Background(), []string{"--seeds", "5", "--for", "1h"}, 0, ""},
	} {
		code, stdout, stderr := quitter(tt.ctx, append([]string{"explore", "-o", "json"}, tt.args...)...)
		var got struct {
			Interrupted bool
			Stopped     string
		}
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != tt.code || got.Stopped != tt.stopped || got.Interrupted != (tt.stopped != "") {
			t.Errorf("%s: got %d %+v %v %s", name, code, got, err, stderr)
		}
	}
}

func TestExploreRefuses(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "old.jsonl")
	if err := os.WriteFile(trace, []byte(`{"format":"kick-sim-trace/0","build":"0ld"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args []string
		want string
	}{
		"profile":       {[]string{"explore", "--profile", "swam"}, "kick-sim: --profile: unknown profile \"swam\": mix, swarm, pct, exhaustive, crash\n"},
		"crash of what": {[]string{"explore", "--profile", "crash"}, "kick-sim: --profile crash needs scenarios, such as scenarios/\n"},
		"output":        {[]string{"explore", "-o", "xml"}, "kick-sim: unknown output \"xml\": text or json\n"},
		"no seeds":      {[]string{"explore", "--seeds", "0"}, "kick-sim: --seeds 0 runs nothing: leave it out, or give more\n"},
		"workers":       {[]string{"explore", "--workers", "0"}, "kick-sim: --workers 0 runs nothing: leave it out for one per core, or give 1 or more\n"},
		"backwards":     {[]string{"explore", "--for", "-5s"}, "kick-sim: --for -5s runs nothing: leave it out, or give more\n"},
		"no depth":      {[]string{"explore", "--profile", "exhaustive", "--depth", "0"}, "kick-sim: --depth 0 combines no deviations: leave it out for 2, or give 1 or more\n"},
		"less depth":    {[]string{"explore", "--profile", "exhaustive", "--depth", "-1"}, "kick-sim: --depth -1 combines no deviations: leave it out for 2, or give 1 or more\n"},
		"depth of what": {[]string{"explore", "--depth", "3"}, "kick-sim: --depth 3 has no meaning without --profile exhaustive: leave it out, or add that\n"},
		"crash seeds":   {[]string{"explore", "--profile", "crash", "--seeds", "5", secretChange}, "kick-sim: --seeds 5 has no meaning with --profile crash, which plays each scenario by itself: leave it out\n"},
		"crash seed":    {[]string{"explore", "--profile", "crash", "--seed", "5", secretChange}, "kick-sim: --seed 5 has no meaning with --profile crash, which plays each scenario by itself: leave it out\n"},
		"wraps around":  {[]string{"explore", "--seed", "18446744073709551610", "--seeds", "7"}, "kick-sim: --seeds 7 from --seed 18446744073709551610 on go past the last seed, 18446744073709551615: lower one of the two\n"},
		"pairs apart":   {[]string{"explore", "--profile", "crash", "--pairs", "3", secretChange}, "kick-sim: --pairs 3: the number needs an equals sign, --pairs=3\n"},
		"no pairs":      {[]string{"explore", "--profile", "crash", "--pairs=0", secretChange}, "kick-sim: --pairs 0 asks for no scenario: leave it out, or write --pairs=10\n"},
		"pairs of what": {[]string{"explore", "--pairs", secretChange}, "kick-sim: --pairs 10 has no meaning without --profile crash: leave it out, or add that\n"},
		"negative seed": {[]string{"replay", "-5"}, "kick-sim: -5 is no seed and no file: seeds go from 0 to 18446744073709551615\n"},
		"run workers":   {[]string{"run", "--workers", "-1", secretChange}, "kick-sim: --workers -1 runs nothing: leave it out for one per core, or give 1 or more\n"},
		"shrink time":   {[]string{"shrink", "--for", "-1s", secretChange}, "kick-sim: --for -1s runs nothing: leave it out, or give more\n"},
		"confirm cap":   {[]string{"confirm", "--cap", "-1m", secretChange}, "kick-sim: --cap -1m0s leaves no time: leave it out, or give more\n"},
		"confirm none":  {[]string{"confirm", "--parallel", "0", secretChange}, "kick-sim: --parallel 0 plays nothing: leave it out, or give 1 or more\n"},
		"no time":       {[]string{"explore", "--for", "0s"}, "kick-sim: --for 0s runs nothing: leave it out, or give more\n"},
		"huge seed":     {[]string{"replay", "18446744073709551616"}, "kick-sim: 18446744073709551616 is no seed: a number up to 18446744073709551615, such as 0x5f3a91, or with the build it is of, 0x5f3a91@4c1d2e7\n"},
		"no file":       {[]string{"replay", "gone.yaml"}, "gone.yaml: no such file or directory\n"},
		"no recording":  {[]string{"replay", "gone.json"}, "kick-sim: open gone.json: no such file or directory\n"},
		"crash":         {[]string{"replay", secretChange, "--crash", "x"}, "kick-sim: --crash: crash \"x\": want the number of a write and its fate, such as 3:landed or 7:lost\n"},
		"picks":         {[]string{"replay", secretChange, "--picks", "x"}, "kick-sim: --picks: pick \"x\": want the number of a question and its answer, such as 17=2\n"},
		"old trace":     {[]string{"view", trace}, "kick-sim: " + trace + ": the trace has format \"kick-sim-trace/0\" of build 0ld, this is build v1.2.3, which reads \"kick-sim-trace/1\"\n"},
		"no trace":      {[]string{"view", secretChange}, "kick-sim: " + secretChange + ": not a trace: the first line must name its format, such as \"kick-sim-trace/1\" (kick-sim replay --trace writes one)\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := quitter(context.Background(), tt.args...)
			if code != 2 || stdout != "" || stderr != tt.want {
				t.Errorf("got %d %s%s, want %s", code, stdout, stderr, tt.want)
			}
		})
	}
}

// TestUnmet: a crash or an answer that never comes about is no "ok".
func TestUnmet(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no such write": {[]string{"replay", secretChange, "--crash", "99:landed"}, `write 99 never happened: KICK made \d\d writes`},
		"dead already":  {[]string{"explain", secretChange, "--crash", "3:landed,3:lost"}, `at write 3 KICK dies otherwise already`},
		"no question":   {[]string{"replay", secretChange, "--picks", "100000=1"}, `question 100000 was never asked: there were \d+ questions, counted from 0`},
		"no answer":     {[]string{"shrink", secretChange, "--picks", "0=77"}, `question 0 has the answers 0 to \d, and 77 is none of them`},
	} {
		code, stdout, stderr := quitter(context.Background(), tt.args...)
		if code != 2 || stdout != "" || !regexp.MustCompile("^kick-sim: "+tt.want+"\n$").MatchString(stderr) {
			t.Errorf("%s: got %d %s%s", name, code, stdout, stderr)
		}
	}
}

// TestUnwritable: what cannot be written is noticed before anything runs, and what
// cannot be run leaves no file and no hole in one that was there.
func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	taken, fresh := filepath.Join(dir, "taken"), filepath.Join(dir, "fresh")
	if err := os.WriteFile(taken, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(taken, "below")
	for name, args := range map[string][]string{
		"replay": {"replay", secretChange, "--trace", below},
		"save":   {"explore", "--save", below, "--for", "1h", secretChange},
		"html":   {"run", secretChange, "--html", below},
		"trace":  {"run", secretChange, "--junit", fresh, "--trace", below},
	} {
		code, stdout, stderr := quitter(context.Background(), args...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, taken) {
			t.Errorf("%s: got %d %s%s", name, code, stdout, stderr)
		}
	}
	for _, file := range []string{taken, fresh} {
		if code, _, _ := quitter(context.Background(), "replay", secretChange, "--crash", "99:lost", "--trace", file); code != 2 {
			t.Errorf("got %d", code)
		}
	}
	if text, err := os.ReadFile(taken); err != nil || string(text) != "old" {
		t.Errorf("got %q %v", text, err)
	}
	if _, err := os.Stat(fresh); err == nil {
		t.Error("a file of a run that did not come about is left")
	}
}

func TestOneScenarioAtATime(t *testing.T) {
	code, _, stderr := quitter(context.Background(), "replay", "../run/testdata")
	if code != 2 || !regexp.MustCompile(`^kick-sim: \d+ scenarios match, \S+ and \S+ among them: name one with --filter\n$`).MatchString(stderr) {
		t.Errorf("got %d %s", code, stderr)
	}
}

func TestNothingToShrink(t *testing.T) {
	code, stdout, stderr := quitter(context.Background(), "shrink", secretChange)
	if code != 1 || stdout != "" || stderr != "kick-sim: every law holds: there is nothing to shrink\n" {
		t.Errorf("got %d %s%s", code, stdout, stderr)
	}
}

func TestSeedOfAnotherBuild(t *testing.T) {
	code, stdout, stderr := quitter(context.Background(), "replay", "0x8@0ldbu1d", secretChange)
	if code != 0 || !strings.HasPrefix(stdout, "ok: every law held in ") ||
		stderr != "kick-sim: found with build 0ldbu1d, this is build v1.2.3: the schedule may be another one (a recording of explore --save tells where it diverges)\n" {
		t.Errorf("got %d %s%s", code, stdout, stderr)
	}
}

// TestViewOfATrace: a trace of replay makes a page that holds its events.
func TestViewOfATrace(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "t.jsonl")
	if code, _, stderr := quitter(context.Background(), "replay", secretChange, "--trace", trace); code != 0 {
		t.Fatal(stderr)
	}
	code, page, stderr := quitter(context.Background(), "view", trace)
	if code != 0 || stderr != "" {
		t.Fatalf("%d %s", code, stderr)
	}
	for _, want := range []string{"build v1.2.3", "Secret shop/db: content a -\\u003e b", "runs Secret db=b", "restartedAt"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "second-password") || regexp.MustCompile(`(src|href)=`).MatchString(page) {
		t.Error("the page holds a secret or needs a network")
	}
}

func TestBuild(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3": "v1.2.3", "v0.0.0-20261129180000-4c1d2e7a9b3c": "4c1d2e7", "v0.1.1-0.20261129180000-4c1d2e7a9b3c": "4c1d2e7",
	} {
		if got := (Program{Version: version}).build(); got != want {
			t.Errorf("%s: got %s, want %s", version, got, want)
		}
	}
	if got := (Program{Version: "v0.0.0-20261129180000-4c1d2e7a9b3c+dirty"}).build(); !regexp.MustCompile(`^4c1d2e7-dirty-[0-9a-f]{7}$`).MatchString(got) {
		t.Errorf("got %s, want the commit, and that it is not it", got)
	}
	for _, version := range []string{"", "(devel)"} {
		if got := (Program{Version: version}).build(); !regexp.MustCompile(`^[0-9a-f]{7}$`).MatchString(got) {
			t.Errorf("%q: got %s, want a digest", version, got)
		}
	}
}

func TestVersion(t *testing.T) {
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: "4c1d2e7a9b3c0000000000000000000000000000"}, {Key: "vcs.time", Value: "2026-11-29T18:00:00Z"}, {Key: "vcs.modified", Value: modified}}
	}
	for want, info := range map[string]debug.BuildInfo{
		"v1.2.3":                                   {Main: debug.Module{Version: "v1.2.3"}, Settings: vcs("true")},
		"v0.0.0-20261129180000-4c1d2e7a9b3c":       {Main: debug.Module{Version: "(devel)"}, Settings: vcs("false")},
		"v0.0.0-20261129180000-4c1d2e7a9b3c+dirty": {Settings: vcs("true")},
		"(devel)": {Main: debug.Module{Version: "(devel)"}},
	} {
		if got := Version(&info); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
