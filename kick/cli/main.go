package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/corewire/kick/kick/operator"
)

// Exit codes.
const (
	exitOK     = 0
	exitError  = 1 // it could not be done
	exitUsage  = 2 // the command line is wrong
	exitUnmet  = 3 // status: a restart is outstanding; check: something is missing
	exitLate   = 124
	exitBroken = 130
)

// Program is what the plugin may touch.
type Program struct {
	In             io.Reader
	Stdout, Stderr io.Writer
	Now            func() time.Time
	Color          bool            // mark words by colour
	Name           string          // how it was called
	Context        context.Context // its end is Ctrl-C
}

// System is the process's own surroundings. Colour is for terminals, and not where
// NO_COLOR is set.
func System() Program {
	name := "kubectl-kick"
	if strings.HasPrefix(filepath.Base(os.Args[0]), "kubectl-") {
		name = "kubectl kick"
	}
	return Program{
		In: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Now: clock.New().Now, Name: name, Context: signals(),
		Color: os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(os.Stdout.Fd())),
	}
}

// file is the plugin's program, and helper the one that kubectl asks to complete its
// command lines: the same program under another name.
const (
	file   = "kubectl-kick"
	helper = "kubectl_complete-kick"
)

// Args are the arguments of a process. kubectl calls helper with the words after "kubectl
// kick", the last one unfinished.
func Args(process []string) []string {
	if strings.TrimSuffix(filepath.Base(process[0]), ".exe") == helper {
		return append([]string{cobra.ShellCompRequestCmd}, process[1:]...)
	}
	return process[1:]
}

// app is a command line at work.
type app struct {
	Program
	flags  *genericclioptions.ConfigFlags
	output string
	all    bool
	watch  bool
	own    string // KICK's own namespace
}

// errUnmet ends the plugin with exitUnmet and says nothing more.
var errUnmet = errors.New("condition not met")

// usage is an error of the command line.
type usageError struct{ error }

// Main runs the plugin and returns its exit code.
func Main(args []string, p Program) int {
	log.SetLogger(logr.Discard()) // of the libraries: what there is to say is said here
	a := &app{Program: p, flags: genericclioptions.NewConfigFlags(true)}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(p.In)
	root.SetErr(p.Stderr)
	err := root.ExecuteContext(p.Context)
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errUnmet):
		return exitUnmet
	case p.Context.Err() != nil:
		return exitBroken
	}
	_, _ = fmt.Fprintf(p.Stderr, "error: %s\n", plain(err.Error()))
	if gone := a.absent(err); len(gone) > 0 {
		_, _ = fmt.Fprintf(p.Stderr, "The cluster does not serve %s: is KICK installed in it? %s check says what is missing.\nTo install them: %s.\n", strings.Join(gone, ", "), p.Name, remedyCRDs)
	}
	switch {
	case errors.As(err, &usage) || strings.HasPrefix(err.Error(), "unknown command"):
		return exitUsage
	case late(err):
		return exitLate
	}
	return exitError
}

// absent are the CRDs that are missing, if that is what an error is about.
func (a *app) absent(err error) []string {
	var gone absentError
	if errors.As(err, &gone) || !unserved(err) {
		return gone.names
	}
	config, err := a.flags.ToRESTConfig()
	if err != nil {
		return nil
	}
	if server, err := discovery.NewDiscoveryClientForConfig(config); err == nil {
		_ = errors.As(absent(server), &gone)
	}
	return gone.names
}

// late reports whether --request-timeout is over.
func late(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout()
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           file, // what a shell completes
		Short:         "See what KICK does about your workloads, and why",
		Long:          "See what KICK does about your workloads, and why.\n\nExit codes: 0 done; 1 it could not be done; 2 the command line is wrong; 3 status: a restart is outstanding,\ncheck: something is missing; 124 --request-timeout is over; 130 interrupted.",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: a.Name},
		Version:       operator.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },

		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return a.known(c) },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	a.flags.AddFlags(root.PersistentFlags())
	f := root.PersistentFlags()
	f.StringVarP(&a.output, "output", "o", "", "json, yaml, name or wide, as far as a command knows them; default: for people")
	f.BoolVarP(&a.all, "all-namespaces", "A", false, "all namespaces")
	f.StringVar(&a.own, "kick-namespace", operator.DefaultNamespace, "the namespace KICK itself runs in")
	root.AddCommand(a.why(), a.status(), a.list(), a.tree(), a.events(), a.planning(), a.windows(), a.toggle("suspend", true), a.toggle("resume", false),
		a.restartNow(), a.check(), a.report(), a.version())
	root.SetOut(a.Stdout)
	root.InitDefaultCompletionCmd()
	a.complete(root)
	for _, c := range root.Commands() {
		if args := c.Args; args != nil {
			c.Args = func(c *cobra.Command, given []string) error {
				if err := args(c, given); err != nil {
					return usageError{fmt.Errorf("%w; see %s --help", err, c.CommandPath())}
				}
				return nil
			}
		}
	}
	return root
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of the plugin", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if done, err := a.structured(map[string]string{"plugin": operator.Version()}); done {
				return err
			}
			_, err := fmt.Fprintln(a.Stdout, operator.Version())
			return err
		},
	}
}
