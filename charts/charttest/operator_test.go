package charttest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/installation"
	"github.com/corewire/kick/kick/kicktest/toolcrds"
	"github.com/corewire/kick/kick/operator"
)

// patience is how long anything may take on a machine that has much else to do.
const patience = 2 * time.Minute

// world is a release of the chart whose operator runs as a process, with the flags of the
// release's Deployment and the rights of its service account.
type world struct {
	t    *testing.T
	c    client.Client
	kick *installation.Installation
	ns   string
}

func newWorld(t *testing.T, ns string) *world {
	t.Helper()
	plane := controlplane.Shared(t)
	c, err := client.New(plane.Config, client.Options{Scheme: operator.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	kick, err := installation.Of(plane, "kick-"+ns, "kick")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, c: c, kick: kick, ns: ns}
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
	return w
}

// flags are those that the release's Deployment gives its pod, but for the addresses.
func (w *world) flags() []string {
	w.t.Helper()
	var d appsv1.Deployment
	if err := w.c.Get(w.t.Context(), client.ObjectKey{Namespace: w.kick.Namespace, Name: "kick"}, &d); err != nil {
		w.t.Fatal(err)
	}
	return slices.DeleteFunc(d.Spec.Template.Spec.Containers[0].Args, func(arg string) bool { return strings.Contains(arg, "bind-address=") })
}

// start runs the operator and waits until it is ready. Nothing that it does may be
// forbidden. Its lease is long, so that a busy machine does not end it.
func (w *world) start() *installation.Operator {
	w.t.Helper()
	w.granted()
	o, err := w.kick.Start(append(w.flags(), "--leader-election-lease-duration=60s", "--leader-election-renew-deadline=50s")...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		output, err := o.Output()
		if err != nil {
			w.t.Error(err)
		}
		for line := range strings.Lines(output) {
			if strings.Contains(line, "forbidden") {
				w.t.Errorf("something is forbidden: %s", line)
			}
		}
		if err := o.Stop(patience); err != nil {
			w.t.Error(err)
		}
		if w.t.Failed() {
			w.t.Logf("KICK said:\n%s", output)
		}
	})
	if err := o.WaitReady(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return o
}

// granted waits until the API server's authorizer knows the roles that helm has just made:
// what the operator was refused until then would be taken for a right that the chart lacks.
func (w *world) granted() {
	w.t.Helper()
	options := operator.NewOptions()
	set := pflag.NewFlagSet("kick", pflag.ContinueOnError)
	options.AddFlags(set)
	if err := set.Parse(append(w.flags(), "--namespace="+w.kick.Namespace)); err != nil {
		w.t.Fatal(err)
	}
	if err := w.kick.Granted(w.t.Context(), options); err != nil {
		w.t.Fatal(err)
	}
}

// define installs the CRDs of tools until the test ends, and waits until they are served.
func define(t *testing.T, c client.Client, tools ...string) {
	t.Helper()
	for _, d := range toolcrds.Of(tools...) {
		o, err := asUnstructured(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Delete(context.Background(), o) })
	}
	for _, k := range toolcrds.Kinds(tools...) {
		(&world{t: t}).eventually("kind "+k.Kind, func(context.Context) string {
			if _, err := c.RESTMapper().RESTMapping(k.GroupKind(), k.Version); err != nil {
				return err.Error()
			}
			return ""
		})
	}
}

func (w *world) create(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.c.Create(w.t.Context(), o); err != nil {
			w.t.Fatalf("create %T %s: %v", o, o.GetName(), err)
		}
	}
}

func (w *world) eventually(what string, lacks func(context.Context) string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	for {
		why := lacks(ctx)
		if why == "" {
			return
		}
		select {
		case <-ctx.Done():
			w.t.Fatalf("%s: %s", what, why)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// furnish makes a Secret, one workload of each kind that reads it, and a policy. The policy
// comes last: a workload that comes to a policy after its sources is judged in silence, and
// the tests wait for the note that it was.
func (w *world) furnish() {
	w.t.Helper()
	w.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "db"}, StringData: map[string]string{"password": "before"}})
	for kind := range workloadKinds {
		c := &cage{t: w.t, ns: w.ns}
		o := c.workload(kind)
		containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
		containers[0].(map[string]any)["envFrom"] = []any{map[string]any{"secretRef": map[string]any{"name": "db"}}}
		if err := unstructured.SetNestedSlice(o.Object, containers, "spec", "template", "spec", "containers"); err != nil {
			w.t.Fatal(err)
		}
		w.create(o)
	}
	w.create(&v1alpha1.KickPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "all"}})
}

// adopted waits until every workload was judged once.
func (w *world) adopted() {
	w.t.Helper()
	for kind := range workloadKinds {
		w.reaches(kind, v1alpha1.PhaseNoLongerRequired)
	}
}

// restarts changes the Secret and waits until every workload was restarted for it.
func (w *world) restarts() {
	w.t.Helper()
	w.adopted()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "db"}}
	if err := w.c.Patch(w.t.Context(), secret, client.RawPatch(merge, []byte(`{"stringData":{"password":"after"}}`))); err != nil {
		w.t.Fatal(err)
	}
	for kind := range workloadKinds {
		w.reaches(kind, v1alpha1.PhaseSucceeded)
	}
}

func (w *world) reaches(kind string, phase v1alpha1.Phase) {
	w.t.Helper()
	name := strings.ToLower(kind)
	w.reachesRequest(name+"-"+name, phase)
}

func (w *world) reachesRequest(name string, phase v1alpha1.Phase) {
	w.t.Helper()
	w.eventually("request "+name, func(ctx context.Context) string {
		var r v1alpha1.KickRequest
		if err := w.c.Get(ctx, client.ObjectKey{Namespace: w.ns, Name: name}, &r); err != nil {
			return err.Error()
		}
		if r.Status.Phase == phase {
			return ""
		}
		return fmt.Sprintf("%s, want %s: %+v", r.Status.Phase, phase, r.Status.Gate)
	})
}

