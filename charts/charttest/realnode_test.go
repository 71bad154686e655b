package charttest

import (
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/operator"
)

// TestHelmTestOnARealNode: KICK runs as the pod of the chart, from its own image, on a real
// kubelet; it restarts a workload there, helm test runs its check in a pod of its own and
// passes, and fails once a right is missing. There is no DNS on that node, so the check does
// not ask for metrics by the name of their Service.
//
// Proves: KICK-FEAT-042.
func TestHelmTestOnARealNode(t *testing.T) {
	if err := controlplane.RealNodeUnavailable(); err != nil {
		t.Skipf("NOT PROVEN HERE: a real node cannot run on this machine: %v", err)
	}
	plane := controlplane.ForTest(t, controlplane.Options{Node: controlplane.RealNode, Progress: os.Stderr})
	for name, pkg := range map[string]string{"test.local/kick:v1": "./cmd/kick", "test.local/printenv:1": "./kick/kicktest/printenv"} {
		if err := plane.LoadImage(t.Context(), name, pkg); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(plane.Config, client.Options{Scheme: operator.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	helm := func(args ...string) (string, error) {
		return helmAt(t, plane.Kubeconfig, append(args, "--namespace", "kick-system", "--timeout", patience.String())...)
	}
	if _, err := helm("install", "kick", chart, "--create-namespace", "--wait",
		"--set", "image.repository=test.local/kick,image.tag=v1,metrics.service.enabled=false"); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, c: c, ns: "store"}
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}})
	restartsOnNode(w)
	if out, err := helm("test", "kick"); err != nil || !strings.Contains(out, "Succeeded") {
		t.Errorf("helm test: %v\n%s", err, out)
	}
	if err := c.DeleteAllOf(t.Context(), &rbacv1.ClusterRoleBinding{}, client.MatchingLabels{"app.kubernetes.io/instance": "kick"}); err != nil {
		t.Fatal(err)
	}
	out, err := helm("test", "kick", "--logs")
	if err == nil || !strings.Contains(out, "cannot patch deployments.apps") {
		t.Errorf("helm test without any right: %v\n%s", err, out)
	}
}

// restartsOnNode changes a Secret that real containers read, and waits until KICK has
// restarted them.
func restartsOnNode(w *world) {
	w.t.Helper()
	labels := map[string]string{"app": "web"}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "db"}, StringData: map[string]string{"PASS": "before"}}
	from := corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}}}
	web := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "web", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "app", Image: "test.local/printenv:1", Args: []string{"PASS"}, EnvFrom: []corev1.EnvFromSource{from},
			}}}},
		},
	}
	w.create(secret, web)
	w.create(&v1alpha1.KickPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "all"}})
	w.reachesRequest("deployment-web", v1alpha1.PhaseNoLongerRequired)
	if err := w.c.Patch(w.t.Context(), secret, client.RawPatch(merge, []byte(`{"stringData":{"PASS":"after"}}`))); err != nil {
		w.t.Fatal(err)
	}
	w.reachesRequest("deployment-web", v1alpha1.PhaseSucceeded)
}
