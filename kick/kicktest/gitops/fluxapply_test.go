package gitops_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/apply"
	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/workloads"
	"github.com/corewire/kick/kick/workloads/daemonset"
	"github.com/corewire/kick/kick/workloads/deployment"
	"github.com/corewire/kick/kick/workloads/statefulset"
)

const kindsInGit = `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: NAMESPACE}, spec: {replicas: 1, SPEC}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: api, namespace: NAMESPACE}, spec: {replicas: 1, serviceName: api, SPEC}}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: api, namespace: NAMESPACE}, spec: {SPEC}}
`

const specInGit = `selector: {matchLabels: {app: api}}, template: {metadata: {labels: {app: api}, annotations: {in.git/note: "1"}}, spec: {containers: [{name: app, image: "example.com/app:1"}]}}`

// fluxApplies applies manifests of a namespace as Flux does, by its own library in a
// program of its own, and returns what that says of each object.
func fluxApplies(t *testing.T, plane *controlplane.ControlPlane, manifests string, managers ...string) string {
	t.Helper()
	built, err := controlplane.Build(t.Context(), nil, controlplane.FluxApply)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), built[controlplane.FluxApply], append([]string{plane.Kubeconfig, "shop", "flux-system"}, managers...)...)
	cmd.Stdin = strings.NewReader(manifests)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(cmd.Path), err, out)
	}
	return string(out)
}

// applied is a namespace whose workloads of all kinds Flux has applied.
type applied struct {
	t         *testing.T
	plane     *controlplane.ControlPlane
	c         client.Client
	ns        string
	manifests string
}

func newApplied(t *testing.T, ns string) *applied {
	t.Helper()
	plane := controlplane.Shared(t)
	c, err := client.New(plane.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}); err != nil {
		t.Fatal(err)
	}
	a := &applied{t: t, plane: plane, c: c, ns: ns, manifests: strings.NewReplacer("NAMESPACE", ns, "SPEC", specInGit).Replace(kindsInGit)}
	if said := fluxApplies(t, plane, a.manifests); strings.Count(said, "created") != 3 {
		t.Fatalf("Flux says %q, want three created", said)
	}
	return a
}

// stamped are the restarts that stand in the templates, by kind.
func (a *applied) stamped() map[string]string {
	a.t.Helper()
	stamps := map[string]string{}
	for _, k := range fluxKinds {
		o := a.read(k)
		stamps[k.Name()] = k.Stamp(o)
		if note := k.Template(o).Annotations["in.git/note"]; note == "" {
			a.t.Errorf("%s has lost what is in Git", k.Name())
		}
	}
	return stamps
}

var fluxKinds = workloads.Registry{deployment.Kind{}, statefulset.Kind{}, daemonset.Kind{}}

func (a *applied) read(k workloads.Kind) client.Object {
	a.t.Helper()
	o := k.New()
	if err := a.c.Get(a.t.Context(), types.NamespacedName{Namespace: a.ns, Name: "api"}, o); err != nil {
		a.t.Fatal(err)
	}
	return o
}

// kicked restarts each workload as KICK does.
func (a *applied) kicked() {
	a.t.Helper()
	applier := &apply.Applier{Client: a.c, Workloads: fluxKinds}
	for _, k := range fluxKinds {
		for { // controllers write, too
			o := a.read(k)
			w := &model.Workload{ID: model.Key{Kind: k.Name(), Namespace: a.ns, Name: "api"}, UID: string(o.GetUID()), Version: o.GetResourceVersion()}
			err := applier.Stamp(a.t.Context(), w, time.Date(2026, 3, 1, 12, 0, 0, 1000, time.UTC))
			if err == nil {
				break
			}
			if !apply.Outdated(err) {
				a.t.Fatal(err)
			}
		}
	}
}

// by restarts each workload as somebody else does, under a field manager's name.
func (a *applied) by(manager string) {
	a.t.Helper()
	body := `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-03-01T13:00:00Z"}}}}}`
	for _, k := range fluxKinds {
		if err := a.c.Patch(a.t.Context(), a.read(k), client.RawPatch(types.StrategicMergePatchType, []byte(body)), client.FieldOwner(manager)); err != nil {
			a.t.Fatal(err)
		}
	}
}

