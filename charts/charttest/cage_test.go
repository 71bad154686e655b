package charttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/corewire/kick/kick/apply"
	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/installation"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/operator"
	"github.com/corewire/kick/kick/workloads"
	"github.com/corewire/kick/kick/workloads/daemonset"
	"github.com/corewire/kick/kick/workloads/deployment"
	"github.com/corewire/kick/kick/workloads/statefulset"
)

// cage is a namespace with one workload of each kind, a client that is KICK's service
// account with all rights there are, and one that is the administrator.
type cage struct {
	t           *testing.T
	kick, admin client.Client
	ns, own     string
}

// newCage installs the chart, without any running operator, and takes KICK's roles out of
// the account: whoever may do everything shows what the cage alone refuses.
func newCage(t *testing.T, ns string, args ...string) *cage {
	t.Helper()
	plane := controlplane.Shared(t)
	c := &cage{t: t, ns: ns, own: "kick-" + ns}
	install(t, c.own, append([]string{"--set", "replicaCount=0"}, args...)...)
	account, err := installation.Of(plane, c.own, "kick")
	if err != nil {
		t.Fatal(err)
	}
	for to, config := range map[*client.Client]*rest.Config{&c.kick: account.Config(), &c.admin: plane.Config} {
		made, err := client.New(config, client.Options{Scheme: operator.NewScheme()})
		if err != nil {
			t.Fatal(err)
		}
		*to = made
	}
	all := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "all-rights-" + ns},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "kick", Namespace: c.own}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
	}
	c.must(c.admin.Create(t.Context(), all))
	t.Cleanup(func() { _ = c.admin.Delete(context.Background(), all) })
	c.must(c.admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}))
	for kind := range workloadKinds {
		c.must(c.admin.Create(t.Context(), c.workload(kind)))
	}
	c.shut(func(kick client.Client) error {
		return kick.Create(t.Context(), object(t, id{"v1", "ConfigMap", ns, "probe"}, "{}"))
	}, func(kick client.Client) error {
		return kick.Patch(t.Context(), c.workload("Deployment"), client.RawPatch(merge, []byte(`{"spec":{"paused":true}}`)))
	})
	return c
}

func (c *cage) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// shut waits until the API server has taken the policies up: each refuses one of the probes.
func (c *cage) shut(probes ...func(client.Client) error) {
	c.t.Helper()
	var open error
	for range 600 {
		open = nil
		for _, probe := range probes {
			open = errors.Join(open, notCaged(probe(client.NewDryRunClient(c.kick))))
		}
		if open == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.t.Fatalf("the cage does not shut: %v", open)
}

// notCaged is nil if the error is a refusal of the cage.
func notCaged(err error) error {
	if err != nil && apierrors.IsForbidden(err) && strings.Contains(err.Error(), "ValidatingAdmissionPolicy") && strings.Contains(err.Error(), "KICK") {
		return nil
	}
	return fmt.Errorf("answer %w, want a refusal of the cage", orNone(err))
}

func orNone(err error) error {
	if err == nil {
		return fmt.Errorf("yes")
	}
	return err
}

// workloadKinds are those KICK restarts, with what their specs need besides.
var workloadKinds = map[string]string{"Deployment": "replicas: 1", "StatefulSet": "replicas: 1, serviceName: app", "DaemonSet": "minReadySeconds: 0"}

const template = `
apiVersion: apps/v1
kind: %s
metadata: {name: %s, namespace: %s, labels: {a: b}, annotations: {c: d}}
spec:
  %s
  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}, annotations: {other: thing, kubectl.kubernetes.io/restartedAt: "2026-03-01T12:00:00Z"}}
    spec:
      containers: [{name: app, image: "example.com/app:1", env: [{name: A, value: b}], resources: {requests: {cpu: 1m}}}]
`

func (c *cage) workload(kind string) *unstructured.Unstructured {
	c.t.Helper()
	return c.parse(fmt.Sprintf(template, kind, strings.ToLower(kind), c.ns, strings.ReplaceAll(workloadKinds[kind], ", ", "\n  ")))
}

func (c *cage) parse(text string) *unstructured.Unstructured {
	c.t.Helper()
	o := &unstructured.Unstructured{}
	c.must(yaml.Unmarshal([]byte(text), &o.Object))
	return o
}

// id is which object is meant.
type id struct{ apiVersion, kind, namespace, name string }

// object is an object of any kind, the rest of it as YAML in flow style.
func object(t *testing.T, of id, rest string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(rest), &o.Object); err != nil {
		t.Fatal(err)
	}
	o.SetAPIVersion(of.apiVersion)
	o.SetKind(of.kind)
	o.SetNamespace(of.namespace)
	o.SetName(of.name)
	return o
}

