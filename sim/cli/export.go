package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/corewire/kick/sim/export"
)

func newExport(p Program) *cobra.Command {
	var chainsaw bool
	var folder, filter string
	cmd := &cobra.Command{
		Use:   "export --chainsaw FILE|FOLDER...",
		Short: "Turn scenarios into tests for real clusters",
		Long: "Turn scenarios into Chainsaw tests: those whose every step means something to a user of\n" +
			"a real cluster. The others are refused, each with the step and the reason.\n\n" +
			"Exit code 0: all were exported, 1: some were refused, 2: unusable input.",
		Example: "  kick-sim export --chainsaw scenarios/change-secret.yaml\n  kick-sim export --chainsaw scenarios -o chainsaw/suites/exported && make test-e2e SUITE=chainsaw/suites/exported",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if !chainsaw {
				return exitError{exitUnusable, "kick-sim: export to what? --chainsaw is the only format"}
			}
			return exportScenarios(p, filter, folder, args)
		},
	}
	cmd.Flags().BoolVar(&chainsaw, "chainsaw", false, "as Chainsaw tests (chainsaw.kyverno.io/v1alpha1)")
	cmd.Flags().StringVarP(&folder, "output", "o", "", "write NAME/chainsaw-test.yaml below this folder; empty: print")
	cmd.Flags().StringVar(&filter, "filter", "", "export only scenarios whose name matches this regular expression")
	return cmd
}

func exportScenarios(p Program, filter, folder string, paths []string) error {
	scenarios, err := load(p, runFlags{filter: filter}, paths)
	if err != nil {
		return err
	}
	exported, refused := 0, 0
	for _, s := range scenarios {
		test, err := export.Chainsaw(s)
		if err != nil {
			refused++
			_, _ = fmt.Fprintf(p.Stderr, "%s: not exported: %v\n", s.Name, err)
			continue
		}
		if err := writeTest(p, folder, s.Name, test); err != nil {
			return exitError{exitUnusable, "kick-sim: " + err.Error()}
		}
		exported++
	}
	if folder != "" {
		_, _ = fmt.Fprintf(p.Stdout, "%d exported, %d refused\n", exported, refused)
	}
	if refused > 0 {
		return exitError{code: exitFailed}
	}
	return nil
}

func writeTest(p Program, folder, name string, test []byte) error {
	if folder == "" {
		_, err := fmt.Fprintf(p.Stdout, "---\n%s", test)
		return err
	}
	path := filepath.Join(folder, name, "chainsaw-test.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, test, 0o644)
}
