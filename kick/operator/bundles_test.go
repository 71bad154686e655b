package operator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/apply"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model/bundle"
	"github.com/corewire/kick/kick/operator"
)

// bundles is a world whose operator keeps bundles.
func bundles(t *testing.T, name string) *world {
	t.Helper()
	w := newWorld(t, name)
	w.start("--enable-config-bundles")
	return w
}

func (w *world) declare(name string, spec v1alpha1.ConfigBundleSpec, change ...func(*v1alpha1.ConfigBundle)) {
	w.t.Helper()
	b := &v1alpha1.ConfigBundle{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: spec}
	for _, c := range change {
		c(b)
	}
	w.create(b)
}

func message(text string) v1alpha1.ConfigBundleSpec { return v1alpha1.ConfigBundleSpec{Message: &text} }

// managed is the ConfigMap of a bundle; nil: there is none.
func (w *world) managed(ctx context.Context, name string) *corev1.ConfigMap {
	var cm corev1.ConfigMap
	if err := w.c.Get(ctx, client.ObjectKey{Namespace: w.ns, Name: name}, &cm); err != nil {
		return nil
	}
	return &cm
}

// holds waits until the ConfigMap of a bundle holds exactly these texts and the bundle
// is ready, with so many heals.
func (w *world) holds(name string, heals int64, data map[string]string) *corev1.ConfigMap {
	w.t.Helper()
	var cm *corev1.ConfigMap
	w.eventually("bundle "+name, func(ctx context.Context) string {
		if cm = w.managed(ctx, name); cm == nil || cm.DeletionTimestamp != nil {
			return "there is no ConfigMap"
		}
		if fmt.Sprint(cm.Data) != fmt.Sprint(data) {
			return fmt.Sprintf("it holds %v, want %v", cm.Data, data)
		}
		return w.bundleIs(ctx, name, "AsDeclared", heals, string(cm.UID))
	})
	return cm
}

// bundleIs is empty if the status of a bundle says this.
func (w *world) bundleIs(ctx context.Context, name, reason string, heals int64, uid string) string {
	var b v1alpha1.ConfigBundle
	if err := w.c.Get(ctx, client.ObjectKey{Namespace: w.ns, Name: name}, &b); err != nil {
		return err.Error()
	}
	ready, got := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady), ""
	if b.Status.ConfigMap != nil {
		got = b.Status.ConfigMap.UID
	}
	switch {
	case ready == nil:
		return "not judged yet"
	case ready.Reason != reason || b.Status.ObservedGeneration != b.Generation || b.Status.Heals != heals || got != uid:
		return fmt.Sprintf("%s: %s; generation %d of %d, %d heals, ConfigMap %q; want %s, %d heals, ConfigMap %q",
			ready.Reason, ready.Message, b.Status.ObservedGeneration, b.Generation, b.Status.Heals, got, reason, heals, uid)
	}
	return ""
}

func (w *world) says(name, reason string, heals int64, uid string) {
	w.t.Helper()
	w.eventually("bundle "+name, func(ctx context.Context) string { return w.bundleIs(ctx, name, reason, heals, uid) })
}

func (w *world) refused(name, reason string) {
	w.t.Helper()
	w.says(name, reason, 0, "")
}

