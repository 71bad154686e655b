package docstest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/operator"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard()) // of clients
	os.Exit(m.Run())
}

// cluster is what a reader has in the beginning: nothing of KICK is in it. Its pods are made
// by kwok: they are ready after a second, and run nothing.
func cluster(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	return controlplane.ForTest(t, controlplane.Options{Node: controlplane.FakeNode, PodReadyDelay: time.Second, ServiceAccounts: true})
}

// programs builds kick and kubectl-kick from this tree, as make build does, and names the
// folders of these and of kubectl and helm, as a PATH has them.
var programs = sync.OnceValues(func() (path string, err error) {
	build := exec.Command("go", "build", "-o", "bin/", "./cmd/kick", "./cmd/kubectl-kick")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	bin, err := filepath.Abs(filepath.Join(root, "bin"))
	if err != nil {
		return "", err
	}
	tools, err := controlplane.Build(context.Background(), os.Stderr, controlplane.Helm, controlplane.Kubectl)
	if err != nil {
		return "", err
	}
	return strings.Join([]string{bin, filepath.Dir(tools[controlplane.Helm]), filepath.Dir(tools[controlplane.Kubectl])}, string(os.PathListSeparator)), nil
})

// reader is what somebody who follows a page has: a shell with kubectl, helm and a cluster,
// or without one.
func reader(t *testing.T, kubeconfig string) *shell {
	t.Helper()
	path, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	return newShell(t, "KUBECONFIG="+kubeconfig, "PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
}

// startOperator does what a real node would with the pod of Deployment kick: it runs the
// operator with the flags that stand there and the rights of its service account. Its
// lease is long, so that a busy machine does not end it.
func startOperator(t *testing.T, plane *controlplane.ControlPlane, namespace string) {
	t.Helper()
	c, err := client.New(plane.Config, client.Options{Scheme: operator.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	var d appsv1.Deployment
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "kick"}, &d); err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	err = plane.WriteKubeconfig(kubeconfig, "system:serviceaccount:"+namespace+":"+d.Spec.Template.Spec.ServiceAccountName,
		"system:serviceaccounts", "system:serviceaccounts:"+namespace, "system:authenticated")
	if err != nil {
		t.Fatal(err)
	}
	port, err := controlplane.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	probes := "127.0.0.1:" + strconv.Itoa(port)
	bin, err := filepath.Abs(filepath.Join(root, "bin"))
	if err != nil {
		t.Fatal(err)
	}
	argv := append([]string{filepath.Join(bin, "kick")}, d.Spec.Template.Spec.Containers[0].Args...)
	argv = append(argv, "--kubeconfig="+kubeconfig, "--health-probe-bind-address="+probes, "--metrics-bind-address=0",
		"--leader-election-lease-duration=60s", "--leader-election-renew-deadline=50s")
	kick, err := plane.Run("kick-"+namespace, nil, argv...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("KICK's last lines:\n%s", kick.Tail())
		}
		if err := kick.Stop(10 * time.Second); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("the operator is not ready after a minute"))
	defer cancel()
	if err := controlplane.WaitHTTP(ctx, kick, "http://"+probes+"/readyz"); err != nil {
		t.Fatal(err)
	}
}
