package cli

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/corewire/kick/sim/report"
)

func newView(p Program) *cobra.Command {
	return &cobra.Command{
		Use:   "view TRACE",
		Short: "Turn a trace into one HTML page with a timeline",
		Long: "Turn a trace of run --trace or replay --trace into one HTML page, written to the output: objects as lanes,\n" +
			"writes, faults, and what each container has loaded. The page needs no network.",
		Example: "  kick-sim replay 0x5f3a91@4c1d2e7 --trace log.jsonl; kick-sim view log.jsonl > timeline.html",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			trace, err := os.ReadFile(args[0])
			if err != nil {
				return exitError{exitUnusable, fmt.Sprintf("kick-sim: %v", err)}
			}
			var page bytes.Buffer
			if err := report.Timeline(&page, bytes.NewReader(trace), p.build()); err != nil {
				return exitError{exitUnusable, fmt.Sprintf("kick-sim: %s: %v", args[0], err)}
			}
			_, err = p.Stdout.Write(page.Bytes())
			return err
		},
	}
}
