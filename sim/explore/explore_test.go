package explore

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/engine"
	"github.com/corewire/kick/sim/explore/exploretest"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
	"github.com/corewire/kick/sim/steps"
)

func load(t testing.TB, paths ...string) []scenario.Scenario {
	t.Helper()
	var known []scenario.Fault
	for _, f := range faults.All {
		known = append(known, scenario.Fault{Name: f.Name})
	}
	scenarios, problems := scenario.NewParser(steps.All(), known).ParseFiles(paths)
	if len(problems) > 0 {
		t.Fatalf("problems:\n%v", problems)
	}
	return scenarios
}

// changed is a scenario in which an operator that gives up too early is right as long as nothing
// goes wrong.
func changed(t testing.TB) []scenario.Scenario { return load(t, "../run/testdata/secret-change.yaml") }

// campaign runs a campaign over an operator that gives up too early.
func campaign(t testing.TB, change func(*Campaign)) (Summary, []string) {
	t.Helper()
	c := Campaign{Options: run.Options{NewOperator: exploretest.Quitter}, Scenarios: changed(t), First: 1}
	change(&c)
	var found []string
	total := c.Run(context.Background(), func(f Finding) {
		found = append(found, f.Schedule.Command("replay", "b")+": "+f.Failure.Law+": "+f.Failure.Message)
	})
	if total.Problem != nil {
		t.Fatal(total.Problem)
	}
	return total, found
}

// TestOrderOfFindings: the number of workers changes nothing.
func TestOrderOfFindings(t *testing.T) {
	for _, keepGoing := range []bool{false, true} {
		profiles := []Profile{ProfileMix, ProfileSwarm, ProfilePCT, ProfileCrash, ProfileExhaustive}
		if keepGoing {
			profiles = profiles[:1]
		}
		for _, profile := range profiles {
			var first string
			for _, workers := range []int{1, 4} {
				total, found := campaign(t, func(c *Campaign) {
					c.Profile, c.Seeds, c.Workers, c.KeepGoing, c.Depth = profile, 400, workers, keepGoing, 1
				})
				total.Marks = nil
				got := fmt.Sprintf("%d schedules, %d transitions, %d failed, sites %v\n%s", total.Schedules, total.Transitions, total.Failed, total.Sites, strings.Join(found, "\n"))
				if profile != ProfilePCT && (total.Failed == 0 || len(found) == 0) || len(found) > 0 && !strings.Contains(found[0], "nothing lost: shop/Deployment/web: pod web-") {
					t.Errorf("%s: found nothing: %s", profile, got)
				}
				if first == "" {
					first = got
				} else if got != first {
					t.Errorf("%s: %d workers give\n%s\nwant\n%s", profile, workers, got, first)
				}
			}
		}
	}
}

// TestCrashPassIsComplete: one plain run, and two for each write.
func TestCrashPassIsComplete(t *testing.T) {
	runner := &Runner{Options: run.Options{NewOperator: exploretest.Quitter}}
	runner.Run(Schedule{Scenario: &changed(t)[0]}, nil)
	total, found := campaign(t, func(c *Campaign) { c.Profile, c.KeepGoing = ProfileCrash, true })
	if runner.writes < 5 || total.Schedules != uint64(1+2*runner.writes) || total.Failed != 1 || len(found) == 0 {
		t.Errorf("%d writes, %d schedules, %d failed: %q", runner.writes, total.Schedules, total.Failed, found)
	}
	crashed := 0
	for site, count := range total.Sites {
		if site.Fault == faults.CrashLost.Name || site.Fault == faults.CrashLanded.Name {
			crashed += int(count)
		}
	}
	if crashed != 2*runner.writes {
		t.Errorf("%d crashes at %d writes", crashed, runner.writes)
	}
	if !regexp.MustCompile(`^kick-sim replay \.\./run/testdata/secret-change.yaml --filter '\^secret-change\$' --crash \d+:lost: nothing lost: `).MatchString(found[0]) {
		t.Errorf("got %s", found[0])
	}
}

