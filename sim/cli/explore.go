package cli

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"time"

	"github.com/spf13/cobra"

	"github.com/corewire/kick/sim/explore"
	"github.com/corewire/kick/sim/report"
	"github.com/corewire/kick/sim/run"
)

// exploreFlags are the flags of kick-sim explore.
type exploreFlags struct {
	seeds, first uint64
	span         time.Duration
	profile      string
	output, save string
	pairs, depth int
	workers      int
	keepGoing    bool
	quiet        bool
}

// defaultSpan is how long a campaign goes on when nothing says otherwise.
const defaultSpan = time.Minute

func newExplore(p Program) *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore [FILE|FOLDER...]",
		Short: "Search for schedules that break a law",
		Long: "Run very many schedules, on all cores, and judge each by the laws: of worlds that the seeds make, or of the\n" +
			"scenarios given, with everything going wrong that may. Ends at the first failure, with what broke, why, and the\n" +
			"command that runs it again.\n\nExit code 0: nothing found, 1: a law broke or a mark was never reached, 2: unusable input, 130: Ctrl-C ended it\n" +
			"and nothing was found until then. Where --for ends it before the end of its plan the code is 0 all the same; the\n" +
			"summary says how far it came, and -o json has \"interrupted\": true.",
		Example: "  kick-sim explore --for 60s\n  kick-sim explore --seeds 10000 --keep-going -o json\n  kick-sim explore --profile crash scenarios/",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.refuse(cmd, args); err != nil {
				return err
			}
			return exploreAll(cmd.Context(), p, f, args)
		},
	}
	flags := cmd.Flags()
	flags.Uint64Var(&f.seeds, "seeds", 0, "how many seeds to run (default: as many as --for allows)")
	flags.DurationVar(&f.span, "for", 0, "how long to go on (default 1m without --seeds; the crash profile ends by itself)")
	flags.Uint64Var(&f.first, "seed", 1, "the first seed")
	flags.StringVar(&f.profile, "profile", string(explore.ProfileMix), "how schedules are made: mix, swarm, pct, exhaustive or crash")
	flags.IntVar(&f.pairs, "pairs", 0, "profile crash: kill the operator twice, in every way, in this many of the shortest scenarios")
	flags.IntVar(&f.depth, "depth", 2, "profile exhaustive: how many deviations are combined")
	flags.BoolVar(&f.keepGoing, "keep-going", false, "do not end at the first failure; show one for each way to break a law")
	flags.StringVar(&f.save, "save", "", "keep a recording of each failure shown in this folder")
	flags.StringVarP(&f.output, "output", "o", "text", "text or json")
	flags.IntVar(&f.workers, "workers", 0, "schedules at a time (default: one per core)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	flags.Lookup("pairs").NoOptDefVal = "10"
	return cmd
}

func exploreAll(ctx context.Context, p Program, f exploreFlags, paths []string) error {
	if f.output != "text" && f.output != "json" {
		return exitError{exitUnusable, fmt.Sprintf("kick-sim: unknown output %q: text or json", f.output)}
	}
	profile, err := explore.ParseProfile(f.profile)
	if err != nil {
		return exitError{exitUnusable, fmt.Sprintf("kick-sim: --profile: %v", err)}
	}
	c := explore.Campaign{
		Options: run.Options{NewOperator: p.NewOperator}, Profile: profile, First: f.first, Seeds: f.seeds,
		Pairs: f.pairs, Depth: f.depth, KeepGoing: f.keepGoing, Workers: f.workers,
	}
	if len(paths) > 0 {
		if c.Scenarios, err = load(p, runFlags{}, paths); err != nil {
			return err
		}
	} else if profile == explore.ProfileCrash {
		return exitError{exitUnusable, "kick-sim: --profile crash needs scenarios, such as scenarios/"}
	}
	if err := folder(f.save); err != nil {
		return err
	}
	span := f.span
	if span == 0 && f.seeds == 0 && profile != explore.ProfileCrash {
		span = defaultSpan
	}
	return (&session{p: p, f: f, campaign: &c, span: span}).run(ctx)
}

// session is one campaign on a command line.
type session struct {
	p        Program
	f        exploreFlags
	campaign *explore.Campaign
	span     time.Duration
	began    time.Time
	progress *report.Progress
	failures []report.Failure
	shown    *explore.Schedule
	err      error
}