// Proves: KICK-FEAT-031.
func TestBundleLife(t *testing.T) {
	t.Parallel()
	w := bundles(t, "bundle-life")
	w.declare("web", message("<hello>"), func(b *v1alpha1.ConfigBundle) {
		b.Labels = map[string]string{"team": "shop", "tier": "web", "app.kubernetes.io/instance": "shop"}
		b.Annotations = map[string]string{"note": "a", "argocd.argoproj.io/tracking-id": "x"}
	})
	cm := w.holds("web", 0, map[string]string{"message": "<hello>"})
	if len(cm.Labels) != 2 || cm.Labels["team"] != "shop" || len(cm.Annotations) != 1 || cm.Annotations["note"] != "a" {
		t.Errorf("labels %v, annotations %v are handed on", cm.Labels, cm.Annotations)
	}
	if ref := metav1.GetControllerOf(cm); ref == nil || ref.Kind != "ConfigBundle" || ref.Name != "web" {
		t.Errorf("controller %+v", ref)
	}

	w.patch(&corev1.ConfigMap{}, "web", `{"metadata":{"labels":{"theirs":"1"}}}`)
	w.patch(&v1alpha1.ConfigBundle{}, "web", `{"metadata":{"labels":{"tier":null,"team":"blog"},"annotations":{"note":null}},"spec":{"message":null,"data":{"mode":"fast"}}}`)
	w.eventually("the change", func(ctx context.Context) string {
		cm := w.managed(ctx, "web")
		if fmt.Sprint(cm.Labels, cm.Annotations, cm.Data) != "map[team:blog theirs:1] map[] map[mode:fast]" {
			return fmt.Sprint(cm.Labels, cm.Annotations, cm.Data)
		}
		return ""
	})
	same := w.holds("web", 0, map[string]string{"mode": "fast"})
	if same.UID != cm.UID {
		t.Error("the ConfigMap was replaced to change it")
	}

	if err := w.c.Delete(t.Context(), &v1alpha1.ConfigBundle{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "web"}}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the garbage", func(ctx context.Context) string {
		if w.managed(ctx, "web") != nil {
			return "the ConfigMap is there"
		}
		return ""
	})
}

// Proves: KICK-FEAT-032.
func TestBundleDrift(t *testing.T) {
	t.Parallel()
	w := bundles(t, "bundle-drift")
	declared := map[string]string{"message": "hello"}
	w.declare("web", message("hello"), func(b *v1alpha1.ConfigBundle) { b.Labels = map[string]string{"team": "shop"} })
	first := w.holds("web", 0, declared)
	for i, edit := range []string{
		`{"data":{"message":"edited"}}`,
		`{"data":{"message":null}}`,
		`{"data":{"extra":"1"},"binaryData":{"more":"aGk="}}`,
		`{"metadata":{"labels":{"team":"other"}}}`,
		`{"metadata":{"labels":{"team":null}}}`,
		`{"metadata":{"ownerReferences":null}}`,
	} {
		w.patch(&corev1.ConfigMap{}, "web", edit)
		cm := w.holds("web", int64(i+1), declared)
		if cm.UID != first.UID || cm.Labels["team"] != "shop" || metav1.GetControllerOf(cm) == nil || len(cm.BinaryData) != 0 {
			t.Errorf("after %s it is %+v", edit, cm.ObjectMeta)
		}
	}
	// What the API server does not let anybody change is made anew.
	for i, edit := range []string{
		`{"immutable":true}`,
		`{"metadata":{"ownerReferences":[{"apiVersion":"kick.corewire.io/v1alpha1","kind":"ConfigBundle","name":"x","uid":"ghost","controller":true}]}}`,
	} {
		before := w.holds("web", int64(6+i), declared)
		w.patch(&corev1.ConfigMap{}, "web", edit)
		if cm := w.holds("web", int64(7+i), declared); cm.UID == before.UID {
			t.Errorf("after %s it is the same object", edit)
		}
	}
	if err := w.c.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "web"}}); err != nil {
		t.Fatal(err)
	}
	w.holds("web", 9, declared)
}

