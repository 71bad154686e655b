package cluster_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
)

// refusal is what an error says: a predicate of apierrors and a part of its text.
type refusal struct {
	is   func(error) bool
	text string
}

func (r refusal) check(t *testing.T, err error) {
	t.Helper()
	if r.is == nil {
		must(t, err)
		return
	}
	if err == nil || !r.is(err) || !strings.Contains(err.Error(), r.text) {
		t.Fatalf("got error %v, want one that says %q", err, r.text)
	}
}

// TestCreateRules has one row for each rule about new objects.
//
//go:fix inline
func TestCreateRules(t *testing.T) {
	tests := []struct {
		name string
		obj  client.Object
		want refusal
	}{
		{"a plain Deployment", deployment(), refusal{}},
		{"no namespace", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, refusal{apierrors.IsBadRequest, "empty namespace"}},
		{"a namespace that does not exist", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "nowhere", Name: "a"}}, refusal{apierrors.IsNotFound, `namespaces "nowhere" not found`}},
		{"a resourceVersion", edit(secret(nil), func(s *corev1.Secret) { s.ResourceVersion = "1" }), refusal{is500, "resourceVersion should not be set"}},
		{"a name with a capital", &corev1.Secret{ObjectMeta: meta("Db")}, refusal{apierrors.IsInvalid, "metadata.name"}},
		{"a name of 254 characters", &corev1.Secret{ObjectMeta: meta(strings.Repeat("a", 254))}, refusal{apierrors.IsInvalid, "must be no more than 253"}},
		{"a name of 253 characters", &corev1.Secret{ObjectMeta: meta(strings.Repeat("a", 253))}, refusal{}},
		{"no name", &corev1.Secret{ObjectMeta: meta("")}, refusal{apierrors.IsInvalid, "name or generateName is required"}},
		{"a label value of 64 characters", edit(secret(nil), func(s *corev1.Secret) { s.Labels = map[string]string{"a": strings.Repeat("b", 64)} }), refusal{apierrors.IsInvalid, "metadata.labels"}},
		{"annotations over 256 KiB", edit(secret(nil), func(s *corev1.Secret) { s.Annotations = map[string]string{"a": strings.Repeat("b", 256*1024)} }), refusal{apierrors.IsInvalid, "may not be more than 262144 bytes"}},
		{"Secret data over 1 MiB", secret(map[string]string{"a": strings.Repeat("b", 1024*1024+1)}), refusal{apierrors.IsInvalid, "may not be more than 1048576 bytes"}},
		{"a Secret key with a slash", secret(map[string]string{"a/b": "c"}), refusal{apierrors.IsInvalid, "data[a/b]"}},
		{"a TLS Secret without keys", edit(secret(nil), func(s *corev1.Secret) { s.Type = corev1.SecretTypeTLS }), refusal{apierrors.IsInvalid, "data[tls.crt]: Required value"}},
		{"a ConfigMap key twice", &corev1.ConfigMap{ObjectMeta: meta("a"), Data: map[string]string{"k": "1"}, BinaryData: map[string][]byte{"k": {1}}}, refusal{apierrors.IsInvalid, "duplicate of key present in binaryData"}},
		{"a selector that misses the template", edit(deployment(), func(d *appsv1.Deployment) { d.Spec.Template.Labels = map[string]string{"app": "other"} }), refusal{apierrors.IsInvalid, "`selector` does not match template `labels`"}},
		{"no selector", edit(deployment(), func(d *appsv1.Deployment) { d.Spec.Selector = nil }), refusal{apierrors.IsInvalid, "spec.selector: Required value"}},
		{"no containers", edit(deployment(), func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers = nil }), refusal{apierrors.IsInvalid, "spec.template.spec.containers: Required value"}},
		{"a container without image", edit(deployment(), func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "" }), refusal{apierrors.IsInvalid, "spec.template.spec.containers[0].image: Required value"}},
		{"a container without name", edit(deployment(), func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Name = "" }), refusal{apierrors.IsInvalid, "spec.template.spec.containers[0].name: Required value"}},
		{"a mount without volume", edit(deployment(), func(d *appsv1.Deployment) { d.Spec.Template.Spec.Volumes = nil }), refusal{apierrors.IsInvalid, "volumeMounts[0].name: Not found"}},
		{"Recreate with rollingUpdate", edit(deployment(), func(d *appsv1.Deployment) {
			d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{}}
		}), refusal{apierrors.IsInvalid, "may not be specified when strategy `type` is 'Recreate'"}},
		{"two controllers", edit(secret(nil), func(s *corev1.Secret) {
			o := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "a", UID: "1", Controller: new(true)}
			s.OwnerReferences = []metav1.OwnerReference{o, o}
		}), refusal{apierrors.IsInvalid, "Only one reference can have Controller set to true"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			before := w.Revision()
			err := w.Client("kubectl").Create(ctx, tt.obj)
			tt.want.check(t, err)
			if stored := w.Revision() - before; (stored == 1) != (err == nil) || len(w.events) != int(stored) {
				t.Errorf("%d revisions and %d events for error %v", stored, len(w.events), err)
			}
		})
	}
}