// row is one thing KICK might try.
type row struct {
	name string
	do   func(context.Context, client.Client) error
}

// refused runs every row twice: as KICK, which the cage has to refuse, and as a dry run of
// the administrator, which has to succeed: so it is the cage that refuses, and nothing else.
func (c *cage) refused(rows []row) {
	c.t.Helper()
	for _, r := range rows {
		c.t.Run(r.name, func(t *testing.T) {
			try := func(w client.Client) error { // a controller may write to the object meanwhile
				return retry.RetryOnConflict(retry.DefaultBackoff, func() error { return r.do(t.Context(), w) })
			}
			if err := notCaged(try(c.kick)); err != nil {
				t.Errorf("as KICK: %v", err)
			}
			if err := try(client.NewDryRunClient(c.admin)); err != nil {
				t.Errorf("as somebody else: %v, want yes", err)
			}
		})
	}
}

// TestCageOfWorkloads: everything that can be changed in a workload, but a restart.
//
// Proves: KICK-FEAT-041.
func TestCageOfWorkloads(t *testing.T) {
	c := newCage(t, "caged", "--set", "crds.enabled=true")
	for kind := range workloadKinds {
		t.Run(kind, func(t *testing.T) {
			inner := *c
			inner.t = t
			inner.refused(inner.patches(kind))
			inner.refused(inner.others(kind))
			inner.restarts(kind)
		})
	}
}

// change is a patch and its kind.
type change struct {
	kind types.PatchType
	body string
	only string // kinds of workloads that have such a field; empty: all
}

const (
	merge     = types.MergePatchType
	strategic = types.StrategicMergePatchType
	jsonPatch = types.JSONPatchType
	stampPath = "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt"
)