// Proves: KICK-FEAT-033.
func TestBundleImmutable(t *testing.T) {
	t.Parallel()
	w := bundles(t, "bundle-immutable")
	big := strings.Repeat("<&>", 20000) // six times as long with escapes, of which the server's own JSON makes use
	big += strings.Repeat("a", 1<<20-len(big)-len("hello"))
	spec := message("hello")
	spec.Immutable, spec.Data = true, map[string]v1alpha1.BundleText{"big": v1alpha1.BundleText(big)}
	w.declare("web", spec)
	declared := map[string]string{"message": "hello", "big": big}
	cm := w.holds("web", 0, declared)
	if cm.Immutable == nil || !*cm.Immutable {
		t.Error("the ConfigMap is not immutable")
	}
	restored := func(edit string) {
		w.patch(&v1alpha1.ConfigBundle{}, "web", edit)
		w.eventually("taken back: "+edit, func(ctx context.Context) string {
			var b v1alpha1.ConfigBundle
			if err := w.c.Get(ctx, client.ObjectKey{Namespace: w.ns, Name: "web"}, &b); err != nil {
				return err.Error()
			}
			if !b.Spec.Immutable || b.Spec.Message == nil || *b.Spec.Message != "hello" || len(b.Spec.Data) != 1 || string(b.Spec.Data["big"]) != big {
				return fmt.Sprintf("immutable %t, %d keys", b.Spec.Immutable, len(b.Spec.Data))
			}
			return ""
		})
	}
	w.eventually("the record", func(ctx context.Context) string {
		var list appsv1.ControllerRevisionList
		if err := w.c.List(ctx, &list, client.InNamespace(w.ns)); err != nil || len(list.Items) != 1 || metav1.GetControllerOf(&list.Items[0]) == nil {
			return fmt.Sprintf("%d records, %v", len(list.Items), err)
		}
		return ""
	})
	restored(`{"spec":{"message":"other"}}`)
	restored(`{"spec":{"immutable":false,"data":{"big":null,"small":"1"}}}`)
	if now := w.holds("web", 0, declared); now.ResourceVersion != cm.ResourceVersion {
		t.Error("the ConfigMap was written")
	}
	w.eventually("the event", func(ctx context.Context) string {
		if n := w.eventsOf(ctx, "SpecRestored"); n == 0 {
			return "nobody tells why"
		}
		return ""
	})
}

// eventsOf counts the events of a reason.
func (w *world) eventsOf(ctx context.Context, reason string) int {
	var list corev1.EventList
	if err := w.c.List(ctx, &list, client.InNamespace(w.ns)); err != nil {
		return 0
	}
	n := 0
	for i := range list.Items {
		if list.Items[i].Reason == reason {
			n++
		}
	}
	return n
}

// Proves: KICK-FEAT-034.
func TestBundleNameTaken(t *testing.T) {
	t.Parallel()
	w := bundles(t, "bundle-taken")
	w.configMap("web", "theirs")
	before := w.managed(t.Context(), "web")
	w.declare("web", message("hello"))
	w.refused("web", "NameTaken")
	if now := w.managed(t.Context(), "web"); now.ResourceVersion != before.ResourceVersion {
		t.Error("somebody else's ConfigMap was written")
	}
	if err := w.c.Delete(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	w.patch(&v1alpha1.ConfigBundle{}, "web", `{"metadata":{"annotations":{"again":"please"}}}`)
	w.holds("web", 0, map[string]string{"message": "hello"})
}

// A refusal is final, whatever kind it is, until the bundle changes.
//
// Proves: KICK-FEAT-034.
func TestBundleRefused(t *testing.T) {
	t.Parallel()
	w := bundles(t, "bundle-refused")
	half := v1alpha1.BundleText(strings.Repeat("a", 1<<19))
	w.declare("large", v1alpha1.ConfigBundleSpec{Data: map[string]v1alpha1.BundleText{"a": half, "b": half, "c": "!"}}) // more than 1 MiB: 422
	w.refused("large", "Invalid")

	w.forbidConfigMaps("forbidden")
	w.declare("forbidden", message("hello")) // 403
	w.refused("forbidden", "Forbidden")

	w.patch(&v1alpha1.ConfigBundle{}, "large", `{"spec":{"data":{"a":null,"b":null}}}`)
	w.holds("large", 0, map[string]string{"c": "!"})
}

// forbidConfigMaps makes the API server refuse ConfigMaps of a name.
func (w *world) forbidConfigMaps(name string) {
	w.t.Helper()
	id := w.ns + "-" + name
	rule := admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}
	deny, fail, reason := admissionregistrationv1.Deny, admissionregistrationv1.Fail, metav1.StatusReasonForbidden
	p := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: id},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    &fail,
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: rule}}},
			Validations: []admissionregistrationv1.Validation{{
				Expression: fmt.Sprintf("object.metadata.namespace != %q || object.metadata.name != %q", w.ns, name), Reason: &reason,
			}},
		},
	}
	b := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: id},
		Spec:       admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: id, ValidationActions: []admissionregistrationv1.ValidationAction{deny}},
	}
	w.create(p, b)
	w.t.Cleanup(func() {
		_ = w.c.Delete(context.Background(), b)
		_ = w.c.Delete(context.Background(), p)
	})
	w.eventually("the policy", func(ctx context.Context) string {
		probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}}
		if err := w.c.Create(ctx, probe, client.DryRunAll); !apierrors.IsForbidden(err) {
			return fmt.Sprintf("a ConfigMap of the name is answered by %v", err)
		}
		return ""
	})
}

