package operator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/crds"
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/operator"
)

// Without the CRD and the role of notifications KICK does its work where they are turned
// off. The CRD belongs to all tests, so this one is not parallel either.
//
// Proves: KICK-FEAT-035, KICK-FEAT-039.
func TestWithoutNotifications(t *testing.T) {
	w := newWorld(t, "quiet")
	t.Cleanup(func() {
		if err := w.plane.InstallCRDs(context.Background(), crds.FS); err != nil {
			t.Fatal(err)
		}
	})
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	crd.SetName("notificationpolicies.kick.corewire.io")
	role := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "kick-notifications-" + w.kick.Namespace}}
	for _, o := range []client.Object{crd, role} {
		if err := w.c.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	with := operator.NewOptions()
	with.Namespace = w.kick.Namespace
	w.eventually("what notifications lack", func(ctx context.Context) string {
		err := operator.Preflight(ctx, w.kick.Config(), with)
		if err == nil || !strings.Contains(err.Error(), "the CRD notificationpolicies.kick.corewire.io is not installed") {
			return fmt.Sprint(err)
		}
		return ""
	})
	w.policy("")
	w.secret("web", "before")
	w.deployment("web", 1, byEnvFrom("web"))
	w.start("--enable-notifications=false")
	w.reaches("Deployment", "web", v1alpha1.PhaseNoLongerRequired, "Fresh")
	w.secret("web", "after")
	w.reaches("Deployment", "web", v1alpha1.PhaseSucceeded, "RestartCompleted")
}