// changes are all forbidden ones by what they change.
var changes = map[string]change{
	"image":                          {strategic, `{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"example.com/evil:1"}]}}}}`, ""},
	"image by JSON patch":            {jsonPatch, `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"example.com/evil:1"}]`, ""},
	"env":                            {strategic, `{"spec":{"template":{"spec":{"containers":[{"name":"app","env":[{"name":"A","value":"c"}]}]}}}}`, ""},
	"env added":                      {strategic, `{"spec":{"template":{"spec":{"containers":[{"name":"app","env":[{"name":"B","value":"c"}]}]}}}}`, ""},
	"envFrom":                        {strategic, `{"spec":{"template":{"spec":{"containers":[{"name":"app","envFrom":[{"secretRef":{"name":"x"}}]}]}}}}`, ""},
	"command":                        {strategic, `{"spec":{"template":{"spec":{"containers":[{"name":"app","command":["sh"]}]}}}}`, ""},
	"resources":                      {strategic, `{"spec":{"template":{"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"2m"}}}]}}}}`, ""},
	"security context":               {strategic, `{"spec":{"template":{"spec":{"containers":[{"name":"app","securityContext":{"privileged":true}}]}}}}`, ""},
	"another container":              {strategic, `{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"example.com/evil:1"}]}}}}`, ""},
	"init container":                 {strategic, `{"spec":{"template":{"spec":{"initContainers":[{"name":"init","image":"example.com/evil:1"}]}}}}`, ""},
	"volumes":                        {strategic, `{"spec":{"template":{"spec":{"volumes":[{"name":"v","secret":{"secretName":"x"}}]}}}}`, ""},
	"host network":                   {merge, `{"spec":{"template":{"spec":{"hostNetwork":true}}}}`, ""},
	"service account":                {merge, `{"spec":{"template":{"spec":{"serviceAccountName":"other"}}}}`, ""},
	"node selector":                  {merge, `{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}}`, ""},
	"grace period":                   {merge, `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":1}}}}`, ""},
	"replicas":                       {merge, `{"spec":{"replicas":2}}`, "Deployment StatefulSet"},
	"paused":                         {merge, `{"spec":{"paused":true}}`, "Deployment"},
	"strategy":                       {strategic, `{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}`, "Deployment"},
	"update strategy":                {strategic, `{"spec":{"updateStrategy":{"$retainKeys":["type"],"type":"OnDelete"}}}`, "StatefulSet DaemonSet"},
	"progress deadline":              {merge, `{"spec":{"progressDeadlineSeconds":5}}`, "Deployment"},
	"seconds until available":        {merge, `{"spec":{"minReadySeconds":5}}`, ""},
	"revisions kept":                 {merge, `{"spec":{"revisionHistoryLimit":1}}`, ""},
	"labels":                         {merge, `{"metadata":{"labels":{"a":"c"}}}`, ""},
	"labels added":                   {merge, `{"metadata":{"labels":{"b":"c"}}}`, ""},
	"labels removed":                 {merge, `{"metadata":{"labels":{"a":null}}}`, ""},
	"annotations":                    {merge, `{"metadata":{"annotations":{"c":"e"}}}`, ""},
	"annotations added":              {merge, `{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-03-01T12:00:01Z"}}}`, ""},
	"annotations removed":            {merge, `{"metadata":{"annotations":null}}`, ""},
	"finalizers":                     {merge, `{"metadata":{"finalizers":["example.com/stay"]}}`, ""},
	"owner references":               {merge, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"x"}]}}`, ""},
	"labels of pods":                 {merge, `{"spec":{"template":{"metadata":{"labels":{"b":"c"}}}}}`, ""},
	"finalizers of pods":             {merge, `{"spec":{"template":{"metadata":{"finalizers":["example.com/stay"]}}}}`, ""},
	"another annotation of pods":     {merge, `{"spec":{"template":{"metadata":{"annotations":{"other":"changed"}}}}}`, ""},
	"a new annotation of pods":       {merge, `{"spec":{"template":{"metadata":{"annotations":{"new":"thing"}}}}}`, ""},
	"an annotation of pods removed":  {merge, `{"spec":{"template":{"metadata":{"annotations":{"other":null}}}}}`, ""},
	"the stamp removed":              {jsonPatch, `[{"op":"remove","path":"` + stampPath + `"}]`, ""},
	"a stamp that is no time":        {jsonPatch, `[{"op":"replace","path":"` + stampPath + `","value":"now"}]`, ""},
	"a stamp and an image":           {strategic, `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-03-01T12:00:01Z"}},"spec":{"containers":[{"name":"app","image":"example.com/evil:1"}]}}}}`, ""},
	"a stamp and another annotation": {merge, `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-03-01T12:00:01Z","new":"thing"}}}}}`, ""},
	"a stamp and replicas":           {merge, `{"spec":{"replicas":2,"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-03-01T12:00:01Z"}}}}}`, "Deployment StatefulSet"},
}

func (c *cage) patches(kind string) []row {
	var rows []row
	for name, p := range changes {
		if p.only == "" || strings.Contains(p.only, kind) {
			rows = append(rows, row{name, func(ctx context.Context, w client.Client) error {
				return w.Patch(ctx, c.workload(kind), client.RawPatch(p.kind, []byte(p.body)), client.FieldOwner("kick"))
			}})
		}
	}
	return rows
}

