package charttest

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/apply"
	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/toolcrds/original"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/workloads"
	"github.com/corewire/kick/kick/workloads/argorollout"
)

// rolloutChanges are everything that can be changed in a Rollout, but a restart. The
// patches are for kinds without a strategic merge.
var rolloutChanges = map[string]change{
	"image":                     {jsonPatch, `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"example.com/evil:1"}]`, ""},
	"env":                       {merge, `{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"example.com/app:1","env":[{"name":"B","value":"c"}]}]}}}}`, ""},
	"volumes":                   {merge, `{"spec":{"template":{"spec":{"volumes":[{"name":"v","secret":{"secretName":"x"}}]}}}}`, ""},
	"labels of pods":            {merge, `{"spec":{"template":{"metadata":{"labels":{"b":"c"}}}}}`, ""},
	"the stamp of other kinds":  {merge, `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-03-01T12:00:01Z"}}}}}`, ""},
	"replicas":                  {merge, `{"spec":{"replicas":2}}`, ""},
	"replicas left out":         {merge, `{"spec":{"replicas":null}}`, ""},
	"paused":                    {merge, `{"spec":{"paused":true}}`, ""},
	"steps":                     {merge, `{"spec":{"strategy":{"canary":{"steps":null}}}}`, ""},
	"surge":                     {merge, `{"spec":{"strategy":{"canary":{"maxSurge":5}}}}`, ""},
	"another strategy":          {jsonPatch, `[{"op":"replace","path":"/spec/strategy","value":{"blueGreen":{"activeService":"a"}}}]`, ""},
	"the workload that it runs": {merge, `{"spec":{"workloadRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"other"}}}`, ""},
	"seconds until available":   {merge, `{"spec":{"minReadySeconds":5}}`, ""},
	"progress deadline":         {merge, `{"spec":{"progressDeadlineSeconds":5}}`, ""},
	"what an abort does":        {merge, `{"spec":{"progressDeadlineAbort":true}}`, ""},
	"analysis":                  {merge, `{"spec":{"analysis":{"successfulRunHistoryLimit":1}}}`, ""},
	"labels":                    {merge, `{"metadata":{"labels":{"a":"c"}}}`, ""},
	"annotations":               {merge, `{"metadata":{"annotations":{"c":"e"}}}`, ""},
	"annotations removed":       {merge, `{"metadata":{"annotations":null}}`, ""},
	"finalizers":                {merge, `{"metadata":{"finalizers":["example.com/stay"]}}`, ""},
	"owner references":          {merge, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"x"}]}}`, ""},
	"the time removed":          {merge, `{"spec":{"restartAt":null}}`, ""},
	"a time with a fraction":    {merge, `{"spec":{"restartAt":"2026-03-01T12:00:01.5Z"}}`, ""},
	"a time in another zone":    {merge, `{"spec":{"restartAt":"2026-03-01T12:00:01+01:00"}}`, ""},
	"a time and an image":       {jsonPatch, `[{"op":"replace","path":"/spec/restartAt","value":"2026-03-01T12:00:01Z"},{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"example.com/evil:1"}]`, ""},
	"a time and replicas":       {merge, `{"spec":{"restartAt":"2026-03-01T12:00:01Z","replicas":2}}`, ""},
	"a time and an annotation":  {merge, `{"metadata":{"annotations":{"new":"thing"}},"spec":{"restartAt":"2026-03-01T12:00:01Z"}}`, ""},
	"a time and a hold":         {merge, `{"spec":{"restartAt":"2026-03-01T12:00:01Z","paused":true}}`, ""},
}

// installRollouts makes the API server serve Rollouts, with the definition that the tool
// ships, and waits until discovery shows them. They stay: a definition that is being
// deleted could not be installed anew.
func installRollouts(t *testing.T, c client.Client) {
	t.Helper()
	files, err := original.Files(t.Context(), "argo-rollouts")
	if err != nil {
		t.Fatal(err)
	}
	if err := controlplane.Shared(t).InstallCRDs(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	(&world{t: t}).eventually("kind Rollout", func(context.Context) string {
		if _, err := c.RESTMapper().RESTMapping(argorollouts.RolloutKind.GroupKind(), argorollouts.GroupVersion.Version); err != nil {
			return err.Error()
		}
		return ""
	})
}

func (c *cage) rollout(name string) *unstructured.Unstructured {
	c.t.Helper()
	return object(c.t, id{"argoproj.io/v1alpha1", "Rollout", c.ns, name}, `
