package controlplane

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/client-go/tools/clientcmd"
)

const stateFile = "state.json"

// state is what another process needs to know about a detached control plane.
type state struct {
	Node      Node
	Binaries  Binaries
	Processes []*Process
}

// ErrNotRunning says that there is no detached control plane in a directory.
var ErrNotRunning = errors.New("no control plane is running")

// save writes the state file in one step, so that no reader sees half of it.
func (cp *ControlPlane) save() error {
	content, err := json.MarshalIndent(state{Node: cp.opts.Node, Binaries: cp.Binaries, Processes: cp.processes}, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(cp.dir, stateFile)
	if err := os.WriteFile(path+".new", content, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Load finds the control plane that a process started detached in dir, or returns
// ErrNotRunning. Some of its programs may have ended since: see Dead.
func Load(dir string) (*ControlPlane, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(filepath.Join(dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s", ErrNotRunning, dir)
	}
	if err != nil {
		return nil, err
	}
	var s state
	if err := json.Unmarshal(content, &s); err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, stateFile), err)
	}
	cp := &ControlPlane{
		Kubeconfig: filepath.Join(dir, "kubeconfig"), Binaries: s.Binaries,
		opts: Options{Node: s.Node, Dir: dir, Detach: true}, dir: dir, processes: s.Processes,
	}
	if s.Node == RealNode {
		if i := slices.IndexFunc(s.Processes, func(p *Process) bool { return p.Name == "node" }); i >= 0 {
			cp.enter = entering(s.Processes[i])
		}
		cp.cleanups = append(cp.cleanups, func() error { return removeCgroups(dir) })
	}
	if cp.Config, err = clientcmd.BuildConfigFromFlags("", cp.Kubeconfig); err != nil {
		return nil, err
	}
	cp.Config.QPS, cp.Config.Burst = clientQPS, clientBurst
	return cp, nil
}

// Dead names the programs that have ended although nobody stopped them.
func (cp *ControlPlane) Dead() []string {
	var dead []string
	for _, p := range cp.processes {
		if !p.Alive() {
			dead = append(dead, p.Name)
		}
	}
	return dead
}

// Running lists the programs and their process IDs, by name.
func (cp *ControlPlane) Running() map[string]int {
	running := map[string]int{}
	for _, p := range cp.processes {
		if p.Alive() {
			running[p.Name] = p.PID
		}
	}
	return running
}
