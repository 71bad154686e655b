package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

const cgroups = "/sys/fs/cgroup"

func realNodeUnavailable() error {
	if os.Geteuid() != 0 {
		return errors.New("it needs root")
	}
	if _, err := os.Stat(filepath.Join(cgroups, "memory")); err != nil {
		return errors.New("it is proven on cgroup v1 only, and this machine has v2")
	}
	if out, err := exec.Command("unshare", "--mount", "--pid", "--fork", "--net", "--uts", "--ipc", "--mount-proc", "true").CombinedOutput(); err != nil {
		return fmt.Errorf("no namespaces of our own: %w %s", err, out)
	}
	return nil
}

// makeCgroups makes our root in every hierarchy. A cpuset without processors and
// memory nodes takes no process.
func makeCgroups(dir string) error {
	hierarchies, err := filepath.Glob(cgroups + "/*")
	if err != nil {
		return err
	}
	for _, hierarchy := range hierarchies {
		own := filepath.Join(hierarchy, cgroupRoot(dir))
		if err := os.Mkdir(own, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
			all, err := os.ReadFile(filepath.Join(hierarchy, name))
			if err != nil {
				continue // another hierarchy
			}
			if err := os.WriteFile(filepath.Join(own, name), all, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeCgroups removes our root and all below it, from the leaves up.
func removeCgroups(dir string) error {
	roots, err := filepath.Glob(filepath.Join(cgroups, "*", cgroupRoot(dir)))
	if err != nil {
		return err
	}
	var groups []string
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				groups = append(groups, path)
			}
			return nil // a group that vanishes meanwhile is one less to remove
		})
	}
	var errs []error
	for _, group := range slices.Backward(groups) {
		if err := os.Remove(group); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// RelayCommand is the first argument with which a program that starts detached
// real nodes calls Relay: the relay must outlive the process that starts it.
const RelayCommand = "relay"

// startRelay connects the API server's port on this machine with the same port in
// the network namespace.
func (cp *ControlPlane) startRelay(ctx context.Context, namespace string) error {
	port := strconv.Itoa(cp.ports.apiserver)
	if cp.opts.Detach {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		p, err := cp.Run(RelayCommand, nil, self, RelayCommand, namespace, port)
		if err != nil {
			return err
		}
		return waitFor(ctx, RelayCommand, p, func(ctx context.Context) error {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(loopback, port))
			if err == nil {
				_ = conn.Close()
			}
			return err
		})
	}
	r, err := newRelay(namespace, port)
	if err != nil {
		return err
	}
	go r.serve()
	cp.cleanups = append(cp.cleanups, r.Close)
	return nil
}

// Relay serves until it is killed; args are a network namespace's file and a port.
func Relay(args []string) error {
	if len(args) != 2 {
		return errors.New("relay: want a network namespace and a port")
	}
	r, err := newRelay(args[0], args[1])
	if err != nil {
		return err
	}
	r.serve()
	return nil
}

type relay struct {
	net.Listener
	namespace *os.File
	address   string
}

func newRelay(namespace, port string) (*relay, error) {
	file, err := os.Open(namespace)
	if err != nil {
		return nil, err
	}
	address := net.JoinHostPort(loopback, port)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return &relay{Listener: listener, namespace: file, address: address}, nil
}

// Close lets go of the namespace too, which an open file would keep alive.
func (r *relay) Close() error { return errors.Join(r.Listener.Close(), r.namespace.Close()) }

func (r *relay) serve() {
	for {
		outer, err := r.Accept()
		if err != nil {
			return
		}
		go r.join(outer)
	}
}

// join copies both ways until one side ends.
func (r *relay) join(outer net.Conn) {
	defer func() { _ = outer.Close() }()
	inner, err := r.dial()
	if err != nil {
		return
	}
	defer func() { _ = inner.Close() }()
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{outer, inner}, {inner, outer}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			done <- struct{}{}
		}()
	}
	<-done
}

// dial connects inside the namespace: a socket belongs for life to the one that
// its thread was in when it was made.
func (r *relay) dial() (conn net.Conn, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Not unlocked: the thread ends with this goroutine, and nobody else gets it.
		runtime.LockOSThread()
		if err = unix.Setns(int(r.namespace.Fd()), unix.CLONE_NEWNET); err == nil {
			conn, err = net.Dial("tcp", r.address)
		}
	}()
	<-done
	return conn, err
}