metadata: {labels: {a: b}, annotations: {c: d}}
spec:
  replicas: 1
  restartAt: "2026-03-01T12:00:00Z"
  selector: {matchLabels: {app: web}}
  strategy: {canary: {maxSurge: 1, steps: [{setWeight: 20}, {pause: {}}]}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: app, image: "example.com/app:1"}]
`)
}

// TestCageOfRollouts: of a Rollout KICK sets spec.restartAt and nothing else, and where
// Rollouts are not turned on not even that.
//
// Proves: KICK-FEAT-024, KICK-FEAT-041.
func TestCageOfRollouts(t *testing.T) {
	c := newCage(t, "rolled", "--set", "integrations.argoRollouts.enabled=true")
	installRollouts(t, c.admin)
	restart := client.RawPatch(merge, []byte(`{"spec":{"restartAt":"2026-03-02T00:00:01Z"}}`))
	c.must(c.admin.Create(t.Context(), c.rollout("web")))
	c.shut(func(kick client.Client) error {
		return kick.Patch(t.Context(), c.rollout("web"), client.RawPatch(merge, []byte(`{"spec":{"paused":true}}`)))
	})
	c.refused(c.rolloutWrites())
	t.Run("a restart", func(t *testing.T) {
		o := c.rollout("web")
		c.must(c.admin.Get(t.Context(), client.ObjectKeyFromObject(o), o))
		a := &apply.Applier{Client: c.kick, Workloads: workloads.Registry{argorollout.Kind{}}}
		w := &model.Workload{ID: model.Key{Kind: "Rollout", Namespace: c.ns, Name: "web"}, UID: string(o.GetUID()), Version: o.GetResourceVersion()}
		if err := a.Stamp(t.Context(), w, time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)); err != nil {
			t.Errorf("restart by KICK: %v", err)
		}
		c.must(c.admin.Get(t.Context(), client.ObjectKeyFromObject(o), o))
		if at, _, _ := unstructured.NestedString(o.Object, "spec", "restartAt"); at != "2026-03-02T00:00:00Z" {
			t.Errorf("restartAt is %q after KICK's restart, want that of the restart", at)
		}
		c.restartable(restart)
	})
	t.Run("turned off", func(t *testing.T) {
		off := newCage(t, "unrolled")
		o := off.rollout("web")
		off.must(off.admin.Create(t.Context(), o))
		off.refused([]row{{"restart", func(ctx context.Context, w client.Client) error { return w.Patch(ctx, off.rollout("web"), restart) }}})
	})
}

// TestRolloutsByTheChart: with the value on, the flag, the rights and the cage of the chart
// let a Rollout be restarted. Its controller does not run: the test writes its status, and
// a ReplicaSet that it controls.
//
// Proves: KICK-FEAT-024, KICK-FEAT-041.
func TestRolloutsByTheChart(t *testing.T) {
	w := newWorld(t, "canary")
	installRollouts(t, w.c)
	install(t, w.kick.Namespace, "--set", "integrations.argoRollouts.enabled=true,watchNamespaces={"+w.ns+"}")
	w.start()
	pods := `{metadata: {labels: {app: web, rollouts-pod-template-hash: aaa}}, spec: {containers: [{name: app, image: "example.com/app:1", envFrom: [{secretRef: {name: db}}]}]}}`
	web := object(t, id{"argoproj.io/v1alpha1", "Rollout", w.ns, "web"}, "spec: {replicas: 1, selector: {matchLabels: {app: web}}, strategy: {canary: {}}, template: "+pods+"}")
	w.create(object(t, id{"v1", "Secret", w.ns, "db"}, "stringData: {password: before}"), web)
	set := object(t, id{"apps/v1", "ReplicaSet", w.ns, "web-aaa"}, "{metadata: {labels: {rollouts-pod-template-hash: aaa}}, spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: "+pods+"}}")
	controls := true
	set.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "argoproj.io/v1alpha1", Kind: "Rollout", Name: "web", UID: web.GetUID(), Controller: &controls}})
	w.create(set)
	w.eventually("the pod is available", func(ctx context.Context) string {
		if err := w.c.Get(ctx, client.ObjectKeyFromObject(set), set); err != nil {
			return err.Error()
		}
		if n, _, _ := unstructured.NestedInt64(set.Object, "status", "availableReplicas"); n != 1 {
			return "not yet"
		}
		return ""
	})
	status := `{"status":{"observedGeneration":"1","currentPodHash":"aaa","stableRS":"aaa","phase":"Healthy","replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1}}`
	if err := w.c.Status().Patch(t.Context(), web, client.RawPatch(merge, []byte(status))); err != nil {
		t.Fatal(err)
	}
	w.create(object(t, id{"kick.corewire.io/v1alpha1", "KickPolicy", w.ns, "all"}, "spec: {}"))
	w.reachesRequest("rollout-web", v1alpha1.PhaseNoLongerRequired)
	if err := w.c.Patch(t.Context(), bare(w.ns, "Secret", "db"), client.RawPatch(merge, []byte(`{"stringData":{"password":"after"}}`))); err != nil {
		t.Fatal(err)
	}
	w.reachesRequest("rollout-web", v1alpha1.PhaseExecuting)
	if err := w.c.Get(t.Context(), client.ObjectKeyFromObject(web), web); err != nil {
		t.Fatal(err)
	}
	if at, _, _ := unstructured.NestedString(web.Object, "spec", "restartAt"); at == "" || web.GetGeneration() != 2 {
		t.Errorf("restartAt %q of generation %d, want a time of generation 2", at, web.GetGeneration())
	}
}

// restartable: the first restart of a Rollout, and that of one that runs the template of a
// Deployment, are let through, too, and so is a patch of nothing.
func (c *cage) restartable(restart client.Patch) {
	c.t.Helper()
	first, refers := c.rollout("first"), c.rollout("refers")
	unstructured.RemoveNestedField(first.Object, "spec", "restartAt")
	unstructured.RemoveNestedField(refers.Object, "spec", "template")
	unstructured.RemoveNestedField(refers.Object, "spec", "restartAt")
	c.must(unstructured.SetNestedStringMap(refers.Object, map[string]string{"apiVersion": "apps/v1", "kind": "Deployment", "name": "deployment"}, "spec", "workloadRef"))
	for _, o := range []*unstructured.Unstructured{first, refers} {
		c.must(c.admin.Create(c.t.Context(), o))
		if err := c.kick.Patch(c.t.Context(), o, restart); err != nil {
			c.t.Errorf("first restart of %s: %v", o.GetName(), err)
		}
		if err := c.kick.Patch(c.t.Context(), o, client.RawPatch(merge, []byte(`{}`))); err != nil {
			c.t.Errorf("no change of %s: %v", o.GetName(), err)
		}
	}
}

// rolloutWrites are all forbidden writes to a Rollout.
func (c *cage) rolloutWrites() []row {
	web := func() *unstructured.Unstructured { return c.rollout("web") }
	rows := []row{
		{"update", func(ctx context.Context, w client.Client) error {
			o := web()
			c.must(c.admin.Get(ctx, client.ObjectKeyFromObject(o), o))
			_ = unstructured.SetNestedField(o.Object, int64(3), "spec", "replicas")
			return w.Update(ctx, o)
		}},
		{"apply", func(ctx context.Context, w client.Client) error {
			o := web()
			_ = unstructured.SetNestedField(o.Object, int64(3), "spec", "replicas")
			return w.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.ForceOwnership, client.FieldOwner("kick"))
		}},
		{"create", func(ctx context.Context, w client.Client) error { return w.Create(ctx, c.rollout("new")) }},
		{"delete", func(ctx context.Context, w client.Client) error { return w.Delete(ctx, web()) }},
		{"delete of all", func(ctx context.Context, w client.Client) error {
			return w.DeleteAllOf(ctx, web(), client.InNamespace(c.ns))
		}},
		{"status", func(ctx context.Context, w client.Client) error {
			return w.Status().Patch(ctx, web(), client.RawPatch(merge, []byte(`{"status":{"abort":true}}`)))
		}},
		{"scale", func(ctx context.Context, w client.Client) error {
			return w.SubResource("scale").Patch(ctx, web(), client.RawPatch(merge, []byte(`{"spec":{"replicas":3}}`)))
		}},
	}
	for name, p := range rolloutChanges {
		rows = append(rows, row{name, func(ctx context.Context, w client.Client) error {
			return w.Patch(ctx, web(), client.RawPatch(p.kind, []byte(p.body)), client.FieldOwner("kick"))
		}})
	}
	return rows
}