func (s *session) run(ctx context.Context) error {
	person := ctx
	if s.span > 0 {
		limited, cancel := context.WithTimeout(ctx, s.span)
		defer cancel()
		ctx = limited
	}
	s.began = s.p.Now()
	if !s.f.quiet && isTerminal(s.p.Stderr) {
		s.progress = report.NewProgress(s.p.Stderr, s.campaign.Seeds, s.span)
	}
	s.campaign.Progress = func(sum explore.Summary) { s.progress.Show(figures(sum), s.p.Now().Sub(s.began)) }
	total := s.campaign.Run(ctx, s.found)
	s.progress.Clear()
	if total.Problem != nil {
		return exitError{exitUnusable, total.Problem.String()}
	}
	if s.err != nil {
		return exitError{exitUnusable, "kick-sim: " + s.err.Error()}
	}
	return s.end(person, total, s.stopped(ctx, person, total))
}

// stopped says what ended a campaign before the end of its plan, and where; empty
// where nothing did, as a plan without an end is over when --for says so.
func (s *session) stopped(limited, person context.Context, total explore.Summary) string {
	stage, unfinished := total.Unfinished()
	switch {
	case !unfinished || total.Failed > 0 && !s.f.keepGoing:
		return ""
	case person.Err() != nil:
		return "stopped after " + stage.String()
	case limited.Err() != nil && stage.Of > 0:
		return "stopped by --for after " + stage.String()
	}
	return ""
}

// found replays a finding to tell what led to it.
func (s *session) found(f explore.Finding) {
	if s.shown != nil && !s.f.keepGoing {
		return
	}
	same := s.shown != nil && reflect.DeepEqual(*s.shown, f.Schedule)
	s.shown = &f.Schedule
	runner := s.p.runner()
	result, choices := runner.Record(f.Schedule)
	out := report.Failure{
		Law: f.Failure.Law, Message: f.Failure.Message, Seed: f.Schedule.SeedText(), Build: s.p.build(),
		Replay: f.Schedule.Command("replay", s.p.build()), Shrink: f.Schedule.Command("shrink", s.p.build()),
		Explain: report.Explanation(result),
	}
	if f.Schedule.Scenario != nil {
		out.Scenario = f.Schedule.Scenario.Name
	}
	if s.f.save != "" {
		out.Recording, s.err = f.Save(s.f.save, s.p.build(), choices)
	}
	s.failures = append(s.failures, out)
	if s.f.output == "text" && !same {
		s.progress.Clear()
		report.Found(s.p.Stdout, out)
	}
}

// end prints what the campaign came to and turns it into an exit code.
func (s *session) end(ctx context.Context, total explore.Summary, stopped string) error {
	unreached := s.unreached(total)
	sum := report.Campaign{
		Figures: figures(total), Seconds: s.p.Now().Sub(s.began).Seconds(), Profile: string(s.campaign.Profile), Build: s.p.build(),
		Failures: s.failures, Marks: total.Marks, Unreached: unreached, Interrupted: stopped != "", Stopped: stopped, Sites: map[string]map[string]uint64{},
	}
	for site, count := range total.Sites {
		if sum.Sites[site.Fault] == nil {
			sum.Sites[site.Fault] = map[string]uint64{}
		}
		sum.Sites[site.Fault][site.Call] = count
	}
	if s.f.output == "json" {
		if err := sum.JSON(s.p.Stdout); err != nil {
			return exitError{exitUnusable, "kick-sim: " + err.Error()}
		}
	} else {
		sum.Text(s.p.Stdout)
	}
	switch {
	case total.Failed > 0 || len(unreached) > 0:
		return exitError{code: exitFailed}
	case stopped != "" && ctx.Err() != nil:
		return exitError{code: exitInterrupted}
	}
	return nil
}

// enoughForMarks is how many schedules a campaign needs until a mark that it never
// reached is a gap of the simulator, or a mark of code that cannot be reached.
const enoughForMarks = 20_000

func (s *session) unreached(total explore.Summary) []string {
	if total.Schedules < enoughForMarks || len(s.campaign.Scenarios) > 0 || s.campaign.Profile != explore.ProfileMix {
		return nil
	}
	return total.Unreached()
}

func figures(s explore.Summary) report.Figures {
	return report.Figures{Schedules: s.Schedules, Transitions: s.Transitions, Failed: s.Failed, Skipped: s.Skipped, Sites: len(s.Sites)}
}

// isTerminal reports whether a person watches.
func isTerminal(out any) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
