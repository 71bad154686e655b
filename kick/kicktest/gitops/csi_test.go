package gitops_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/secretsstore"
	"github.com/corewire/kick/kick/api/v1alpha1"
)

// mountsClass lets a pod mount SecretProviderClass db.
func mountsClass(spec *corev1.PodSpec) {
	readOnly := true
	spec.Volumes = []corev1.Volume{{Name: "secrets", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{
		Driver: secretsstore.Driver, ReadOnly: &readOnly, VolumeAttributes: map[string]string{secretsstore.ClassAttribute: "db"},
	}}}}
	spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "secrets", MountPath: "/secrets", ReadOnly: true}}
}

// TestCSI: on the driver's own kinds a status object that tells of other versions restarts
// the workload of its pod; one that is written anew with the same versions does not.
//
// Proves: KICK-FEAT-026.
func TestCSI(t *testing.T) {
	w := newWorld(t, "by-csi", v1alpha1.GitOpsNone, mountsClass)
	w.install("secrets-store-csi")
	w.make(&secretsstore.SecretProviderClass{ObjectMeta: w.named("db"), Spec: secretsstore.ClassSpec{Provider: "test"}})
	w.start("--enable-csi-integration")
	w.reaches(v1alpha1.PhaseNoLongerRequired, "Fresh")
	status := w.mounted("v1")
	w.records(1)
	time.Sleep(1100 * time.Millisecond) // the API server dates by whole seconds
	status.Labels = map[string]string{"internal.secrets-store.csi.k8s.io/node-name": "another"}
	if err := w.c.Update(t.Context(), status); err != nil {
		t.Fatal(err)
	}
	w.restartsAfter(func() {
		status.Status.Objects[0].Version = "v2"
		if err := w.c.Update(t.Context(), status); err != nil {
			t.Fatal(err)
		}
	})
}

// mounted makes the status object of the one pod, as the driver does.
func (w *world) mounted(version string) *secretsstore.SecretProviderClassPodStatus {
	w.t.Helper()
	pods := &corev1.PodList{}
	if err := w.c.List(w.t.Context(), pods, client.InNamespace(w.ns)); err != nil || len(pods.Items) != 1 {
		w.t.Fatalf("%d pods (%v), want one", len(pods.Items), err)
	}
	pod := &pods.Items[0]
	s := &secretsstore.SecretProviderClassPodStatus{ObjectMeta: w.named(pod.Name + "-" + w.ns + "-db")}
	s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}}
	s.Status = secretsstore.PodStatus{
		PodName: pod.Name, SecretProviderClassName: "db", Mounted: true,
		TargetPath: "/var/lib/kubelet/pods/" + string(pod.UID) + "/volumes/kubernetes.io~csi/secrets/mount",
		Objects:    []secretsstore.MountedObject{{ID: "secret/password", Version: version}},
	}
	w.make(s)
	return s
}

// records waits until so many pods of the class are on record.
func (w *world) records(pods int) {
	w.t.Helper()
	w.eventually("the pods of the class are on record", func(ctx context.Context) (bool, error) {
		o := &v1alpha1.SourceObservation{}
		err := w.c.Get(ctx, w.key("secretproviderclass-db"), o)
		return len(o.Spec.Mounts) == pods, client.IgnoreNotFound(err)
	})
}
