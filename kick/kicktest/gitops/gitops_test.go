package gitops_test

import (
	"context"
	"os"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/installation"
	"github.com/corewire/kick/kick/kicktest/toolcrds/original"
	"github.com/corewire/kick/kick/operator"
)

func TestMain(m *testing.M) {
	installation.Main()
	os.Exit(controlplane.Main(m, controlplane.Options{Node: controlplane.FakeNode, PodReadyDelay: time.Second}))
}

// patience is how long a test waits for what has to come. KICK looks once a minute for
// kinds that were installed.
const patience = 3 * time.Minute

const project = `
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
spec: {}
`

const application = `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec: {project: default, destination: {server: "https://kubernetes.default.svc", namespace: by-argocd}}
status:
  controllerNamespace: argocd
  reconciledAt: "2026-01-01T00:00:00Z"
  sync: {status: OutOfSync, comparedTo: {destination: {server: "https://kubernetes.default.svc", namespace: by-argocd}}}
  resources: [{group: apps, version: v1, kind: Deployment, namespace: by-argocd, name: web, status: Synced}]
`

const repository = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: shop, namespace: flux-system}
spec: {url: "https://git.example.com/shop", interval: 1m}
`

const kustomization = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop, namespace: flux-system}
spec: {interval: 10m, path: ., prune: true, sourceRef: {kind: GitRepository, name: shop}}
`

// TestFlux: a Kustomization that is not ready holds the restart back; the status that says
// it is lets it come at once.
func TestFlux(t *testing.T) {
	w := newWorld(t, "by-flux", v1alpha1.GitOpsFlux)
	w.install("flux")
	w.create(repository)
	w.create(kustomization)
	w.status(repository, `{"status":{"artifact":{"revision":"main@sha1:aaa","path":"shop.tar.gz","url":"http://source/shop.tar.gz",
		"digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","lastUpdateTime":"2026-03-01T08:00:00Z"}}}`)
	w.status(kustomization, `{"status":{"observedGeneration":1,"lastAppliedRevision":"main@sha1:aaa","lastAttemptedRevision":"main@sha1:aaa",
		"conditions":[{"type":"Ready","status":"False","reason":"HealthCheckFailed","message":"","lastTransitionTime":"2026-03-01T08:00:00Z"}],"inventory":{"entries":[{"id":"by-flux_web_apps_Deployment","v":"v1"}]}}}`)
	w.start()
	w.rotate()
	w.reaches(v1alpha1.PhaseWaitingForApplicationSync, "OwnerOutOfSync")
	w.restartsAfter(func() {
		w.status(kustomization, `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"ReconciliationSucceeded","message":"","lastTransitionTime":"2026-03-01T08:01:00Z"}]}}`)
	})
}

// TestArgoCD: the CRDs are installed while KICK runs. The policy says what is missing until
// then; afterwards the Application is asked.
func TestArgoCD(t *testing.T) {
	w := newWorld(t, "by-argocd", v1alpha1.GitOpsArgoCD)
	w.start("--argocd-stale-after=-1s")
	w.ready(metav1.ConditionFalse, "IntegrationKindNotInstalled")
	w.rotate()
	w.reaches(v1alpha1.PhaseWaitingForGate, "ProviderUnavailable")
	w.install("argocd")
	w.create(project)
	w.create(application)
	w.ready(metav1.ConditionTrue, "Validated")
	w.reaches(v1alpha1.PhaseWaitingForApplicationSync, "OwnerOutOfSync")
	w.restartsAfter(func() { w.patch(application, `{"status":{"sync":{"status":"Synced"}}}`) })
}

type world struct {
	t     testing.TB
	c     client.Client
	plane *controlplane.ControlPlane
	kick  *installation.Installation
	ns    string
}

// newWorld makes a namespace with one workload, its Secret and a policy that asks a tool.
func newWorld(t testing.TB, ns string, tool v1alpha1.GitOpsProvider, change ...func(*corev1.PodSpec)) *world {
	t.Helper()
	plane := controlplane.Shared(t)
	kick, err := installation.New(t.Context(), plane, "kick-"+ns)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(plane.Config, client.Options{Scheme: operator.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, c: c, plane: plane, kick: kick, ns: ns}
	labels := map[string]string{"app": "web"}
	w.make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
	w.make(&corev1.Secret{ObjectMeta: w.named("db"), StringData: map[string]string{"password": "first"}})
	web := &appsv1.Deployment{ObjectMeta: w.named("web"), Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "app", Image: "example.com/app",
			EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}}}},
		}}}},
	}}
	for _, c := range change {
		c(&web.Spec.Template.Spec)
	}
	w.make(web)
	w.make(&v1alpha1.KickPolicy{ObjectMeta: w.named("all"), Spec: v1alpha1.KickPolicySpec{GitOps: v1alpha1.GitOps{Provider: tool}}})
	w.eventually("the workload is available", func(ctx context.Context) (bool, error) {
		d := &appsv1.Deployment{}
		err := w.c.Get(ctx, w.key("web"), d)
		return d.Status.AvailableReplicas == 1, err
	})
	return w
}