// TestCrashPassOfKICK kills the operator at every write of every scenario, and twice in
// the ten shortest: what make crash runs.
func TestCrashPassOfKICK(t *testing.T) {
	before := debug.SetGCPercent(1000)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	c := Campaign{
		Options: run.Options{NewOperator: engine.New}, Profile: ProfileCrash, Pairs: 10, KeepGoing: true,
		Scenarios: load(t, "../../scenarios"),
	}
	total := c.Run(context.Background(), func(f Finding) { t.Errorf("%s: %s", f.Schedule.Command("replay", "b"), f.Failure.Message) })
	if total.Problem != nil || total.Schedules < 10_000 || total.Skipped > 0 {
		t.Errorf("%d schedules, %d skipped, %v", total.Schedules, total.Skipped, total.Problem)
	}
	for _, fault := range []string{faults.CrashLanded.Name, faults.CrashLost.Name} {
		for _, call := range []string{"create KickRequest", "update SourceObservation", "patch Deployment", "update KickRequest/status"} {
			if total.Sites[Site{fault, call}] == 0 {
				t.Errorf("no %s at %s", fault, call)
			}
		}
	}
}

// TestSchedulesRunAgain: alone, recorded and as a scenario of its own, a schedule
// breaks the law that it broke in the campaign.
func TestSchedulesRunAgain(t *testing.T) {
	for _, profile := range []Profile{ProfileMix, ProfileSwarm, ProfileExhaustive, ProfileCrash} {
		c := Campaign{Options: run.Options{NewOperator: exploretest.Quitter}, Scenarios: changed(t), Profile: profile, Seeds: 200}
		var found []Finding
		c.Run(context.Background(), func(f Finding) { found = append(found, f) })
		if len(found) == 0 {
			t.Errorf("%s: nothing found", profile)
			continue
		}
		f := found[0]
		runner := &Runner{Options: c.Options}
		result, choices := runner.Record(f.Schedule)
		if !reflect.DeepEqual(result.Failures[0], f.Failure) {
			t.Errorf("%s: recorded: got %v, want %v", profile, result.Failures, f.Failure)
		}
		path, err := f.Save(t.TempDir(), "b", choices)
		if err != nil {
			t.Fatal(err)
		}
		recording, err := ReadRecording(path)
		if err != nil {
			t.Fatal(err)
		}
		recording.Schedule.Scenario = f.Schedule.Scenario
		again, diverged := runner.Replay(recording.Schedule, recording.Choices)
		if diverged != "" || !reflect.DeepEqual(again.Failures, result.Failures) {
			t.Errorf("%s: replayed: %s %v, want %v", profile, diverged, again.Failures, result.Failures)
		}
		written := runner.Written(f.Schedule, nil)
		if len(written) != 1 || !runner.Breaks(written[0], f.Failure.Law) {
			t.Errorf("%s: %d scenarios, and the first one does not break %s", profile, len(written), f.Failure.Law)
		}
	}
}

func TestPanicIsAFailure(t *testing.T) {
	panics := func(run.OperatorOptions) (run.Operator, error) { panic("no such thing") }
	total, found := campaign(t, func(c *Campaign) { c.Options.NewOperator, c.Seeds = panics, 3 })
	if total.Failed != 1 || !strings.Contains(found[0], "no panic: no such thing, at ") {
		t.Errorf("got %d, %q", total.Failed, found)
	}
}

// TestContextEndsACampaign: what was run until then counts.
func TestContextEndsACampaign(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := Campaign{Options: run.Options{NewOperator: exploretest.Quitter}, Scenarios: changed(t), KeepGoing: true, Profile: ProfileSwarm}
	c.Progress = func(s Summary) {
		if s.Schedules > 200 {
			cancel()
		}
	}
	if total := c.Run(ctx, func(Finding) {}); total.Schedules <= 200 || total.Failed == 0 {
		t.Errorf("%d schedules, %d failed", total.Schedules, total.Failed)
	}
}

func TestSeedsOfAProfile(t *testing.T) {
	for _, first := range []uint64{0, 1, 2, 3, 4, 64, 1001} {
		for profile, mode := range map[Profile]Mode{ProfileSwarm: Swarm, ProfilePCT: PCT} {
			var want []uint64
			for seed := first; len(want) < 20; seed++ {
				if modeOf(seed) == mode {
					want = append(want, seed)
				}
			}
			for i := range want {
				if got := nth(first, uint64(i), profile); got != want[i] {
					t.Errorf("%s: seed %d from %d on is %d, want %d", profile, i, first, got, want[i])
				}
			}
		}
	}
}

