package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/corewire/kick/sim/explore"
)

// refusal is a value of a flag that makes no sense, and what to write instead.
type refusal struct {
	flag string
	when bool
	fix  string
}

// refuse returns the first refusal that applies to a flag somebody set, as an error
// that names flag, value and fix.
func refuse(cmd *cobra.Command, refusals ...refusal) error {
	for _, r := range refusals {
		if r.when && cmd.Flags().Changed(r.flag) {
			return exitError{exitUnusable, fmt.Sprintf("kick-sim: --%s %s%s", r.flag, cmd.Flags().Lookup(r.flag).Value, r.fix)}
		}
	}
	return nil
}

const (
	runsNothing = " runs nothing: leave it out, or give more"
	noWorkers   = " runs nothing: leave it out for one per core, or give 1 or more"
)

// mostDepth bounds --depth: two deviations take minutes already.
const mostDepth = 16

// refuse returns what is wrong with the flags of kick-sim explore.
func (f exploreFlags) refuse(cmd *cobra.Command, args []string) error {
	profile := explore.Profile(f.profile)
	crash, exhaustive := profile == explore.ProfileCrash, profile == explore.ProfileExhaustive
	last := fmt.Sprintf(" from --seed %d on go past the last seed, 18446744073709551615: lower one of the two", f.first)
	err := refuse(cmd,
		refusal{"seeds", f.seeds == 0, runsNothing},
		refusal{"for", f.span <= 0, runsNothing},
		refusal{"workers", f.workers < 1, noWorkers},
		refusal{"seeds", crash, " has no meaning with --profile crash, which plays each scenario by itself: leave it out"},
		refusal{"seed", crash, " has no meaning with --profile crash, which plays each scenario by itself: leave it out"},
		refusal{"seeds", f.seeds > 0 && !explore.SeedsFit(f.first, f.seeds, profile), last},
		refusal{"pairs", !crash, " has no meaning without --profile crash: leave it out, or add that"},
		refusal{"pairs", f.pairs < 1, " asks for no scenario: leave it out, or write --pairs=10"},
		refusal{"depth", !exhaustive, " has no meaning without --profile exhaustive: leave it out, or add that"},
		refusal{"depth", f.depth > mostDepth, fmt.Sprintf(" combines more deviations than can ever be tried: give at most %d", mostDepth)},
		refusal{"depth", f.depth < 1, " combines no deviations: leave it out for 2, or give 1 or more"},
	)
	if err != nil || !cmd.Flags().Changed("pairs") || len(args) == 0 {
		return err
	}
	if _, notNumber := strconv.Atoi(args[0]); notNumber != nil {
		return nil
	}
	if _, err := os.Stat(args[0]); errors.Is(err, fs.ErrNotExist) {
		return exitError{exitUnusable, fmt.Sprintf("kick-sim: --pairs %s: the number needs an equals sign, --pairs=%s", args[0], args[0])}
	}
	return nil
}

var negative = regexp.MustCompile(`^unknown shorthand flag: '\d' in (-\d\w*)$`)

// flagError puts what is wrong with a flag into our words where they say more.
func flagError(_ *cobra.Command, err error) error {
	if m := negative.FindStringSubmatch(err.Error()); m != nil {
		return exitError{exitUnusable, fmt.Sprintf("kick-sim: %s is no seed and no file: seeds go from 0 to 18446744073709551615", m[1])}
	}
	return err
}
