package charttest

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/crds"
	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/operator"
)

func asUnstructured(o runtime.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	return u, nil
}

// admitting is a control plane that knows every kind of the chart, and a client of it.
func admitting(t *testing.T) (*controlplane.ControlPlane, client.Client) {
	t.Helper()
	plane := controlplane.Shared(t)
	if err := plane.InstallCRDs(t.Context(), crds.FS); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(plane.Config, client.Options{Scheme: operator.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	define(t, c, "prometheus")
	return plane, c
}

// TestAdmitted: the API server takes every object of every set of values, without a
// field that it does not know, in a namespace where the Pod Security Standard
// "restricted" is enforced. Pods are tried by themselves, as a Deployment is never refused.
func TestAdmitted(t *testing.T) {
	_, c := admitting(t)
	for name, values := range valueSets(t) {
		t.Run(name, func(t *testing.T) {
			text, err := render(t, "--values", values)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range objects(t, text) {
				admitted(t, c, o)
			}
		})
	}
}

func admitted(t *testing.T, c client.Client, o *unstructured.Unstructured) {
	t.Helper()
	labels := map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.GetNamespace(), Labels: labels}}
	if ns.Name != "" {
		if err := c.Create(t.Context(), ns); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	strict := client.WithFieldValidation(client.NewDryRunClient(c), metav1.FieldValidationStrict)
	try := func(o client.Object) error {
		err := strict.Create(t.Context(), o)
		if apierrors.IsAlreadyExists(err) { // as CRDs do
			return strict.Patch(t.Context(), o, client.Merge)
		}
		return err
	}
	if err := try(o.DeepCopy()); err != nil && !strings.Contains(err.Error(), "error looking up service account") {
		t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
	}
	if o.GetKind() != "Deployment" {
		return
	}
	var d appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &d); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "pod"}, Spec: d.Spec.Template.Spec}
	pod.Spec.ServiceAccountName = ""
	if err := try(pod); err != nil && !strings.Contains(err.Error(), "error looking up service account") {
		t.Errorf("the pod of Deployment %s: %v", o.GetName(), err)
	}
}

// TestLifecycle: install without values, upgrade to others, uninstall. CRDs and what is of
// their kinds stay unless crds.keep is false; nothing else does.
//
// Proves: KICK-FEAT-042.
func TestLifecycle(t *testing.T) {
	const ns = "lifecycle"
	plane := controlplane.Shared(t)
	c, err := client.New(plane.Config, client.Options{Scheme: operator.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	install(t, ns)
	out := mustHelm(t, "get", "notes", "kick", "--namespace", ns)
	if !strings.Contains(out, "kubectl apply -f -") || !strings.Contains(out, "kind: KickPolicy") {
		t.Errorf("the notes do not say what to do next:\n%s", out)
	}
	key := client.ObjectKey{Namespace: ns, Name: "kick"}
	if err := c.Get(t.Context(), key, &policyv1.PodDisruptionBudget{}); !apierrors.IsNotFound(err) {
		t.Errorf("a budget of one replica: %v", err)
	}
	install(t, ns, "--set", "replicaCount=2,rolloutTimeout=20m")
	var d appsv1.Deployment
	if err := c.Get(t.Context(), key, &d); err != nil || *d.Spec.Replicas != 2 || !slices.Contains(d.Spec.Template.Spec.Containers[0].Args, "--rollout-timeout=20m") {
		t.Errorf("after the upgrade: %v, %d replicas with %v", err, *d.Spec.Replicas, d.Spec.Template.Spec.Containers[0].Args)
	}
	if err := c.Get(t.Context(), key, &policyv1.PodDisruptionBudget{}); err != nil {
		t.Errorf("no budget of two replicas: %v", err)
	}
	mustHelm(t, "uninstall", "kick", "--namespace", ns, "--wait")
	names, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	if left := leftOver(t, ns); len(left) != len(names) || slices.ContainsFunc(left, func(l string) bool { return !strings.HasPrefix(l, "CustomResourceDefinition ") }) {
		t.Errorf("after helm uninstall there are %q, want the %d CRDs", left, len(names))
	}
	install(t, ns, "--set", "crds.keep=false")
	mustHelm(t, "uninstall", "kick", "--namespace", ns, "--wait")
	if left := leftOver(t, ns); len(left) != 0 {
		t.Errorf("with crds.keep=false helm uninstall leaves %q", left)
	}
}

// leftOver are all objects of a release.
func leftOver(t *testing.T, namespace string) []string {
	t.Helper()
	plane := controlplane.Shared(t)
	d, err := discovery.NewDiscoveryClientForConfig(plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := d.ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(plane.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, list := range lists {
		for i := range list.APIResources {
			if !slices.Contains(list.APIResources[i].Verbs, "list") {
				continue
			}
			var all unstructured.UnstructuredList
			all.SetGroupVersionKind(schema.FromAPIVersionAndKind(list.GroupVersion, list.APIResources[i].Kind+"List"))
			if err := c.List(t.Context(), &all); err != nil {
				t.Fatal(err)
			}
			for j := range all.Items {
				o := &all.Items[j]
				if o.GetAnnotations()["meta.helm.sh/release-namespace"] == namespace {
					left = append(left, o.GetKind()+" "+o.GetName())
				}
			}
		}
	}
	return left
}
