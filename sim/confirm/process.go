package confirm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	// comeBack is how long a killed process stays away.
	comeBack = time.Second
	// readyTimeout is how long a process may take to be ready.
	readyTimeout = 2 * time.Minute
	// stopTimeout is how long a process may take to end once it is told to.
	stopTimeout = 15 * time.Second
)

// crew is the operator of one scenario: its replicas, each behind a proxy.
type crew struct {
	binary   string
	config   *rest.Config // acts as the operator's user
	flags    []string
	home     string // for kubeconfigs and logs
	trouble  *trouble
	problems func(error)

	mu       sync.Mutex
	replicas []*process // nil: that replica is not running
	started  int
	ended    bool
}

// process is one life of one replica.
type process struct {
	cmd    *exec.Cmd
	proxy  *proxy
	probe  string
	log    string
	exited chan struct{}
}

// launch starts the replicas that do not run and waits until they are ready, or
// killed on the way.
func (c *crew) launch(ctx context.Context) error {
	c.mu.Lock()
	var fresh []*process
	for i := range c.replicas {
		if c.replicas[i] == nil && !c.ended {
			p, err := c.spawn(i)
			if err != nil {
				c.mu.Unlock()
				return err
			}
			c.replicas[i] = p
			fresh = append(fresh, p)
		}
	}
	c.mu.Unlock()
	for _, p := range fresh {
		if err := p.waitReady(ctx); err != nil {
			return err
		}
	}
	return nil
}

// spawn starts a process; c.mu is held.
func (c *crew) spawn(replica int) (*process, error) {
	p := &process{exited: make(chan struct{})}
	var err error
	if p.proxy, err = newProxy(c.config, c.trouble, p.die, p.pause); err != nil {
		return nil, err
	}
	if p.probe, err = freeAddress(); err != nil {
		return nil, err
	}
	c.started++
	name := fmt.Sprintf("kick-%d", c.started)
	kubeconfig := filepath.Join(c.home, name+".kubeconfig")
	if err := writeKubeconfig(kubeconfig, p.proxy.url()); err != nil {
		return nil, err
	}
	p.log = filepath.Join(c.home, name+".log")
	out, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	argv := slices.Concat([]string{
		"--kubeconfig=" + kubeconfig, "--health-probe-bind-address=" + p.probe, "--metrics-bind-address=0",
	}, c.flags)
	p.cmd = exec.Command(c.binary, argv...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches us only
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the operator: %w", err)
	}
	go func() {
		_ = p.cmd.Wait() // the log tells more
		p.proxy.close()
		close(p.exited)
		c.again(replica, p)
	}()
	return p, nil
}

// waitReady waits until a process is ready or has ended.
func (p *process) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("not ready after %s", readyTimeout))
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.probe+"/readyz", nil)
		if err != nil {
			return err
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-p.exited:
			if p.killed() {
				return nil
			}
			return fmt.Errorf("the operator ended while starting:\n%s", p.tail())
		case <-ctx.Done():
			return fmt.Errorf("the operator: %w:\n%s", context.Cause(ctx), p.tail())
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// killed reports an end by SIGKILL, which only we send.
func (p *process) killed() bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

func (p *process) tail() string {
	content, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

// again brings a process back that ended and was not told to, as a kubelet does:
// one that we killed, or one that lost its lease.
func (c *crew) again(replica int, p *process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.replicas[replica] != p {
		return
	}
	c.replicas[replica] = nil
	time.AfterFunc(comeBack, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.replicas[replica] != nil || c.ended {
			return
		}
		fresh, err := c.spawn(replica)
		if err != nil {
			c.problems(err)
			return
		}
		c.replicas[replica] = fresh
	})
}

// pause lets a process stand still for a time.
func (p *process) pause(d time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGSTOP) // it may have ended by itself
	time.Sleep(d)
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
}

// crash kills the leader, or the first replica if none leads.
func (c *crew) crash() {
	c.mu.Lock()
	victim := -1
	var newest time.Time
	for i, p := range c.replicas {
		if p != nil && (victim < 0 || p.proxy.leadsSince().After(newest)) {
			victim, newest = i, p.proxy.leadsSince()
		}
	}
	var p *process
	if victim >= 0 {
		p = c.replicas[victim]
	}
	c.mu.Unlock()
	if p != nil {
		p.die()
	}
}

// die ends a process at once.
func (p *process) die() { _ = p.cmd.Process.Kill() } // it may have ended by itself

// stop ends all replicas in order: the leader gives its lease back.
func (c *crew) stop() error {
	c.mu.Lock()
	running := slices.Clone(c.replicas)
	clear(c.replicas)
	c.mu.Unlock()
	var errs []error
	for _, p := range running {
		if p == nil {
			continue
		}
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
		select {
		case <-p.exited:
		case <-time.After(stopTimeout):
			_ = p.cmd.Process.Kill()
			<-p.exited
			errs = append(errs, fmt.Errorf("the operator did not end within %s of SIGTERM", stopTimeout))
		}
	}
	return errors.Join(errs...)
}

// end stops all for good.
func (c *crew) end() error {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	return c.stop()
}

func writeKubeconfig(path, server string) error {
	const name = "kick"
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{Server: server}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name}
	file.CurrentContext = name
	return clientcmd.WriteToFile(*file, path)
}

// freeAddress is one on loopback that nobody listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}