// A bundle made again under its name waits for garbage collection.
func TestBundleMadeAgain(t *testing.T) {
	t.Parallel()
	w := bundles(t, "bundle-again")
	spec := message("first")
	spec.Immutable = true
	w.declare("web", spec)
	first := w.holds("web", 0, map[string]string{"message": "first"})
	if err := w.c.Delete(t.Context(), &v1alpha1.ConfigBundle{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "web"}}); err != nil {
		t.Fatal(err)
	}
	w.declare("web", message("second"))
	if second := w.holds("web", 0, map[string]string{"message": "second"}); second.UID == first.UID || second.Immutable != nil {
		t.Errorf("the ConfigMap of the first bundle was taken over: %+v", second.ObjectMeta)
	}
}

// An apply that carries a version which no object has creates, and never touches what
// is there: what the write of a new ConfigMap rests on.
func TestAppliedOnlyIfMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "bundle-guard")
	a := &apply.Applier{Client: w.c}
	w.declare("web", message("hello"))
	var o v1alpha1.ConfigBundle
	if err := w.c.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: "web"}, &o); err != nil {
		t.Fatal(err)
	}
	b, err := gather.Bundle(&o)
	if err != nil {
		t.Fatal(err)
	}
	desired := bundle.Desired{Content: b.Spec.Content(), Meta: b.Meta}
	if err := a.ApplyBundle(t.Context(), b, nil, desired); err != nil {
		t.Fatalf("create: %v", err)
	}
	made := w.managed(t.Context(), "web")
	if err := a.ApplyBundle(t.Context(), b, nil, desired); !apierrors.IsConflict(err) || !apply.Outdated(err) {
		t.Errorf("create what is there: %v, want a conflict", err)
	}
	w.configMap("theirs", "x")
	b.ID.Name = "theirs"
	if err := a.ApplyBundle(t.Context(), b, nil, desired); !apierrors.IsConflict(err) {
		t.Errorf("create over somebody else's: %v, want a conflict", err)
	}
	if cm := w.managed(t.Context(), "theirs"); len(cm.OwnerReferences) != 0 || cm.Data["TOKEN"] != "x" {
		t.Errorf("somebody else's ConfigMap was touched: %+v", cm)
	}
	b.ID.Name = "web"
	old := &bundle.ConfigMap{UID: string(made.UID), Version: "2"}
	if err := a.ApplyBundle(t.Context(), b, old, desired); !apierrors.IsConflict(err) {
		t.Errorf("apply to an old version: %v, want a conflict", err)
	}
	other := &bundle.ConfigMap{UID: "another", Version: made.ResourceVersion}
	if err := a.ApplyBundle(t.Context(), b, other, desired); !apply.Outdated(err) {
		t.Errorf("apply to another incarnation: %v, want it to be outdated", err)
	}
	if err := a.DeleteConfigMap(t.Context(), b, other); !apply.Outdated(err) {
		t.Errorf("delete another incarnation: %v, want it to be outdated", err)
	}
}

// The rights on ConfigMaps are a role of their own, asked for only with the flag.
func TestBundlesNeedTheirRole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "bundle-role")
	role := "kick-config-bundles-" + w.kick.Namespace
	if err := w.c.Delete(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: role}}); err != nil {
		t.Fatal(err)
	}
	without := operator.NewOptions()
	without.Namespace = w.kick.Namespace
	with := without
	with.Bundles.Enabled = true
	w.eventually("the lack of the role", func(ctx context.Context) string {
		err := operator.Preflight(ctx, w.kick.Config(), with)
		if err == nil || !strings.Contains(err.Error(), "cannot patch configbundles.kick.corewire.io in all namespaces: forbidden") {
			return fmt.Sprint(err)
		}
		return ""
	})
	if err := operator.Preflight(t.Context(), w.kick.Config(), without); err != nil {
		t.Errorf("without bundles it is asked for all the same: %v", err)
	}
}
