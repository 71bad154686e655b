package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// Node is the kind of node that a control plane has.
type Node string

const (
	// NoNode is etcd and kube-apiserver only. Enough for the rules of CRDs; nothing
	// rolls, nothing is garbage collected.
	NoNode Node = ""
	// FakeNode adds kube-controller-manager, kube-scheduler and kwok: real
	// controllers, pods without containers.
	FakeNode Node = "fake"
	// RealNode has a kubelet and containerd instead of kwok: real containers. It
	// needs Linux and root; see realnode.go.
	RealNode Node = "real"
)

// Options say what to start. The zero value is an API server for one process.
type Options struct {
	// Node is the kind of node, NoNode by default.
	Node Node
	// FakeNodes is the number of fake nodes, 0 meaning 1.
	FakeNodes int
	// PodReadyDelay is how long a pod of a fake node stays Pending (up to a fifth
	// longer at random). Zero: ready within milliseconds, faster than any real
	// node; take a second where a test judges by pod times.
	PodReadyDelay time.Duration
	// ServiceAccounts turns the ServiceAccount admission on: pods get a token, and
	// are refused in a namespace whose default account is not there yet. Always on
	// with a real node.
	ServiceAccounts bool
	// Dir holds data, logs and the kubeconfig; Stop removes it. It must be empty or
	// absent. Default: a new directory below the system's temporary one.
	Dir string
	// Detach lets the programs outlive this process. Load and Stop end them later.
	Detach bool
	// Progress gets one line per step, and the progress of a build. Nil: silent.
	Progress io.Writer
}

// ControlPlane is a running control plane.
type ControlPlane struct {
	// Config is the administrator's, with high client-side limits.
	Config *rest.Config
	// Kubeconfig is a file with the same rights.
	Kubeconfig string
	// Binaries are the programs it was started from, kubectl among them.
	Binaries Binaries

	opts        Options
	dir         string
	credentials credentials
	ports       ports
	enter       []string // the command prefix that enters a real node's namespaces
	processes   []*Process
	cleanups    []func() error
}

// Start builds what is missing and starts a control plane. When it returns, nodes
// are ready and pods are scheduled. ctx bounds the start only: the control plane
// lives until Stop, or until this process ends.
func Start(ctx context.Context, opts Options) (*ControlPlane, error) {
	binaries, err := Build(ctx, opts.Progress, programsFor(opts.Node)...)
	if err != nil {
		return nil, err
	}
	if opts.Node == RealNode {
		if err := prepareRealNode(ctx, opts.Progress); err != nil {
			return nil, fmt.Errorf("a real node cannot run here: %w", err)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Minute, errors.New("not ready after two minutes"))
	defer cancel()
	const attempts = 3
	for attempt := 1; ; attempt++ {
		cp, err := startOnce(ctx, opts, binaries)
		if err == nil {
			return cp, nil
		}
		if attempt == attempts || !portTaken(err) {
			return nil, fmt.Errorf("start control plane: %w", err)
		}
		newProgress(opts.Progress).line("somebody took a port in the meantime, trying again\n")
	}
}

// startOnce leaves nothing behind when it fails.
func startOnce(ctx context.Context, opts Options, binaries Binaries) (*ControlPlane, error) {
	dir, err := ownDir(opts.Dir)
	if err != nil {
		return nil, err
	}
	cp := &ControlPlane{Binaries: binaries, opts: opts, dir: dir, Kubeconfig: filepath.Join(dir, "kubeconfig")}
	if err := cp.boot(ctx); err != nil {
		return nil, errors.Join(err, cp.Stop())
	}
	return cp, nil
}

// ownDir makes the directory that Stop will remove, so it must hold nothing else.
func ownDir(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "kick-cluster-")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty: a control plane wants a directory of its own", dir)
	}
	return dir, err
}

// portTaken: between choosing a free port and using it, another process may win.
func portTaken(err error) bool {
	exit, ok := errors.AsType[*exitError](err)
	return ok && strings.Contains(exit.log, "address already in use")
}

// boot starts the programs in the order in which each finds what it needs.
func (cp *ControlPlane) boot(ctx context.Context) (err error) {
	if err := os.MkdirAll(filepath.Join(cp.dir, "logs"), 0o755); err != nil {
		return err
	}
	if cp.ports, err = freePorts(); err != nil {
		return err
	}
	if cp.credentials, err = newCredentials(filepath.Join(cp.dir, "certs")); err != nil {
		return err
	}
	cp.Config = cp.credentials.config(cp.ports.apiserver)
	if err := writeKubeconfig(cp.Kubeconfig, cp.Config, ""); err != nil {
		return err
	}
	progress := newProgress(cp.opts.Progress)
	for _, step := range cp.steps() {
		err := progress.during("starting "+step.name, fmt.Sprintf("%-24s up in", step.name), func() error { return step.run(ctx) })
		if err != nil {
			return err
		}
	}
	return nil
}

type step struct {
	name string
	run  func(context.Context) error
}

func (cp *ControlPlane) steps() []step {
	core := []step{{"etcd", cp.startEtcd}, {"kube-apiserver", cp.startAPIServer}}
	controllers := []step{{"kube-controller-manager", cp.startControllerManager}, {"kube-scheduler", cp.startScheduler}}
	switch cp.opts.Node {
	case FakeNode:
		return slices.Concat(core, controllers, []step{{"kwok", cp.startKwok}, {"nodes", cp.waitNodes}})
	case RealNode:
		return slices.Concat([]step{{"namespaces, containerd", cp.startSandbox}}, core, controllers, []step{{"kubelet", cp.startKubelet}, {"node", cp.waitNodes}})
	case NoNode:
	}
	return core
}

// run starts a program of the control plane, inside the namespaces of a real node.
func (cp *ControlPlane) run(program Program, args ...string) (*Process, error) {
	return cp.Run(string(program), nil, slices.Concat(cp.enter, []string{cp.Binaries[program]}, args)...)
}

// Run starts a further program, such as the operator, with env added to this
// process's environment. It ends with the control plane, before all others.
func (cp *ControlPlane) Run(name string, env []string, argv ...string) (*Process, error) {
	p, err := startProcess(name, filepath.Join(cp.dir, "logs"), cp.opts.Detach, env, argv...)
	if err != nil {
		return nil, err
	}
	cp.processes = append(cp.processes, p)
	if cp.opts.Detach {
		// At once, so that down finds everything even if this start is killed halfway.
		err = cp.save()
	}
	return p, err
}

// Stop ends all programs and removes the directory. Clients end before the API
// server and that before etcd: without etcd it would hang on SIGTERM and live on.
// Stopping twice does nothing.
func (cp *ControlPlane) Stop() error {
	var errs []error
	order := slices.Clone(cp.processes)
	if cp.opts.Node != RealNode { // whose first process takes all others with it
		slices.Reverse(order)
	}
	for _, p := range order {
		errs = append(errs, p.Stop(5*time.Second))
	}
	for _, cleanup := range slices.Backward(cp.cleanups) {
		errs = append(errs, cleanup())
	}
	cp.processes, cp.cleanups = nil, nil
	return errors.Join(append(errs, os.RemoveAll(cp.dir))...)
}

// WriteKubeconfig writes a kubeconfig that acts as another user, such as
// "system:serviceaccount:kick-system:kick", to run a program with just its rights.
func (cp *ControlPlane) WriteKubeconfig(path, user string, groups ...string) error {
	return writeKubeconfig(path, cp.Config, user, groups...)
}