// edit changes an object in place and returns it.
func edit[T client.Object](obj T, f func(T)) T {
	f(obj)
	return obj
}

// TestCreateFills shows what the server adds to a new object.
func TestCreateFills(t *testing.T) {
	w := newWorld(t)
	d := deployment()
	d.UID, d.Generation, d.CreationTimestamp = "mine", 7, metav1.Time{Time: start.Add(-time.Hour)}
	d.Status.Replicas = 5
	must(t, w.Client("kubectl").Create(ctx, d))
	if d.UID == "mine" || d.Generation != 1 || !d.CreationTimestamp.Time.Equal(start.Truncate(time.Second)) || d.Status.Replicas != 0 {
		t.Errorf("metadata and status were taken from the request: %+v %+v", d.ObjectMeta, d.Status)
	}
	spec := d.Spec.Template.Spec
	if *d.Spec.Replicas != 1 || d.Spec.Strategy.RollingUpdate.MaxSurge.StrVal != "25%" || *d.Spec.ProgressDeadlineSeconds != 600 ||
		spec.RestartPolicy != "Always" || *spec.TerminationGracePeriodSeconds != 30 || spec.SecurityContext == nil ||
		spec.Containers[0].ImagePullPolicy != "IfNotPresent" || *spec.Volumes[0].ConfigMap.DefaultMode != 420 {
		t.Errorf("defaults are missing: %+v", d.Spec)
	}
	if d.Labels != nil {
		t.Errorf("apps/v1 defaults no labels, got %v", d.Labels)
	}
}

// TestUpdateRules has one row for each rule about a change of a Deployment.
func TestUpdateRules(t *testing.T) {
	tests := []struct {
		name       string
		change     func(*appsv1.Deployment)
		want       refusal
		generation int64 // after; 1 before
		writes     int64
	}{
		{"nothing", func(*appsv1.Deployment) {}, refusal{}, 1, 0},
		{"a label", func(d *appsv1.Deployment) { d.Labels = labels }, refusal{}, 1, 1},
		{"an annotation", func(d *appsv1.Deployment) { d.Annotations = labels }, refusal{}, 2, 1},
		{"the template", func(d *appsv1.Deployment) { d.Spec.Template.Annotations = labels }, refusal{}, 2, 1},
		{"status through the main resource", func(d *appsv1.Deployment) { d.Status.Replicas = 3 }, refusal{}, 1, 0},
		{"generation", func(d *appsv1.Deployment) { d.Generation = 9 }, refusal{}, 1, 0},
		{"creationTimestamp", func(d *appsv1.Deployment) { d.CreationTimestamp = metav1.Time{} }, refusal{}, 1, 0},
		{"an old resourceVersion", func(d *appsv1.Deployment) { d.ResourceVersion = "1" }, refusal{apierrors.IsConflict, "please apply your changes to the latest version"}, 1, 0},
		{"no resourceVersion", func(d *appsv1.Deployment) { d.ResourceVersion, d.Labels = "", labels }, refusal{}, 1, 1},
		{"another uid", func(d *appsv1.Deployment) { d.UID = "other" }, refusal{apierrors.IsConflict, "UID in precondition: other"}, 1, 0},
		{"the selector", func(d *appsv1.Deployment) {
			d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "b"}}
			d.Spec.Template.Labels = map[string]string{"app": "b"}
		}, refusal{apierrors.IsInvalid, "spec.selector"}, 1, 0},
		{"a bad finalizer", func(d *appsv1.Deployment) { d.Finalizers = []string{"no spaces"} }, refusal{apierrors.IsInvalid, "metadata.finalizers"}, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			c := w.Client("kubectl")
			d := deployment()
			must(t, c.Create(ctx, d))
			before := w.Revision()
			w.events = nil
			tt.change(d)
			tt.want.check(t, c.Update(ctx, d))
			got := w.Get(deploymentGK, webKey)
			if got.GetGeneration() != tt.generation || w.Revision()-before != tt.writes || len(w.events) != int(tt.writes) {
				t.Errorf("generation %d, %d writes, %d events; want %d, %d", got.GetGeneration(), w.Revision()-before, len(w.events), tt.generation, tt.writes)
			}
		})
	}
}