func (a *applied) all(want string) {
	a.t.Helper()
	for kind, stamp := range a.stamped() {
		if stamp != want {
			a.t.Errorf("%s has stamp %q, want %q", kind, stamp, want)
		}
	}
}

const ourStamp = "2026-03-01T12:00:00.000001Z"

// TestStampOutlivesFlux: what Flux applies again leaves KICK's stamp where it is, whether
// Git has changed or not. A restart by kubectl, in the same place, is taken back: the test
// would see it if KICK's were.
//
// Proves: KICK-FEAT-014.
func TestStampOutlivesFlux(t *testing.T) {
	t.Run("nothing is new in Git", func(t *testing.T) {
		a := newApplied(t, "again-by-flux")
		a.kicked()
		if said := fluxApplies(t, a.plane, a.manifests); strings.Count(said, "unchanged") != 3 {
			t.Errorf("Flux says %q, want that nothing has drifted", said)
		}
		a.all(ourStamp)
	})
	t.Run("Git has changed", func(t *testing.T) {
		a := newApplied(t, "anew-by-flux")
		a.kicked()
		if said := fluxApplies(t, a.plane, strings.ReplaceAll(a.manifests, `in.git/note: "1"`, `in.git/note: "2"`)); strings.Count(said, "configured") != 3 {
			t.Errorf("Flux says %q, want three configured", said)
		}
		a.all(ourStamp)
	})
	t.Run("kubectl restarts, then Flux applies", func(t *testing.T) {
		a := newApplied(t, "kubectl-by-flux")
		a.by("kubectl-rollout")
		if said := fluxApplies(t, a.plane, a.manifests); strings.Count(said, "configured") != 3 {
			t.Errorf("Flux says %q, want three configured", said)
		}
		a.all("")
	})
	t.Run("kubectl restarts, then KICK does, then Flux applies", func(t *testing.T) {
		a := newApplied(t, "both-by-flux")
		a.by("kubectl-rollout")
		a.kicked()
		fluxApplies(t, a.plane, a.manifests)
		a.all(ourStamp)
	})
	t.Run("Flux is told to override KICK", func(t *testing.T) {
		a := newApplied(t, "override-by-flux")
		a.kicked()
		fluxApplies(t, a.plane, a.manifests, "kick")
		a.all("")
	})
}

// TestRestartOutlivesFlux: the operator restarts a workload that Flux has applied; Flux
// applies its manifest again, and there is neither a second rollout nor a way back.
//
// Proves: KICK-FEAT-014.
func TestRestartOutlivesFlux(t *testing.T) {
	w := newWorld(t, "kept-by-flux", v1alpha1.GitOpsNone)
	manifest := `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: kept-by-flux}, spec: {selector: {matchLabels: {app: web}},
		template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: example.com/app, envFrom: [{secretRef: {name: db}}]}]}}}}`
	fluxApplies(t, w.plane, manifest)
	d := &appsv1.Deployment{}
	if err := w.c.Get(t.Context(), w.key("web"), d); err != nil {
		t.Fatal(err)
	}
	before := d.Generation
	w.start()
	w.reaches(v1alpha1.PhaseNoLongerRequired, "Fresh")
	w.rotate()
	w.eventually("the workload is restarted", func(ctx context.Context) (bool, error) {
		err := w.c.Get(ctx, w.key("web"), d)
		return d.Generation == before+1, err
	})
	stamp := d.Spec.Template.Annotations[model.StampAnnotation]
	fluxApplies(t, w.plane, manifest)
	w.reaches(v1alpha1.PhaseSucceeded, "RestartCompleted")
	if err := w.c.Get(t.Context(), w.key("web"), d); err != nil {
		t.Fatal(err)
	}
	if got := d.Spec.Template.Annotations[model.StampAnnotation]; got != stamp || got == "" || d.Generation != before+1 {
		t.Errorf("stamp %q of generation %d after Flux, want %q of %d", got, d.Generation, stamp, before+1)
	}
}
