package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"

	"k8s.io/client-go/rest"
)

// ports are those of one control plane, all on loopback.
type ports struct {
	etcd, etcdPeer, apiserver, controllerManager, scheduler, kubelet, kubeletHealth int
}

// FreePort returns a loopback port that nobody uses at this moment.
func FreePort() (int, error) {
	p, err := freePorts()
	return p.apiserver, err
}

// freePorts asks the kernel for unused ports, holding all until it has them.
func freePorts() (ports, error) {
	var p ports
	for _, port := range []*int{&p.etcd, &p.etcdPeer, &p.apiserver, &p.controllerManager, &p.scheduler, &p.kubelet, &p.kubeletHealth} {
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
		if err != nil {
			return p, fmt.Errorf("find a free port: %w", err)
		}
		defer func() { _ = listener.Close() }()
		*port = listener.Addr().(*net.TCPAddr).Port
	}
	return p, nil
}

func (cp *ControlPlane) startEtcd(context.Context) error {
	client, peer := localURL(cp.ports.etcd), localURL(cp.ports.etcdPeer)
	_, err := cp.run(Etcd,
		"--data-dir="+filepath.Join(cp.dir, "etcd"),
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer,
		"--unsafe-no-fsync", // the data need not survive a power cut
	)
	return err // not waited for: the API server retries until etcd answers
}

func (cp *ControlPlane) startAPIServer(ctx context.Context) error {
	c := cp.credentials
	args := []string{
		"--etcd-servers=" + localURL(cp.ports.etcd),
		"--secure-port=" + strconv.Itoa(cp.ports.apiserver),
		"--tls-cert-file=" + c.file("apiserver.crt"), "--tls-private-key-file=" + c.file("apiserver.key"),
		"--service-account-key-file=" + c.file("serviceaccounts.key"),
		"--service-account-signing-key-file=" + c.file("serviceaccounts.key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--token-auth-file=" + c.file("tokens.csv"),
		"--authorization-mode=RBAC",
		"--service-cluster-ip-range=" + serviceRange,
		"--allow-privileged=true",
	}
	if cp.opts.Node == RealNode {
		args = append(args, "--bind-address=0.0.0.0", "--advertise-address="+nodeIP, "--kubelet-preferred-address-types=InternalIP")
	} else {
		args = append(args, "--bind-address="+loopback)
	}
	if cp.opts.Node != RealNode && !cp.opts.ServiceAccounts {
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	p, err := cp.run(APIServer, args...)
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(cp.Config)
	if err != nil {
		return err
	}
	err = waitFor(ctx, "kube-apiserver", p, answers(client, cp.Config.Host+"/readyz"))
	if etcd := cp.process(Etcd); err != nil && !etcd.Alive() {
		return errors.Join(&exitError{what: "etcd", log: etcd.Tail()}, err)
	}
	return err
}

func (cp *ControlPlane) startControllerManager(context.Context) error {
	_, err := cp.run(ControllerManager, append(cp.controllerFlags(cp.ports.controllerManager),
		"--service-account-private-key-file="+cp.credentials.file("serviceaccounts.key"),
		"--root-ca-file="+cp.credentials.file("apiserver.crt"),
		"--kube-api-qps=500", "--kube-api-burst=1000")...)
	return err // waitNodes sees whether it works
}

func (cp *ControlPlane) startScheduler(context.Context) error {
	_, err := cp.run(Scheduler, append(cp.controllerFlags(cp.ports.scheduler), "--kube-api-qps=500", "--kube-api-burst=1000")...)
	return err
}

func (cp *ControlPlane) controllerFlags(port int) []string {
	return []string{
		"--kubeconfig=" + cp.Kubeconfig,
		"--leader-elect=false",
		"--bind-address=" + loopback,
		"--secure-port=" + strconv.Itoa(port),
		"--cert-dir=" + filepath.Join(cp.dir, "certs"),
	}
}

func (cp *ControlPlane) process(program Program) *Process {
	for _, p := range cp.processes {
		if p.Name == string(program) {
			return p
		}
	}
	return nil
}

// WaitHTTP waits until url answers 200, and fails at once if p ends before.
func WaitHTTP(ctx context.Context, p *Process, url string) error {
	return waitFor(ctx, p.Name, p, answers(http.DefaultClient, url))
}

// answers asks url once per call and is content with 200.
func answers(client *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			return errors.New(response.Status)
		}
		return nil
	}
}

func localURL(port int) string { return fmt.Sprintf("http://%s:%d", loopback, port) }
