package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Process is one running program. Its fields are what another process needs to
// end a detached one.
type Process struct {
	Name string
	PID  int
	// Birth tells this process from a later one that got the same PID.
	Birth string
	Log   string

	exited chan struct{} // closed when it has ended; nil if it is not our child
}

// spawn starts children from one thread that never ends: the signal that makes
// them die with their parent is sent when the starting *thread* ends.
var spawn = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range work {
			start()
		}
	}()
	return work
})

// startProcess runs argv with its output in a log file. A detached process
// outlives its parent.
func startProcess(name, logDir string, detached bool, env []string, argv ...string) (*Process, error) {
	path := filepath.Join(logDir, name+".log")
	log, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = attributes(detached)
	started := make(chan error)
	spawn() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Process{Name: name, PID: cmd.Process.Pid, Birth: birth(cmd.Process.Pid), Log: path, exited: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // The log tells more than the exit status.
		close(p.exited)
	}()
	return p, nil
}

// Alive is false from the moment the program has ended, for whatever reason.
func (p *Process) Alive() bool {
	if p.exited != nil {
		select {
		case <-p.exited:
			return false
		default:
			return true
		}
	}
	now := birth(p.PID)
	return now != "" && now == p.Birth
}

// takenDown is how long the system may take to remove a process that was killed: one
// that writes to a busy disk is not gone before that has returned.
const takenDown = time.Minute

// Stop asks the process group to end, and ends it if it has not within grace.
func (p *Process) Stop(grace time.Duration) error {
	for _, way := range []struct {
		signal syscall.Signal
		within time.Duration
	}{{syscall.SIGTERM, grace}, {syscall.SIGKILL, takenDown}} {
		if !p.Alive() {
			return nil
		}
		if err := syscall.Kill(-p.PID, way.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop %s: %w", p.Name, err)
		}
		for deadline := time.Now().Add(way.within); p.Alive() && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
	}
	if p.Alive() {
		return fmt.Errorf("stop %s: process %d is still there", p.Name, p.PID)
	}
	return nil
}

// waitFor polls ready until it returns nil, the process ends or ctx does. p may
// be nil when no single process is waited for.
func waitFor(ctx context.Context, what string, p *Process, ready func(context.Context) error) error {
	var last error
	for {
		if last = ready(ctx); last == nil {
			return nil
		}
		if p != nil && !p.Alive() {
			return &exitError{what: what, log: p.Tail()}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w; last answer: %w", what, context.Cause(ctx), last)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// exitError is a program that ended while it was starting.
type exitError struct{ what, log string }

func (e *exitError) Error() string {
	return fmt.Sprintf("%s ended while starting; its last lines:\n%s", e.what, e.log)
}

// Tail is the end of the program's log.
func (p *Process) Tail() string {
	content, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	return lastLines(string(content), 12)
}