func (w *world) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.ns, Name: name}
}

func (w *world) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: w.ns, Name: name}
}

func (w *world) make(o client.Object) {
	w.t.Helper()
	if err := w.c.Create(w.t.Context(), o); err != nil {
		w.t.Fatalf("create %T %s: %v", o, o.GetName(), err)
	}
}

// install installs the kinds of a tool, as the tool ships them.
func (w *world) install(tool string) {
	w.t.Helper()
	files, err := original.Files(w.t.Context(), tool)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.plane.InstallCRDs(w.t.Context(), files); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) start(flags ...string) {
	w.t.Helper()
	o, err := w.kick.Start(append([]string{"--watch-namespaces=" + w.ns}, flags...)...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := o.Stop(10 * time.Second); err != nil {
			w.t.Error(err)
		}
		if output, err := o.Output(); w.t.Failed() {
			w.t.Logf("the operator said (%v):\n%s", err, output)
		}
	})
	if err := o.WaitReady(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// object is a document as an object; its namespace is made if there is none.
func (w *world) object(document string) *unstructured.Unstructured {
	w.t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(document), &u.Object); err != nil {
		w.t.Fatal(err)
	}
	return u
}

func (w *world) create(document string) {
	w.t.Helper()
	u := w.object(document)
	err := w.c.Create(w.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: u.GetNamespace()}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		w.t.Fatal(err)
	}
	// An API server tells of a kind some time after its CRD is established.
	w.eventually(u.GetKind()+" is created", func(ctx context.Context) (bool, error) {
		err := w.c.Create(ctx, u)
		return err == nil || apierrors.IsAlreadyExists(err), err
	})
}

func (w *world) patch(document, change string) {
	w.t.Helper()
	if err := w.c.Patch(w.t.Context(), w.object(document), client.RawPatch(types.MergePatchType, []byte(change))); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) status(document, change string) {
	w.t.Helper()
	if err := w.c.Status().Patch(w.t.Context(), w.object(document), client.RawPatch(types.MergePatchType, []byte(change))); err != nil {
		w.t.Fatal(err)
	}
}

// rotate changes the Secret, in a later second than its pods were made.
func (w *world) rotate() {
	w.t.Helper()
	w.rotateTo("second")
}

func (w *world) rotateTo(password string) {
	w.t.Helper()
	time.Sleep(1100 * time.Millisecond)
	s := &corev1.Secret{ObjectMeta: w.named("db")}
	if err := w.c.Patch(w.t.Context(), s, client.RawPatch(types.MergePatchType, []byte(`{"stringData":{"password":"`+password+`"}}`))); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) reaches(phase v1alpha1.Phase, reason string) {
	w.t.Helper()
	w.eventually("the request is "+string(phase)+", "+reason, func(ctx context.Context) (bool, error) {
		r := &v1alpha1.KickRequest{}
		err := w.c.Get(ctx, w.key("deployment-web"), r)
		return r.Status.Phase == phase && r.Status.Gate != nil && r.Status.Gate.Reason == reason, client.IgnoreNotFound(err)
	})
}

func (w *world) ready(status metav1.ConditionStatus, reason string) {
	w.t.Helper()
	w.eventually("the policy's Ready is "+string(status)+", "+reason, func(ctx context.Context) (bool, error) {
		p := &v1alpha1.KickPolicy{}
		err := w.c.Get(ctx, w.key("all"), p)
		c := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionReady)
		return c != nil && c.Status == status && c.Reason == reason, err
	})
}

// restartsAfter: no restart before something happens, and one after it.
func (w *world) restartsAfter(happens func()) {
	w.t.Helper()
	generation := func(ctx context.Context) (int64, error) {
		d := &appsv1.Deployment{}
		err := w.c.Get(ctx, w.key("web"), d)
		return d.Generation, err
	}
	if g, err := generation(w.t.Context()); err != nil || g != 1 {
		w.t.Fatalf("generation %d (%v) while the gate is shut, want 1", g, err)
	}
	happens()
	began := time.Now()
	w.eventually("the workload is restarted", func(ctx context.Context) (bool, error) {
		g, err := generation(ctx)
		return g == 2, err
	})
	w.t.Logf("restarted %s after the gate opened", time.Since(began).Round(time.Millisecond))
	w.reaches(v1alpha1.PhaseSucceeded, "RestartCompleted")
}

func (w *world) eventually(what string, holds func(context.Context) (bool, error)) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	for {
		ok, err := holds(ctx)
		if ok && err == nil {
			return
		}
		select {
		case <-ctx.Done():
			w.t.Fatalf("in vain waited until %s (%v)", what, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
