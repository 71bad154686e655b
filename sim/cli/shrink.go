package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/corewire/kick/sim/explore"
	"github.com/corewire/kick/sim/report"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/shrink"
	"github.com/corewire/kick/sim/steps"
)

// shrinkTime is how long shrinking goes on at most.
const shrinkTime = 10 * time.Second

func newShrink(p Program) *cobra.Command {
	var f targetFlags
	var span time.Duration
	cmd := &cobra.Command{
		Use:   "shrink " + targetUse,
		Short: "Write the smallest scenario that breaks the same law",
		Long: "Shrink a failing schedule to a scenario that a person can read and that breaks the same law by itself.\n" +
			"The scenario goes to the output, what was taken away to the error output.\n\n" + targetLong +
			"Exit code 0: it was shrunk, 1: the schedule breaks no law, or only as a schedule, 2: unusable input.",
		Example: "  kick-sim shrink 0x5f3a91@4c1d2e7 > scenarios/regress/lost-after-ledger.yaml",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := refuse(cmd, refusal{"for", span <= 0, runsNothing}); err != nil {
				return err
			}
			t, err := f.parse(p, args)
			if err != nil {
				return err
			}
			return shrinkTarget(p, t, span)
		},
	}
	f.add(cmd)
	cmd.Flags().DurationVar(&span, "for", shrinkTime, "how long to go on at most")
	return cmd
}

func shrinkTarget(p Program, t target, span time.Duration) error {
	result, err := t.play(p)
	if err != nil {
		return err
	}
	if result.OK() {
		return exitError{exitFailed, "kick-sim: every law holds: there is nothing to shrink"}
	}
	law := result.Failures[0].Law
	deadline := p.Now().Add(span)
	var progress *report.Progress
	if isTerminal(p.Stderr) {
		progress = report.NewProgress(p.Stderr, 0, 0)
	}
	more := func() bool { return p.Now().Before(deadline) }
	for _, s := range p.runner().Written(t.schedule, t.choices) {
		began := shrink.Size{Choices: len(s.Choices), Steps: len(s.Steps), Given: len(s.Given)}
		small, size, ok := shrink.Shrink(s, shrink.Options{
			Run: run.Options{NewOperator: p.NewOperator}, Law: law, More: more, KeepStory: explore.Expectation(law),
			Progress: func(s shrink.Size) { progress.Line(sizes(s)) },
		})
		if !ok {
			continue
		}
		progress.Clear()
		_, _ = fmt.Fprintf(p.Stderr, "law broken: %s\nshrunk from %s to %s in %d runs\n", law, sizes(began), sizes(size), size.Runs)
		return emit(p, t, small, result.Failures[0])
	}
	return exitError{exitFailed, "kick-sim: the schedule cannot be written as a scenario; " + t.schedule.Command("replay", p.build()) + " runs it"}
}

func sizes(s shrink.Size) string {
	return fmt.Sprintf("%d choices, %d steps, %d objects", s.Choices, s.Steps, s.Given)
}

// emit writes a scenario after reading back and running what will be written.
func emit(p Program, t target, s scenario.Scenario, failure run.Failure) error {
	s.Name, s.Summary = nameOf(t.schedule, failure), "Breaks the law: "+failure.Law
	var text bytes.Buffer
	if err := scenario.Write(&text, s); err != nil {
		return exitError{exitFailed, "kick-sim: " + err.Error()}
	}
	again, err := reread(p, text.Bytes())
	if err != nil {
		return err
	}
	if !p.runner().Breaks(again, failure.Law) {
		return exitError{exitFailed, "kick-sim: as a file the scenario breaks the law no more:\n" + text.String()}
	}
	_, err = p.Stdout.Write(text.Bytes())
	return err
}

// reread parses a scenario as kick-sim run will.
func reread(p Program, text []byte) (scenario.Scenario, error) {
	folder, err := os.MkdirTemp("", "kick-sim")
	if err != nil {
		return scenario.Scenario{}, exitError{exitUnusable, "kick-sim: " + err.Error()}
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a folder of its own below the temporary one
	file := filepath.Join(folder, "shrunk.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return scenario.Scenario{}, exitError{exitUnusable, "kick-sim: " + err.Error()}
	}
	found, problems := scenario.NewParser(steps.All(), p.Faults).ParseFile(file)
	if len(problems) > 0 {
		return scenario.Scenario{}, exitError{exitFailed, "kick-sim: the scenario cannot be read back: " + problems.Error()}
	}
	return found[0], nil
}

var noLabel = regexp.MustCompile(`[^a-z0-9]+`)

// nameOf makes a name for a scenario from what it breaks and where it comes from.
func nameOf(s explore.Schedule, f run.Failure) string {
	from := fmt.Sprintf("%x", s.Seed)
	if s.Scenario != nil {
		from = s.Scenario.Name
	}
	name := noLabel.ReplaceAllString(strings.ToLower(f.Law+"-"+from), "-")
	return strings.Trim(name[:min(len(name), 63)], "-")
}