// TestStatusRules shows that the two endpoints of an object do not mix.
func TestStatusRules(t *testing.T) {
	w := newWorld(t)
	c := w.Client("kube-controller-manager")
	d := deployment()
	must(t, w.Client("kubectl").Create(ctx, d))
	d.Spec.Replicas, d.Labels, d.Status.Replicas = new(int32(9)), labels, 2
	must(t, c.Status().Update(ctx, d))
	got := w.Get(deploymentGK, webKey).(*appsv1.Deployment)
	if *got.Spec.Replicas != 1 || got.Labels != nil || got.Status.Replicas != 2 || got.Generation != 1 {
		t.Errorf("status update changed more than status: %+v", got)
	}
	if len(got.ManagedFields) != 1 {
		t.Errorf("status write of a controller left managedFields %v", got.ManagedFields)
	}
	stale := deployment()
	stale.ResourceVersion = "1"
	if err := c.Status().Update(ctx, stale); !apierrors.IsConflict(err) {
		t.Errorf("stale status update: %v", err)
	}
	if err := c.Status().Update(ctx, secret(nil)); !apierrors.IsNotFound(err) {
		t.Errorf("status of a Secret: %v", err)
	}
}

// TestPatchRules has one row for each rule about patches of a Deployment.
func TestPatchRules(t *testing.T) {
	stamp := `{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}`
	tests := []struct {
		name   string
		pt     types.PatchType
		data   string
		want   refusal
		writes int64
	}{
		{"merge", types.MergePatchType, stamp, refusal{}, 1},
		{"merge without effect", types.MergePatchType, `{"spec":{"replicas":1}}`, refusal{}, 0},
		{"merge with null", types.MergePatchType, `{"spec":{"replicas":null,"minReadySeconds":1}}`, refusal{}, 1},
		{"merge of a list replaces it", types.MergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"b","image":"b"}]}}}}`, refusal{}, 1},
		{"strategic", types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"b"}]}}}}`, refusal{}, 1},
		{"json", types.JSONPatchType, `[{"op":"test","path":"/spec/replicas","value":1},{"op":"replace","path":"/spec/replicas","value":2}]`, refusal{}, 1},
		{"json with a failing test", types.JSONPatchType, `[{"op":"test","path":"/spec/replicas","value":7}]`, refusal{isUnprocessable, "the server rejected our request"}, 0},
		{"status through the main resource", types.MergePatchType, `{"status":{"replicas":3}}`, refusal{}, 0},
		{"old resourceVersion", types.MergePatchType, `{"metadata":{"resourceVersion":"1","labels":{"a":"b"}}}`, refusal{apierrors.IsConflict, "please apply your changes"}, 0},
		{"wrong uid", types.MergePatchType, `{"metadata":{"uid":"other"},"spec":{"replicas":2}}`, refusal{apierrors.IsInvalid, "metadata.uid"}, 0},
		{"another name", types.MergePatchType, `{"metadata":{"name":"other"}}`, refusal{apierrors.IsBadRequest, "does not match the name on the URL"}, 0},
		{"broken json", types.MergePatchType, `{"spec":`, refusal{apierrors.IsBadRequest, ""}, 0},
		{"wrong type", types.MergePatchType, `{"spec":{"replicas":"two"}}`, refusal{apierrors.IsInvalid, "patch"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			must(t, w.Client("kubectl").Create(ctx, deployment()))
			before := w.Revision()
			err := w.Client("kick").Patch(ctx, &appsv1.Deployment{ObjectMeta: meta("web")}, client.RawPatch(tt.pt, []byte(tt.data)))
			tt.want.check(t, err)
			if writes := w.Revision() - before; writes != tt.writes {
				t.Errorf("%d writes, want %d", writes, tt.writes)
			}
		})
	}
}

func isUnprocessable(err error) bool {
	status, ok := err.(apierrors.APIStatus)
	return ok && status.Status().Code == 422
}

