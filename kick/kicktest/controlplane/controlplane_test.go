package controlplane_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/corewire/kick/kick/kicktest/controlplane"
)

// asChild makes this test binary start a control plane and wait to be killed.
const asChild = "KICK_TEST_START_IN_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asChild); dir != "" {
		plane, err := controlplane.Start(context.Background(), controlplane.Options{Dir: dir})
		if err != nil {
			_, _ = os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		_ = json.NewEncoder(os.Stdout).Encode(plane.Running())
		select {}
	}
	os.Exit(controlplane.Main(m, controlplane.Options{Node: controlplane.FakeNode, FakeNodes: 3}))
}

func TestDeploymentRollsOnFakeNodes(t *testing.T) {
	plane := controlplane.Shared(t)
	client := clientFor(t, plane)
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 3 {
		t.Fatalf("got %d nodes (%v), want 3", len(nodes.Items), err)
	}
	create(t, client, deployment("web", 3, "registry.invalid/web:1"))
	rolledOut(t, client, "web")

	begin := time.Now()
	restart(t, client, "web")
	rolledOut(t, client, "web")
	t.Logf("rollout restart of 3 replicas took %v", time.Since(begin))
}

func TestInstallCRDsServesThemAndIsRepeatable(t *testing.T) {
	plane := controlplane.Shared(t)
	files := fstest.MapFS{"deep/two.yaml": {Data: []byte(crd("widgets", "Widget") + "---\n" + crd("gadgets", "Gadget"))}, "README.md": {Data: []byte("not yaml")}}
	for range 2 {
		if err := plane.InstallCRDs(t.Context(), files); err != nil {
			t.Fatal(err)
		}
	}
	for _, resource := range []string{"widgets", "gadgets"} {
		raw, err := clientFor(t, plane).RESTClient().Get().AbsPath("/apis/test.corewire.io/v1/" + resource).DoRaw(t.Context())
		if err != nil {
			t.Errorf("list %s: %v\n%s", resource, err, raw)
		}
	}
	if err := plane.InstallCRDs(t.Context(), fstest.MapFS{}); err == nil {
		t.Error("no CRDs installed without an error")
	}
}

func TestPodReadyDelay(t *testing.T) {
	plane := controlplane.ForTest(t, controlplane.Options{Node: controlplane.FakeNode, PodReadyDelay: time.Second, ServiceAccounts: true})
	client := clientFor(t, plane)
	begin := time.Now()
	create(t, client, deployment("slow", 1, "registry.invalid/slow:1"))
	rolledOut(t, client, "slow")
	if took := time.Since(begin); took < time.Second {
		t.Errorf("pod was ready after %v, want at least 1s", took)
	}
	pods, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != 1 || len(pods.Items[0].Spec.Volumes) == 0 {
		t.Errorf("got %v (%v), want one pod with a token volume", pods, err)
	}
}

func TestStopLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plane")
	plane, err := controlplane.Start(t.Context(), controlplane.Options{Node: controlplane.FakeNode, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	running := plane.Running()
	if len(running) != 5 {
		t.Errorf("running %v, want 5 programs", running)
	}
	begin := time.Now()
	if err := plane.Stop(); err != nil {
		t.Fatal(err)
	}
	t.Logf("stop took %v", time.Since(begin))
	wantGone(t, running)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", dir, err)
	}
	if err := plane.Stop(); err != nil {
		t.Errorf("second stop: %v", err)
	}
}

func TestDetachedIsFoundAndEndedByAnother(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plane")
	if _, err := controlplane.Load(dir); !errors.Is(err, controlplane.ErrNotRunning) {
		t.Fatalf("got %v, want ErrNotRunning", err)
	}
	if _, err := controlplane.Start(t.Context(), controlplane.Options{Dir: dir, Detach: true}); err != nil {
		t.Fatal(err)
	}
	plane, err := controlplane.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	running := plane.Running()
	if len(running) != 2 || len(plane.Dead()) != 0 {
		t.Errorf("running %v, dead %v, want 2 programs", running, plane.Dead())
	}
	if err := plane.Stop(); err != nil {
		t.Error(err)
	}
	wantGone(t, running)
}

