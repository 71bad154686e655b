// Command cluster runs KICK's control plane by hand: up leaves one running,
// down ends it, e2e runs the Chainsaw suites against one of its own. The work is
// done by package controlplane.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/corewire/kick/kick/kicktest/controlplane"
)

const usage = `usage: cluster <command> [flags]

  up      start a control plane and leave it running
  down    end it and remove its data
  status  say what is running
  build   build all its programs into the cache, so that nothing else has to wait
  tool    build the named programs and print where they are
  image   build the main package PKG into an image NAME:TAG on the real node: image NAME:TAG PKG
  e2e     run the Chainsaw suites against a control plane of their own
  render  write their tests as they run, with templates filled in; needs no cluster

flags of up, down, status and image:
  --dir DIR         where it keeps its data (default: below the user's cache directory)
flags of up:
  --node fake|real  fake: kwok, no containers; real: kubelet and containerd, Linux and root only (default fake)
  --nodes N         number of fake nodes (default 1)
  --ready-delay D   how long a pod of a fake node stays Pending (default 0s)
flags of e2e and render:
  --suite DIR       the suite or test to run (default chainsaw/suites: all of them)
flags of render:
  --out DIR         where to (default bin/e2e)
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// run prints results to out and progress to log.
func run(ctx context.Context, args []string, out, log io.Writer) error { //nolint:cyclop // one case a command
	if len(args) == 0 {
		return fmt.Errorf("no command\n%s", usage)
	}
	flags, opts, err := parse(args[1:])
	if err != nil {
		return fmt.Errorf("%w\n%s", err, usage)
	}
	opts.Progress = log
	switch args[0] {
	case "help", "-h", "--help":
		_, err := io.WriteString(out, usage)
		return err
	case "up":
		return up(ctx, out, opts)
	case "down":
		return down(out, opts.Dir)
	case "status":
		return status(out, opts.Dir)
	case "build":
		_, err := controlplane.Build(ctx, log, controlplane.DefaultPrograms()...)
		return err
	case "tool":
		return tool(ctx, out, log, flags.Args())
	case "image":
		return image(ctx, opts.Dir, flags.Args())
	case "e2e":
		return endToEnd(ctx, out, log, flags.Lookup("suite").Value.String())
	case "render":
		return renderAll(ctx, out, log, flags.Lookup("suite").Value.String(), flags.Lookup("out").Value.String())
	case controlplane.RelayCommand:
		return controlplane.Relay(flags.Args())
	default:
		return fmt.Errorf("unknown command %q\n%s", args[0], usage)
	}
}

func parse(args []string) (*flag.FlagSet, controlplane.Options, error) {
	opts := controlplane.Options{Detach: true}
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&opts.Dir, "dir", "", "")
	flags.IntVar(&opts.FakeNodes, "nodes", 1, "")
	flags.DurationVar(&opts.PodReadyDelay, "ready-delay", 0, "")
	flags.String("suite", "chainsaw/suites", "")
	flags.String("out", "bin/e2e", "")
	node := flags.String("node", string(controlplane.FakeNode), "")
	if err := flags.Parse(args); err != nil {
		return nil, opts, err
	}
	opts.Node = controlplane.Node(*node)
	if opts.Node != controlplane.FakeNode && opts.Node != controlplane.RealNode {
		return nil, opts, fmt.Errorf("--node %q: want fake or real", *node)
	}
	if opts.Dir == "" {
		cache, err := controlplane.CacheDir()
		if err != nil {
			return nil, opts, err
		}
		opts.Dir = filepath.Join(cache, "cluster")
	}
	return flags, opts, nil
}

func up(ctx context.Context, out io.Writer, opts controlplane.Options) error {
	plane, err := controlplane.Load(opts.Dir)
	switch {
	case err == nil && len(plane.Running()) > 0:
		_, err = fmt.Fprintln(out, "already running; end it with: make cluster-down")
	case err == nil:
		// The machine was restarted, or somebody ended it by hand: only files are left.
		if err = plane.Stop(); err == nil {
			return up(ctx, out, opts)
		}
	case errors.Is(err, controlplane.ErrNotRunning):
		plane, err = controlplane.Start(ctx, opts)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\nexport KUBECONFIG=%s\nexport PATH=%s:$PATH   # kubectl\n",
		plane.Kubeconfig, filepath.Dir(plane.Binaries[controlplane.Kubectl]))
	return err
}

func down(out io.Writer, dir string) error {
	begin := time.Now()
	plane, err := controlplane.Load(dir)
	if errors.Is(err, controlplane.ErrNotRunning) {
		_, err = fmt.Fprintln(out, err)
		return err
	}
	if err != nil {
		return err
	}
	if err := plane.Stop(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "stopped in %.1fs, nothing is left\n", time.Since(begin).Seconds())
	return err
}

func status(out io.Writer, dir string) error {
	plane, err := controlplane.Load(dir)
	if errors.Is(err, controlplane.ErrNotRunning) {
		_, err = fmt.Fprintln(out, err)
		return err
	}
	if err != nil {
		return err
	}
	running := plane.Running()
	for _, name := range slices.Sorted(maps.Keys(running)) {
		_, _ = fmt.Fprintf(out, "%-26s pid %d\n", name, running[name])
	}
	_, _ = fmt.Fprintf(out, "export KUBECONFIG=%s\n", plane.Kubeconfig)
	if dead := plane.Dead(); len(dead) > 0 {
		return fmt.Errorf("ended without being asked: %s; logs are in %s", strings.Join(dead, ", "), filepath.Join(dir, "logs"))
	}
	return nil
}

// image hands a program of this module to the real node of a running cluster.
func image(ctx context.Context, dir string, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("image takes the name of the image and a main package, such as test.local/probe:1 ./kick/kicktest/probe\n%s", usage)
	}
	plane, err := controlplane.Load(dir)
	if err != nil {
		return err
	}
	return plane.LoadImage(ctx, args[0], args[1])
}

// tool prints one path per line, for use in a Makefile.
func tool(ctx context.Context, out, log io.Writer, names []string) error {
	programs := make([]controlplane.Program, len(names))
	for i, name := range names {
		programs[i] = controlplane.Program(name)
	}
	binaries, err := controlplane.Build(ctx, log, programs...)
	if err != nil {
		return err
	}
	for _, p := range programs {
		_, _ = fmt.Fprintln(out, binaries[p])
	}
	return nil
}