// TestPatchMissing shows that a patch other than apply creates nothing.
func TestPatchMissing(t *testing.T) {
	w := newWorld(t)
	_, err := w.Patch(deploymentGK, webKey, types.MergePatchType, []byte(`{}`), cluster.WriteOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want NotFound", err)
	}
}

// TestSecretRules follows one Secret through the rules of its content.
func TestSecretRules(t *testing.T) {
	w := newWorld(t)
	c := w.Client("kubectl")
	s := secret(map[string]string{"password": "one"})
	must(t, c.Create(ctx, s))
	if string(s.Data["password"]) != "one" || s.StringData != nil || s.Type != corev1.SecretTypeOpaque || s.Generation != 0 {
		t.Errorf("stringData was not merged: %+v", s)
	}
	must(t, c.Patch(ctx, s, client.RawPatch(types.MergePatchType, []byte(`{"stringData":{"user":"me"}}`))))
	if string(s.Data["user"]) != "me" || string(s.Data["password"]) != "one" {
		t.Errorf("stringData in a patch: %v", s.Data)
	}
	retyped := s.DeepCopy()
	retyped.Type = "other"
	refusal{apierrors.IsInvalid, "type"}.check(t, c.Update(ctx, retyped))
	s.Immutable = new(true)
	must(t, c.Update(ctx, s))
	for name, change := range map[string]func(*corev1.Secret){
		"data":      func(s *corev1.Secret) { s.StringData = map[string]string{"password": "two"} },
		"immutable": func(s *corev1.Secret) { s.Immutable = new(false) },
	} {
		changed := s.DeepCopy()
		change(changed)
		refusal{apierrors.IsInvalid, name + ": Forbidden: field is immutable when `immutable` is set"}.check(t, c.Update(ctx, changed))
	}
	s.Labels = labels
	must(t, c.Update(ctx, s))
}

// TestDryRun shows that a dry run answers like the real request and stores nothing.
func TestDryRun(t *testing.T) {
	w := newWorld(t)
	c := w.Client("kubectl")
	d := deployment()
	must(t, c.Create(ctx, d, client.DryRunAll))
	if w.Get(deploymentGK, webKey) != nil || *d.Spec.Replicas != 1 {
		t.Errorf("dry-run create stored the object or did not fill it: %+v", d.Spec)
	}
	must(t, c.Create(ctx, deployment()))
	before := w.Revision()
	must(t, c.Patch(ctx, d, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":4}}`)), client.DryRunAll))
	must(t, c.Delete(ctx, d, client.DryRunAll))
	if *d.Spec.Replicas != 4 || w.Revision() != before {
		t.Errorf("dry-run patch: replicas %d, %d writes", *d.Spec.Replicas, w.Revision()-before)
	}
}

// TestTimes shows that stored times are those that the wire would carry.
func TestTimes(t *testing.T) {
	w := newWorld(t)
	c := w.Client("kubelet")
	p := pod("web-0")
	must(t, c.Create(ctx, p))
	p.Status.StartTime = &metav1.Time{Time: start}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: "True", LastTransitionTime: metav1.Time{Time: start}}}
	must(t, c.Status().Update(ctx, p))
	got := w.Get(podGK, client.ObjectKeyFromObject(p)).(*corev1.Pod)
	want := start.Truncate(time.Second)
	if !got.Status.StartTime.Time.Equal(want) || !got.Status.Conditions[0].LastTransitionTime.Time.Equal(want) {
		t.Errorf("sub-second times are stored: %v", got.Status)
	}
	raw, err := json.Marshal(got)
	must(t, err)
	back := &corev1.Pod{}
	must(t, json.Unmarshal(raw, back))
	if !back.Status.StartTime.Equal(got.Status.StartTime) {
		t.Errorf("a round trip changes the time")
	}
}

func is500(err error) bool {
	status, ok := err.(apierrors.APIStatus)
	return ok && status.Status().Code == 500
}

// TestMergePatchOfUnion shows that a number replaces a percentage altogether.
func TestMergePatchOfUnion(t *testing.T) {
	w := newWorld(t)
	d := deployment()
	must(t, w.Client("kubectl").Create(ctx, d))
	must(t, w.Client("kubectl").Patch(ctx, d, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"strategy":{"rollingUpdate":{"maxSurge":3}}}}`))))
	if got := d.Spec.Strategy.RollingUpdate.MaxSurge; got.IntVal != 3 || got.StrVal != "" {
		t.Errorf("maxSurge %#v", got)
	}
}