func TestProgramsDieWithAKilledParent(t *testing.T) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), asChild+"="+filepath.Join(t.TempDir(), "plane"))
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var running map[string]int
	if err := json.NewDecoder(out).Decode(&running); err != nil || len(running) != 2 {
		t.Fatalf("child started %v: %v", running, err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	wantGone(t, running)
}

func TestStartTellsWhatFailed(t *testing.T) {
	occupied := t.TempDir()
	if err := os.WriteFile(filepath.Join(occupied, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := controlplane.Start(t.Context(), controlplane.Options{Dir: occupied}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("got %v, want a refusal", err)
	}
	broken := t.TempDir()
	script := "#!/bin/sh\necho cannot do that today >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(broken, "kube-apiserver"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBEBUILDER_ASSETS", broken)
	_, err := controlplane.Start(t.Context(), controlplane.Options{})
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver ended while starting") || !strings.Contains(err.Error(), "cannot do that today") {
		t.Errorf("got %v, want the program and its last line", err)
	}
}

func TestRestrictedKubeconfig(t *testing.T) {
	plane := controlplane.Shared(t)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := plane.WriteKubeconfig(path, "nobody"); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), plane.Binaries[controlplane.Kubectl], "--kubeconfig="+path, "get", "secrets").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `User "nobody" cannot list resource "secrets"`) {
		t.Errorf("got %s (%v), want a refusal", out, err)
	}
}

func TestRunAndWaitHTTP(t *testing.T) {
	plane := controlplane.Shared(t)
	p, err := plane.Run("failing", []string{"WORD=spoken"}, "/bin/sh", "-c", "echo $WORD; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	err = controlplane.WaitHTTP(t.Context(), p, "http://127.0.0.1:1/")
	if err == nil || !strings.Contains(err.Error(), "spoken") || p.Alive() {
		t.Errorf("got %v, want the failing program's output", err)
	}
}

func clientFor(t *testing.T, plane *controlplane.ControlPlane) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func deployment(name string, replicas int32, image string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}},
			},
		},
	}
}

func create(t *testing.T, client *kubernetes.Clientset, d *appsv1.Deployment) {
	t.Helper()
	if _, err := client.AppsV1().Deployments("default").Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func restart(t *testing.T, client *kubernetes.Clientset, name string) {
	t.Helper()
	patch := `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"` + time.Now().Format(time.RFC3339Nano) + `"}}}}}`
	_, err := client.AppsV1().Deployments("default").Patch(t.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func rolledOut(t *testing.T, client *kubernetes.Clientset, name string) {
	t.Helper()
	var got *appsv1.Deployment
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var err error
		if got, err = client.AppsV1().Deployments("default").Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		want, s := *got.Spec.Replicas, got.Status
		if s.ObservedGeneration == got.Generation && s.UpdatedReplicas == want && s.Replicas == want && s.AvailableReplicas == want {
			return
		}
	}
	t.Fatalf("%s did not roll out: %+v", name, got.Status)
}

func crd(plural, kind string) string {
	return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ` + plural + `.test.corewire.io}
spec:
  group: test.corewire.io
  scope: Namespaced
  names: {plural: ` + plural + `, kind: ` + kind + `}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`
}

// wantGone allows for the moment that the kernel needs to end a killed process.
func wantGone(t *testing.T, pids map[string]int) {
	t.Helper()
	for name, pid := range pids {
		for deadline := time.Now().Add(5 * time.Second); processExists(pid); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Errorf("%s (pid %d) is still running", name, pid)
				break
			}
		}
	}
}

func processExists(pid int) bool {
	if state, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status")); err == nil && strings.Contains(string(state), "State:\tZ") {
		return false // ended, and nobody has asked how
	}
	return syscall.Kill(pid, 0) == nil
}