// others are forbidden writes that are no patches of the object itself.
func (c *cage) others(kind string) []row {
	modified := func(ctx context.Context, change func(map[string]any)) *unstructured.Unstructured {
		o := c.workload(kind)
		c.must(c.admin.Get(ctx, client.ObjectKeyFromObject(o), o))
		change(o.Object)
		return o
	}
	image := func(o map[string]any) {
		containers, _, _ := unstructured.NestedSlice(o, "spec", "template", "spec", "containers")
		containers[0].(map[string]any)["image"] = "example.com/evil:1"
		_ = unstructured.SetNestedSlice(o, containers, "spec", "template", "spec", "containers")
	}
	rows := []row{
		{"update of the image", func(ctx context.Context, w client.Client) error { return w.Update(ctx, modified(ctx, image)) }},
		{"update of labels", func(ctx context.Context, w client.Client) error {
			return w.Update(ctx, modified(ctx, func(o map[string]any) { _ = unstructured.SetNestedField(o, "c", "metadata", "labels", "a") }))
		}},
		{"apply of the image", func(ctx context.Context, w client.Client) error {
			o := c.workload(kind)
			image(o.Object)
			return w.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.ForceOwnership, client.FieldOwner("kick"))
		}},
		{"apply of a new one", func(ctx context.Context, w client.Client) error {
			o := c.workload(kind)
			o.SetName("new")
			return w.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("kick"))
		}},
		{"create", func(ctx context.Context, w client.Client) error {
			o := c.workload(kind)
			o.SetName("new")
			return w.Create(ctx, o)
		}},
		{"delete", func(ctx context.Context, w client.Client) error { return w.Delete(ctx, c.workload(kind)) }},
		{"delete of all", func(ctx context.Context, w client.Client) error {
			return w.DeleteAllOf(ctx, c.workload(kind), client.InNamespace(c.ns))
		}},
		{"patch of the status", func(ctx context.Context, w client.Client) error {
			return w.Status().Patch(ctx, c.workload(kind), client.RawPatch(merge, []byte(`{"status":{"observedGeneration":9}}`)))
		}},
	}
	if kind != "DaemonSet" {
		rows = append(rows, row{"scale", func(ctx context.Context, w client.Client) error {
			return w.SubResource("scale").Patch(ctx, c.workload(kind), client.RawPatch(merge, []byte(`{"spec":{"replicas":3}}`)))
		}})
	}
	return rows
}

// restarts are what the cage lets through: KICK's own way, and the same by others.
func (c *cage) restarts(kind string) {
	registry := workloads.Registry{deployment.Kind{}, statefulset.Kind{}, daemonset.Kind{}}
	read := func() *unstructured.Unstructured {
		o := c.workload(kind)
		c.must(c.admin.Get(c.t.Context(), client.ObjectKeyFromObject(o), o))
		return o
	}
	stamp := func(o *unstructured.Unstructured) string {
		notes, _, _ := unstructured.NestedStringMap(o.Object, "spec", "template", "metadata", "annotations")
		return notes["kubectl.kubernetes.io/restartedAt"]
	}
	at := time.Date(2026, 3, 2, 0, 0, 0, 1000, time.UTC)
	var err error
	for range 20 { // controllers write too
		o := read()
		a := &apply.Applier{Client: c.kick, Workloads: registry}
		w := &model.Workload{
			ID: model.Key{Kind: kind, Namespace: c.ns, Name: o.GetName()}, UID: string(o.GetUID()), Version: o.GetResourceVersion(),
		}
		if err = a.Stamp(c.t.Context(), w, at); !apply.Outdated(err) || err == nil {
			break
		}
	}
	if err != nil || stamp(read()) != "2026-03-02T00:00:00.000001Z" {
		c.t.Errorf("restart by KICK: %v, stamp %s", err, stamp(read()))
	}
	for name, p := range map[string]change{
		"strategic": {strategic, `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-03-02T00:00:02Z"}}}}}`, ""},
		"JSON":      {jsonPatch, `[{"op":"replace","path":"` + stampPath + `","value":"2026-03-02T00:00:03Z"}]`, ""},
		"nothing":   {merge, `{}`, ""},
	} {
		if err := c.kick.Patch(c.t.Context(), c.workload(kind), client.RawPatch(p.kind, []byte(p.body))); err != nil {
			c.t.Errorf("restart by a %s patch: %v", name, err)
		}
	}
}
