package installation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/corewire/kick/kick/kicktest/controlplane"
)

// readyTimeout bounds how long an operator may take to be ready, on a machine that
// has much else to do.
const readyTimeout = 3 * time.Minute

// Operator is a running operator.
type Operator struct {
	*controlplane.Process
	// Probes and Metrics are the addresses it serves.
	Probes, Metrics string
}

// Start runs an operator with further flags. It does not wait for it.
func (i *Installation) Start(flags ...string) (*Operator, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	probes, err := controlplane.FreePort()
	if err != nil {
		return nil, err
	}
	metrics, err := controlplane.FreePort()
	if err != nil {
		return nil, err
	}
	o := &Operator{Probes: fmt.Sprintf("127.0.0.1:%d", probes), Metrics: fmt.Sprintf("127.0.0.1:%d", metrics)}
	argv := append([]string{
		self, "--kubeconfig=" + i.kubeconfig, "--namespace=" + i.Namespace,
		"--health-probe-bind-address=" + o.Probes, "--metrics-bind-address=" + o.Metrics,
	}, flags...)
	o.Process, err = i.plane.Run(fmt.Sprintf("kick-%d", started.Add(1)), []string{asOperator + "=1"}, argv...)
	return o, err
}

// WaitReady waits until the operator says that it is ready.
func (o *Operator) WaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("not ready after %s", readyTimeout))
	defer cancel()
	if err := controlplane.WaitHTTP(ctx, o.Process, "http://"+o.Probes+"/readyz"); err != nil {
		return fmt.Errorf("%w\nthe operator's last lines:\n%s", err, o.Tail())
	}
	return nil
}

// WaitExit waits until the operator has ended by itself.
func (o *Operator) WaitExit(ctx context.Context) error {
	for o.Alive() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the operator still runs: %w", context.Cause(ctx))
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// Kill ends the operator as a crash would: nothing is finished, no lease released.
func (o *Operator) Kill() error {
	if err := syscall.Kill(-o.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return o.WaitExit(ctx)
}

// Output is everything the operator has printed.
func (o *Operator) Output() (string, error) {
	content, err := os.ReadFile(o.Log)
	return string(content), err
}

// Get asks one of the operator's own addresses.
func (o *Operator) Get(ctx context.Context, address, path string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}
