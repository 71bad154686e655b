package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/corewire/kick/sim/explore"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
)

// targetFlags narrow down what replay, shrink and explain are about.
type targetFlags struct{ filter, crash, picks string }

func (f *targetFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.filter, "filter", "", "the scenario of the file whose name matches this regular expression")
	flags.StringVar(&f.crash, "crash", "", "kill the operator at these of its writes: 3:landed,7:lost")
	flags.StringVar(&f.picks, "picks", "", "answer these questions, counted from 0, other than plainly: 17=2,30=1")
}

// target is one schedule as named on a command line.
type target struct {
	schedule explore.Schedule
	choices  []sched.Choice // what was recorded; nil: the schedule answers
	build    string         // the build it was found with; empty: not known
}

const targetUse = "SEED|FILE [SCENARIO-FILE]"

const targetLong = "SEED is what explore prints, 0x5f3a91@4c1d2e7; with a scenario file the seed decides what goes wrong in it.\n" +
	"FILE is a scenario, or a recording of explore --save.\n\n"

// likeSeed is what somebody means for a seed rather than for a file.
var likeSeed = regexp.MustCompile(`^[0-9][0-9a-zA-Z_]*(@|$)`)

// parse reads the arguments of replay, shrink and explain.
func (f targetFlags) parse(p Program, args []string) (target, error) {
	var t target
	if filepath.Ext(args[0]) == recordingExt {
		return f.recording(p, args)
	}
	seed, build, seeded := explore.ParseSeed(args[0])
	if seeded {
		t.schedule.Seed, t.schedule.Seeded, t.build = seed, f.picks == "", build
		args = args[1:]
	} else if _, err := os.Stat(args[0]); err != nil && likeSeed.MatchString(args[0]) {
		return t, exitError{exitUnusable, fmt.Sprintf("kick-sim: %s is no seed: a number up to 18446744073709551615, such as 0x5f3a91, or with the build it is of, 0x5f3a91@4c1d2e7", args[0])}
	}
	if err := f.details(&t.schedule); err != nil {
		return t, err
	}
	if len(args) == 0 {
		return t, nil
	}
	s, err := f.scenario(p, args)
	t.schedule.Scenario = s
	return t, err
}

func (f targetFlags) details(s *explore.Schedule) (err error) {
	if f.crash != "" {
		if s.Crashes, err = explore.ParseCrashes(f.crash); err != nil {
			return exitError{exitUnusable, "kick-sim: --crash: " + err.Error()}
		}
	}
	if f.picks != "" {
		if s.Picks, err = explore.ParsePicks(f.picks); err != nil {
			return exitError{exitUnusable, "kick-sim: --picks: " + err.Error()}
		}
	}
	return nil
}

// scenario reads the one scenario that is meant.
func (f targetFlags) scenario(p Program, files []string) (*scenario.Scenario, error) {
	found, err := load(p, runFlags{filter: f.filter}, files)
	if err != nil {
		return nil, err
	}
	if len(found) > 1 {
		return nil, exitError{exitUnusable, fmt.Sprintf("kick-sim: %d scenarios match, %s and %s among them: name one with --filter", len(found), found[0].Name, found[1].Name)}
	}
	return &found[0], nil
}

const recordingExt = ".json"

func (f targetFlags) recording(p Program, args []string) (target, error) {
	r, err := explore.ReadRecording(args[0])
	if err != nil {
		return target{}, exitError{exitUnusable, fmt.Sprintf("kick-sim: %v", err)}
	}
	t := target{schedule: r.Schedule, choices: r.Choices, build: r.Build}
	if r.File == "" {
		return t, nil
	}
	files := args[1:]
	if len(files) == 0 {
		files = []string{r.File}
	}
	f.filter = "^" + r.Scenario + "$"
	t.schedule.Scenario, err = f.scenario(p, files)
	return t, err
}

// warn tells that a seed of another build may stand for another schedule.
func (t target) warn(p Program) {
	if t.build != "" && t.build != p.build() {
		_, _ = fmt.Fprintf(p.Stderr, "kick-sim: found with build %s, this is build %s: the schedule may be another one (a recording of explore --save tells where it diverges)\n", t.build, p.build())
	}
}
