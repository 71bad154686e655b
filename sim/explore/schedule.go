package explore

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
)

// Schedule names one run completely, together with the build.
type Schedule struct {
	// Seed makes the world and its story where Scenario is nil, and answers what
	// they leave open where Seeded.
	Seed     uint64
	Seeded   bool
	Scenario *scenario.Scenario
	Crashes  []Crash     // the operator dies at these writes
	Picks    map[int]int // answers that are not plain, by the number of the question
}

// Crash is the end of the operator's process at one of its writes.
type Crash struct {
	Write  int  // which one, from 1, counted from t=0
	Landed bool // the write did reach the API server
}

// String is the crash as command lines have it: 3:landed.
func (c Crash) String() string { return fmt.Sprintf("%d:%s", c.Write, c.outcome()) }

func (c Crash) outcome() string {
	if c.Landed {
		return "landed"
	}
	return "lost"
}

// ParseCrashes reads crashes as command lines have them: 3:landed,7:lost.
func ParseCrashes(text string) ([]Crash, error) {
	var out []Crash
	for part := range strings.SplitSeq(text, ",") {
		number, outcome, _ := strings.Cut(part, ":")
		write, err := strconv.Atoi(number)
		if err != nil || write < 1 || outcome != "landed" && outcome != "lost" {
			return nil, fmt.Errorf("crash %q: want the number of a write and its fate, such as 3:landed or 7:lost", part)
		}
		out = append(out, Crash{Write: write, Landed: outcome == "landed"})
	}
	return out, nil
}

// ParsePicks reads answers as command lines have them: 17=2,30=1.
func ParsePicks(text string) (map[int]int, error) {
	out := map[int]int{}
	for part := range strings.SplitSeq(text, ",") {
		at, pick, _ := strings.Cut(part, "=")
		question, err := strconv.Atoi(at)
		answer, err2 := strconv.Atoi(pick)
		if err != nil || err2 != nil || question < 0 || answer < 0 {
			return nil, fmt.Errorf("pick %q: want the number of a question and its answer, such as 17=2", part)
		}
		out[question] = answer
	}
	return out, nil
}

// chooser answers what the world leaves open.
func (s Schedule) chooser() sched.Chooser {
	switch {
	case len(s.Picks) > 0:
		return sched.NewPicks(s.Picks)
	case s.Seeded:
		return chooserOf(s.Seed)
	default:
		return sched.FIFO{}
	}
}

// generated reports that the seed makes the world.
func (s Schedule) generated() bool { return s.Scenario == nil }

// Args are the arguments of kick-sim replay, shrink and explain for this schedule.
func (s Schedule) Args(build string) []string {
	var out []string
	if s.SeedText() != "" {
		out = append(out, FormatSeed(s.Seed, build))
	}
	if s.Scenario != nil {
		out = append(out, s.Scenario.At.File, "--filter", "'^"+s.Scenario.Name+"$'")
	}
	if len(s.Crashes) > 0 {
		var crashes []string
		for _, c := range s.Crashes {
			crashes = append(crashes, c.String())
		}
		out = append(out, "--crash", strings.Join(crashes, ","))
	}
	if len(s.Picks) > 0 {
		var picks []string
		for _, at := range slices.Sorted(maps.Keys(s.Picks)) {
			picks = append(picks, fmt.Sprintf("%d=%d", at, s.Picks[at]))
		}
		out = append(out, "--picks", strings.Join(picks, ","))
	}
	return out
}

// Command is the command that runs the schedule again.
func (s Schedule) Command(verb, build string) string {
	return "kick-sim " + verb + " " + strings.Join(s.Args(build), " ")
}

// SeedText is the seed as kick-sim replay takes it in any build; empty where none answers.
func (s Schedule) SeedText() string {
	if !s.Seeded && !s.generated() {
		return ""
	}
	return fmt.Sprintf("0x%x", s.Seed)
}
