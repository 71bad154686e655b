package trace

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitDone     = 0
	exitProblems = 1
	exitUnusable = 2
)

// errProblems ends a check that found something; each problem was told already.
var errProblems = errors.New("problems found")

// Main runs kick-trace and returns its exit code: 0 done, 1 the check found something,
// 2 the command line is wrong or a report cannot be written.
func Main(args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	switch err := root.Execute(); {
	case err == nil:
		return exitDone
	case errors.Is(err, errProblems):
		return exitProblems
	default:
		_, _ = fmt.Fprintln(stderr, "kick-trace:", err)
		return exitUnusable
	}
}

func newRoot() *cobra.Command {
	var tree string
	root := &cobra.Command{
		Use: "kick-trace", Short: "tie the features of KICK to their proofs", SilenceUsage: true, SilenceErrors: true,
		Long: "Features are declared in " + FeaturesFile + ". Their proofs are found in scenarios, tests and Chainsaw\ntests; docs/traceability.md says how.",
	}
	root.PersistentFlags().StringVar(&tree, "root", ".", "the project's folder")
	root.AddCommand(newCheck(&tree), newReport(&tree))
	return root
}

func newCheck(tree *string) *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "tell what is not proven, belongs to nothing or leads nowhere; exit code 1 if there is something", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t := Load(os.DirFS(*tree), KICK())
			problems := t.Check()
			for _, p := range problems {
				_, _ = fmt.Fprintln(c.OutOrStdout(), p)
			}
			if len(problems) > 0 {
				noun := "problems"
				if len(problems) == 1 {
					noun = "problem"
				}
				_, _ = fmt.Fprintln(c.ErrOrStderr(), len(problems), noun)
				return errProblems
			}
			_, _ = fmt.Fprintf(c.OutOrStdout(), "%d features, %d proofs, nothing missing\n", len(t.Features), len(t.Proofs))
			return nil
		},
	}
}

func newReport(tree *string) *cobra.Command {
	var format, out string
	c := &cobra.Command{
		Use: "report", Short: "write which feature is proven by what", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			write, known := writers[format]
			if !known {
				return fmt.Errorf("-o %q is unknown: write %s", format, strings.Join(slices.Sorted(maps.Keys(writers)), ", "))
			}
			r := Load(os.DirFS(*tree), KICK()).Report()
			if out == "" {
				return write(c.OutOrStdout(), r)
			}
			return writeFile(filepath.Join(out, "traceability."+format), r, write)
		},
	}
	c.Flags().StringVarP(&format, "output", "o", "md", "md, json or html")
	c.Flags().StringVar(&out, "out", "", "folder to write the file traceability.md, .json or .html into; empty: standard output")
	return c
}

func writeFile(name string, r Report, write func(io.Writer, Report) error) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f, r), f.Close())
}
