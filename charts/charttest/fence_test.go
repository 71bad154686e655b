package charttest

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/installation"
)

const podSpec = `{containers: [{name: app, image: "example.com/app:1"}]}`

// TestFence: of all else that a cluster holds, KICK writes what its code names and
// nothing more, with and without ConfigBundles.
//
// Proves: KICK-FEAT-041.
func TestFence(t *testing.T) {
	c := newCage(t, "fenced")
	c.furnish()
	c.refused(c.elsewhere())
	c.refused(c.configMaps())
	t.Run("exec", func(t *testing.T) {
		account, err := installation.Of(controlplane.Shared(t), c.own, "kick")
		if err != nil {
			t.Fatal(err)
		}
		clients, err := kubernetes.NewForConfig(account.Config())
		if err != nil {
			t.Fatal(err)
		}
		err = clients.CoreV1().RESTClient().Post().Resource("pods").Namespace(c.ns).Name("pod").SubResource("exec").
			VersionedParams(&corev1.PodExecOptions{Command: []string{"sh"}}, scheme.ParameterCodec).Do(t.Context()).Error()
		if err := notCaged(err); err != nil {
			t.Error(err)
		}
	})
	t.Run("its own", func(t *testing.T) {
		w := client.NewDryRunClient(c.kick)
		for _, o := range []client.Object{
			object(t, id{"v1", "Secret", c.own, "kick-installation-key"}, "data: {}"),
			object(t, id{"coordination.k8s.io/v1", "Lease", c.own, "kick.corewire.io"}, "spec: {}"),
			object(t, id{"kick.corewire.io/v1alpha1", "KickRequest", c.ns, "deployment-x"}, "spec: {targetRef: {kind: Deployment, name: x}}"),
			object(t, id{"v1", "Event", c.own, "leads"}, "{involvedObject: {kind: Lease, namespace: "+c.own+", name: x}, reason: x, type: Normal}"),
		} {
			if err := w.Create(t.Context(), o); err != nil {
				t.Errorf("create %s: %v, want yes", o.GetName(), err)
			}
		}
	})
}

// TestFenceWithBundles: with ConfigBundles KICK writes ConfigMaps, but no others than theirs.
func TestFenceWithBundles(t *testing.T) {
	c := newCage(t, "bundled", "--set", "configBundles.enabled=true")
	c.furnish()
	c.refused(c.configMaps())
	c.refused([]row{
		{"take over a ConfigMap of another name", c.patch("ConfigMap", "theirs", `{"metadata":{"ownerReferences":[`+bundleOwner+`]}}`)},
		{"take over a ConfigMap that somebody controls", c.patch("ConfigMap", "controlled", `{"metadata":{"ownerReferences":[`+strings.ReplaceAll(bundleOwner, "owned", "controlled")+`]}}`)},
		{"record of nobody's", func(ctx context.Context, w client.Client) error {
			return w.Create(ctx, object(t, id{"apps/v1", "ControllerRevision", c.ns, "new"}, "{revision: 1, data: {}}"))
		}},
	})
	w := client.NewDryRunClient(c.kick)
	mine := object(t, id{"v1", "ConfigMap", c.ns, "new"}, "{metadata: {ownerReferences: ["+strings.ReplaceAll(bundleOwner, "owned", "new")+"]}, data: {a: b}}")
	if err := w.Create(t.Context(), mine); err != nil {
		t.Errorf("create a ConfigMap of a ConfigBundle: %v, want yes", err)
	}
	for _, name := range []string{"owned", "stripped"} {
		data := client.RawPatch(merge, []byte(`{"metadata":{"ownerReferences":[`+strings.ReplaceAll(bundleOwner, "owned", name)+`]},"data":{"a":"healed"}}`))
		if err := w.Patch(t.Context(), bare(c.ns, "ConfigMap", name), data, client.FieldOwner("kick")); err != nil {
			t.Errorf("heal ConfigMap %s: %v, want yes", name, err)
		}
		if err := w.Delete(t.Context(), bare(c.ns, "ConfigMap", name)); err != nil {
			t.Errorf("delete ConfigMap %s: %v, want yes", name, err)
		}
	}
}

const bundleOwner = `{"apiVersion":"kick.corewire.io/v1alpha1","kind":"ConfigBundle","name":"owned","uid":"1","controller":true}`

