package controlplane_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/corewire/kick/kick/kicktest/controlplane"
)

// TestRealNodeContainersCarryTheNewSecret proves on real containers what KICK is
// for: a changed Secret reaches a container's environment by a restart only.
func TestRealNodeContainersCarryTheNewSecret(t *testing.T) {
	if err := controlplane.RealNodeUnavailable(); err != nil {
		t.Skipf("NOT PROVEN HERE: a real node cannot run on this machine: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "plane")
	plane := controlplane.ForTest(t, controlplane.Options{Node: controlplane.RealNode, Dir: dir, Progress: os.Stderr})
	client := clientFor(t, plane)
	const image = "test.local/printenv:1"
	if err := plane.LoadImage(t.Context(), image, "./kick/kicktest/printenv"); err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "db"}, StringData: map[string]string{"PASS": "old"}}
	secrets := client.CoreV1().Secrets("default")
	if _, err := secrets.Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	web := deployment("web", 3, image)
	pod := &web.Spec.Template.Spec
	pod.Containers[0].Args = []string{"PASS", "/sec/PASS"}
	pod.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}}}}
	pod.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "sec", MountPath: "/sec"}}
	pod.Volumes = []corev1.Volume{{Name: "sec", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "db"}}}}
	begin := time.Now()
	create(t, client, web)
	rolledOut(t, client, "web")
	t.Logf("first rollout of 3 took %v", time.Since(begin))
	wantLogs(t, client, "PASS=old\n/sec/PASS=old\n")

	secret.StringData["PASS"] = "new"
	if _, err := secrets.Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	begin = time.Now()
	restart(t, client, "web")
	rolledOut(t, client, "web")
	t.Logf("rollout restart of 3 took %v", time.Since(begin))
	wantLogs(t, client, "PASS=new\n/sec/PASS=new\n")
}

// wantLogs reads what each pod that is not on its way out printed.
func wantLogs(t *testing.T, client *kubernetes.Clientset, want string) {
	t.Helper()
	pods, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.DeletionTimestamp != nil {
			continue
		}
		// A pod without a probe is ready before its program has printed everything.
		var got []byte
		for deadline := time.Now().Add(2 * time.Minute); len(got) < len(want) && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			if got, err = client.CoreV1().Pods("default").GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(t.Context()); err != nil {
				t.Errorf("log of %s: %v", pod.Name, err)
			}
		}
		if string(got) != want {
			t.Errorf("%s printed %q, want %q", pod.Name, got, want)
		}
		seen++
	}
	if seen != 3 {
		t.Errorf("saw %d pods, want 3", seen)
	}
}