// checked runs kick check with the flags of the release, as helm test does.
func (w *world) checked(o *installation.Operator) {
	w.t.Helper()
	flags := append([]string{"check"}, w.flags()...)
	cmd, err := w.kick.Command(w.t.Context(), append(flags, "--metrics-url=http://"+o.Metrics+"/metrics", "--timeout="+patience.String())...)
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "ok  ") != 3 {
		w.t.Errorf("kick check: %v\n%s", err, out)
	}
}

// TestOperatorInItsCage: the operator does its work with the rights and within the cage of
// the chart as it is installed without any values: of each kind a restart happens. What it
// serves then answers the chart's alerts and dashboard, as Prometheus itself evaluates them.
//
// Proves: KICK-FEAT-041, KICK-FEAT-037.
func TestOperatorInItsCage(t *testing.T) {
	w := newWorld(t, "store")
	install(t, w.kick.Namespace)
	o := w.start()
	w.furnish()
	w.adopted()
	before := w.metrics(o)
	w.restarts()
	w.checked(o)
	w.answers(o)
	w.alerts(o)
	w.panels(o, before)
}

// TestBundlesInTheCage: a ConfigMap is made, healed, changed and made anew, all of which
// the cage lets through.
func TestBundlesInTheCage(t *testing.T) {
	w := newWorld(t, "declared")
	install(t, w.kick.Namespace, "--set", "configBundles.enabled=true,watchNamespaces={"+w.ns+"}")
	w.start()
	bundle := object(t, id{"kick.corewire.io/v1alpha1", "ConfigBundle", w.ns, "flags"}, `spec: {data: {a: "1"}}`)
	w.create(bundle)
	w.configMap("1")
	w.eventually("the status that names the ConfigMap", func(ctx context.Context) string {
		var b v1alpha1.ConfigBundle
		if err := w.c.Get(ctx, client.ObjectKey{Namespace: w.ns, Name: "flags"}, &b); err != nil || b.Status.ConfigMap == nil {
			return fmt.Sprintf("%+v, %v", b.Status, err)
		}
		return ""
	})
	key := client.RawPatch(merge, []byte(`{"data":{"a":"meddled"},"metadata":{"ownerReferences":null}}`))
	if err := w.c.Patch(t.Context(), bare(w.ns, "ConfigMap", "flags"), key); err != nil {
		t.Fatal(err)
	}
	w.configMap("1")
	if err := w.c.Delete(t.Context(), bare(w.ns, "ConfigMap", "flags")); err != nil {
		t.Fatal(err)
	}
	w.configMap("1")
	if err := w.c.Patch(t.Context(), bundle, client.RawPatch(merge, []byte(`{"spec":{"data":{"a":"2"},"immutable":true}}`))); err != nil {
		t.Fatal(err)
	}
	w.configMap("2")
	w.eventually("the record of an immutable bundle", func(ctx context.Context) string {
		var all appsv1.ControllerRevisionList
		if err := w.c.List(ctx, &all, client.InNamespace(w.ns)); err != nil || len(all.Items) == 0 {
			return fmt.Sprint("none ", err)
		}
		return ""
	})
}

func (w *world) configMap(want string) {
	w.t.Helper()
	w.eventually("the ConfigMap", func(ctx context.Context) string {
		var cm corev1.ConfigMap
		if err := w.c.Get(ctx, client.ObjectKey{Namespace: w.ns, Name: "flags"}, &cm); err != nil {
			return err.Error()
		}
		if cm.Data["a"] != want || len(cm.OwnerReferences) != 1 {
			var b v1alpha1.ConfigBundle
			err := w.c.Get(ctx, client.ObjectKey{Namespace: w.ns, Name: "flags"}, &b)
			return fmt.Sprintf("a = %q of %v, want %q and an owner; the bundle says %+v %v", cm.Data["a"], cm.OwnerReferences, want, b.Status.Conditions, err)
		}
		return ""
	})
}

// TestRolesOnly: with rbac.mode=Namespaced nothing is granted beyond the namespaces that
// are named, and restarts happen, also where a GitOps tool must be asked.
//
// Proves: KICK-FEAT-040.
func TestRolesOnly(t *testing.T) {
	w := newWorld(t, "vault")
	define(t, w.c, "argocd", "flux")
	for _, ns := range []string{"argocd", "flux-system"} { // other tests may have made them
		err := w.c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
		if client.IgnoreAlreadyExists(err) != nil {
			t.Fatal(err)
		}
	}
	install(t, w.kick.Namespace, "--set", "rbac.mode=Namespaced,watchNamespaces={vault},integrations.namespaces={argocd,flux-system}")
	w.nothingClusterWide()
	o := w.start()
	w.furnish()
	w.restarts()
	w.checked(o)
	output, err := o.Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(output, "integration skipped") {
		t.Errorf("a GitOps tool was not asked:\n%s", output)
	}
}

// nothingClusterWide: no ClusterRoleBinding names the service account.
func (w *world) nothingClusterWide() {
	w.t.Helper()
	var all rbacv1.ClusterRoleBindingList
	if err := w.c.List(w.t.Context(), &all); err != nil {
		w.t.Fatal(err)
	}
	for i := range all.Items {
		for _, s := range all.Items[i].Subjects {
			if s.Kind == rbacv1.ServiceAccountKind && s.Namespace == w.kick.Namespace {
				w.t.Errorf("ClusterRoleBinding %s binds KICK's service account", all.Items[i].Name)
			}
		}
	}
}