func bare(namespace, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("v1")
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// furnish adds what else there may be in a namespace: things of others, a ConfigMap of a
// ConfigBundle, and one that KICK made and of which somebody took the owner away.
func (c *cage) furnish() {
	c.t.Helper()
	ctx := c.t.Context()
	account := object(c.t, id{"v1", "ServiceAccount", c.ns, "app"}, "{}")
	c.must(c.admin.Create(ctx, account))
	bundle := object(c.t, id{"kick.corewire.io/v1alpha1", "ConfigBundle", c.ns, "owned"}, "spec: {message: x}")
	c.must(c.admin.Create(ctx, bundle)) // garbage collection takes what has no owner
	owner := strings.Replace(bundleOwner, `"uid":"1"`, `"uid":"`+string(bundle.GetUID())+`"`, 1)
	for _, o := range []client.Object{
		object(c.t, id{"v1", "Pod", c.ns, "pod"}, "{spec: {serviceAccountName: app, automountServiceAccountToken: false, containers: [{name: app, image: \"example.com/app:1\"}]}}"),
		object(c.t, id{"v1", "Secret", c.ns, "secret"}, "stringData: {a: b}"),
		object(c.t, id{"v1", "ConfigMap", c.ns, "theirs"}, "data: {a: b}"),
		object(c.t, id{"v1", "ConfigMap", c.ns, "controlled"}, "{metadata: {ownerReferences: [{apiVersion: example.com/v1, kind: Other, name: x, uid: x, controller: true}]}, data: {a: b}}"),
		object(c.t, id{"v1", "ConfigMap", c.ns, "owned"}, "{metadata: {ownerReferences: ["+owner+"]}, data: {a: b}}"),
	} {
		c.must(c.admin.Create(ctx, o))
	}
	c.must(c.admin.Create(ctx, object(c.t, id{"v1", "ConfigMap", c.ns, "stripped"}, "data: {a: b}"), client.FieldOwner("kick")))
}

func (c *cage) create(apiVersion, kind, namespace, rest string) func(context.Context, client.Client) error {
	return func(ctx context.Context, w client.Client) error {
		return w.Create(ctx, object(c.t, id{apiVersion, kind, namespace, "new"}, rest))
	}
}

func (c *cage) patch(kind, name, body string) func(context.Context, client.Client) error {
	return func(ctx context.Context, w client.Client) error {
		return w.Patch(ctx, bare(c.ns, kind, name), client.RawPatch(merge, []byte(body)))
	}
}

// configMaps are writes to ConfigMaps that no ConfigBundle controls.
func (c *cage) configMaps() []row {
	return []row{
		{"create a ConfigMap", c.create("v1", "ConfigMap", c.ns, "data: {a: b}")},
		{"change a ConfigMap", c.patch("ConfigMap", "theirs", `{"data":{"a":"c"}}`)},
		{"delete a ConfigMap", func(ctx context.Context, w client.Client) error {
			return w.Delete(ctx, bare(c.ns, "ConfigMap", "theirs"))
		}},
		{"take a bundle's ConfigMap out", c.patch("ConfigMap", "owned", `{"metadata":{"ownerReferences":null}}`)},
	}
}

// elsewhere are writes to everything that is not KICK's.
func (c *cage) elsewhere() []row {
	pod := "template: {metadata: {labels: {app: new}}, spec: " + podSpec + "}"
	selector := "selector: {matchLabels: {app: new}}, "
	return []row{
		{"create a Pod", c.create("v1", "Pod", c.ns, "spec: {serviceAccountName: app, containers: [{name: app, image: \"example.com/app:1\"}]}")},
		{"delete a Pod", func(ctx context.Context, w client.Client) error { return w.Delete(ctx, bare(c.ns, "Pod", "pod")) }},
		{"change the image of a Pod", c.patch("Pod", "pod", `{"spec":{"containers":[{"name":"app","image":"example.com/evil:1"}]}}`)},
		{"annotate a Pod", c.patch("Pod", "pod", `{"metadata":{"annotations":{"a":"b"}}}`)},
		{"ephemeral container", func(ctx context.Context, w client.Client) error {
			body := `{"spec":{"ephemeralContainers":[{"name":"debug","image":"example.com/evil:1","targetContainerName":"app"}]}}`
			return w.SubResource("ephemeralcontainers").Patch(ctx, bare(c.ns, "Pod", "pod"), client.RawPatch(strategic, []byte(body)))
		}},
		{"status of a Pod", func(ctx context.Context, w client.Client) error {
			return w.Status().Patch(ctx, bare(c.ns, "Pod", "pod"), client.RawPatch(merge, []byte(`{"status":{"reason":"x"}}`)))
		}},
		{"create a ReplicaSet", c.create("apps/v1", "ReplicaSet", c.ns, "spec: {"+selector+pod+"}")},
		{"create a ControllerRevision", c.create("apps/v1", "ControllerRevision", c.ns, "{revision: 1, data: {}}")},
		{"create a ReplicationController", c.create("v1", "ReplicationController", c.ns, "spec: {selector: {app: new}, "+pod+"}")},
		{"create a Job", c.create("batch/v1", "Job", c.ns, "spec: {template: {spec: {restartPolicy: Never, containers: [{name: app, image: \"example.com/app:1\"}]}}}")},
		{"create a CronJob", c.create("batch/v1", "CronJob", c.ns, "spec: {schedule: \"* * * * *\", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: app, image: \"example.com/app:1\"}]}}}}}")},
		{"create a Secret", c.create("v1", "Secret", c.ns, "stringData: {a: b}")},
		{"create another Secret at home", c.create("v1", "Secret", c.own, "stringData: {a: b}")},
		{"create its Secret elsewhere", func(ctx context.Context, w client.Client) error {
			return w.Create(ctx, object(c.t, id{"v1", "Secret", c.ns, "kick-installation-key"}, "stringData: {a: b}"))
		}},
		{"change a Secret", c.patch("Secret", "secret", `{"stringData":{"a":"c"}}`)},
		{"delete a Secret", func(ctx context.Context, w client.Client) error { return w.Delete(ctx, bare(c.ns, "Secret", "secret")) }},
		{"change its service account", c.patch("ServiceAccount", "app", `{"metadata":{"annotations":{"a":"b"}}}`)},
		{"create a Lease elsewhere", c.create("coordination.k8s.io/v1", "Lease", c.ns, "spec: {}")},
		{"create a RoleBinding", c.create("rbac.authorization.k8s.io/v1", "RoleBinding", c.ns, "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}")},
		{"create a ClusterRole", c.create("rbac.authorization.k8s.io/v1", "ClusterRole", "", "rules: []")},
		{"create a namespace", c.create("v1", "Namespace", "", "{}")},
		{"change its own policies' CRD", func(ctx context.Context, w client.Client) error {
			o := object(c.t, id{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "kickpolicies.kick.corewire.io"}, "{}")
			return w.Patch(ctx, o, client.RawPatch(merge, []byte(`{"metadata":{"annotations":{"a":"b"}}}`)))
		}},
		{"create a KickPolicy", c.create("kick.corewire.io/v1alpha1", "KickPolicy", c.ns, "spec: {}")},
	}
}