func TestParsing(t *testing.T) {
	seed, build, ok := ParseSeed(FormatSeed(0x5f3a91, "4c1d2e7"))
	if seed != 0x5f3a91 || build != "4c1d2e7" || !ok {
		t.Errorf("got %x %s %v", seed, build, ok)
	}
	if _, _, ok := ParseSeed("scenarios/x.yaml"); ok {
		t.Error("a file passes for a seed")
	}
	crashes, err := ParseCrashes("3:landed,7:lost")
	if want := []Crash{{3, true}, {7, false}}; err != nil || !reflect.DeepEqual(crashes, want) {
		t.Errorf("got %v %v", crashes, err)
	}
	picks, err := ParsePicks("17=2,30=1")
	if want := map[int]int{17: 2, 30: 1}; err != nil || !reflect.DeepEqual(picks, want) {
		t.Errorf("got %v %v", picks, err)
	}
	for _, bad := range []string{"", "3", "0:lost", "3:gone", "x:lost", "3:lost,"} {
		if _, err := ParseCrashes(bad); err == nil {
			t.Errorf("crash %q passes", bad)
		}
	}
	for _, bad := range []string{"", "3", "-1=2", "3=-1", "x=1"} {
		if _, err := ParsePicks(bad); err == nil {
			t.Errorf("pick %q passes", bad)
		}
	}
	if _, err := ParseProfile("swam"); err == nil || err.Error() != `unknown profile "swam": mix, swarm, pct, exhaustive, crash` {
		t.Errorf("got %v", err)
	}
}

func TestUnusableRecordings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	for text, want := range map[string]string{
		"{":                            "not a recording of kick-sim explore --save: unexpected EOF",
		`{"format":"x/9","build":"c"}`: `format "x/9" of build c, this program reads "kick-sim-recording/1"`,
		`{"format":"kick-sim-recording/1","choices":[{"class":"order","site":"a","of":2,"pick":2}]}`: `choice 1 is none: class "order", pick 2 of 2`,
		`{"format":"kick-sim-recording/1","choices":[{"class":"odd","site":"a","of":2,"pick":1}]}`:   `choice 1 is none: class "odd", pick 1 of 2`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadRecording(path); err == nil || err.Error() != path+": "+want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestLawNames: the laws that a schedule may be forgiven are those that exist.
func TestLawNames(t *testing.T) {
	known := map[string]bool{}
	for _, law := range check.All() {
		known[law.Name] = true
	}
	for _, law := range []string{lawRestarts, lawRequests} {
		if !known[law] {
			t.Errorf("no law is named %q", law)
		}
	}
	s := changed(t)[0]
	s.Steps[0].AtSet, s.Steps[0].MayFail = true, false
	s.Steps = append([]scenario.Step{steps.DeleteStep(scenario.Ref{Key: s.Given[0].Key, GVK: s.Given[0].GVK})}, s.Steps...)
	s.Steps = append([]scenario.Step{s.Steps[0]}, s.Steps...)
	if r := run.One(s, run.Options{NewOperator: exploretest.Quitter}); len(r.Failures) == 0 || r.Failures[0].Law != lawSteps {
		t.Errorf("a step that fails breaks %v, want %s", r.Failures, lawSteps)
	}
}

// FuzzSchedule lets bytes make a world, its story and the schedule.
func FuzzSchedule(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 40, 1, 9, 2, 30, 1, 200, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		runner := &Runner{Options: run.Options{NewOperator: engine.New, Fast: true}}
		answers := sched.NewBytes(data)
		r := runner.play(Schedule{Seeded: true}, choosers{answers, answers, answers})
		for _, failure := range r.Failures {
			t.Errorf("%s: %s", failure.Law, failure.Message)
		}
	})
}

// TestSeedsFit: seeds end with the last one, and do not begin anew.
func TestSeedsFit(t *testing.T) {
	const last = math.MaxUint64
	for _, tt := range []struct {
		first, count uint64
		profile      Profile
		want         bool
	}{
		{1, 1000, ProfileMix, true}, {last, 1, ProfileMix, true}, {last, 2, ProfileMix, false}, {1, last, ProfileMix, true}, {2, last, ProfileMix, false},
		{1, last, ProfilePCT, false}, {0, 1 << 62, ProfilePCT, true}, {4, 1 << 62, ProfilePCT, false}, {1, last, ProfileSwarm, false},
		{last - 3, 3, ProfileSwarm, true}, {last - 3, 4, ProfileSwarm, false},
	} {
		if got := SeedsFit(tt.first, tt.count, tt.profile); got != tt.want {
			t.Errorf("%d from %d, %s: got %t", tt.count, tt.first, tt.profile, got)
		}
	}
	total, _ := campaign(t, func(c *Campaign) {
		c.First, c.Profile, c.Workers = last-2, ProfileSwarm, 1
		c.Options.NewOperator = engine.New
	})
	if total.Schedules != 2 {
		t.Errorf("%d schedules of the last three seeds, want two of the swarm", total.Schedules)
	}
}
