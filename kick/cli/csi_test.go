package cli

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/toolcrds/original"
)

// mounted: where the kinds of the Secrets Store CSI driver are installed, a class that a
// workload mounts counts as what it reads, as it does for the operator.
func (s *shop) mounted(plane *controlplane.ControlPlane) {
	s.t.Helper()
	s.config = plane.Kubeconfig // whoever ran the plugin last may do less
	files, err := original.Files(s.t.Context(), "secrets-store-csi")
	if err != nil {
		s.t.Fatal(err)
	}
	if err := plane.InstallCRDs(s.t.Context(), files); err != nil {
		s.t.Fatal(err)
	}
	mounts := deployment("files").(*appsv1.Deployment)
	mounts.Labels = map[string]string{"app": "web"}
	mounts.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "secrets", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{
		Driver: "secrets-store.csi.k8s.io", VolumeAttributes: map[string]string{"secretProviderClass": "vault"},
	}}}}
	s.create(mounts)
	s.must(exitOK, "", []string{"SecretProviderClass vault"}, "tree")
	s.must(exitOK, "", []string{"SecretProviderClass vault"}, "why", "deployment/files")
}
