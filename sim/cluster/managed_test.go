package cluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
)

// entry finds one manager's entry; nil without.
func entry(obj client.Object, manager string, op metav1.ManagedFieldsOperationType) *metav1.ManagedFieldsEntry {
	for _, e := range obj.GetManagedFields() {
		if e.Manager == manager && e.Operation == op {
			return &e
		}
	}
	return nil
}

// second is the offset of an entry's time from the start of the test, in seconds.
func second(t *testing.T, e *metav1.ManagedFieldsEntry) int {
	t.Helper()
	if e == nil || e.Time == nil {
		t.Fatal("no entry, or no time")
	}
	if e.Time.Nanosecond() != 0 {
		t.Errorf("entry time %v is not a whole second", e.Time)
	}
	return int(e.Time.Sub(start.Truncate(time.Second)) / time.Second)
}

// TestManagedFieldsTimes has one row for each kind of write to a Secret that ann made at
// second 0: what happens at second 10, and whose time shows it.
func TestManagedFieldsTimes(t *testing.T) {
	merge := func(data string) func(*testing.T, *world, *corev1.Secret) {
		return func(t *testing.T, w *world, s *corev1.Secret) {
			must(t, w.Client("ann").Patch(ctx, s, client.RawPatch(types.MergePatchType, []byte(data))))
		}
	}
	tests := []struct {
		name   string
		write  func(*testing.T, *world, *corev1.Secret)
		want   int // ann's time
		writes int64
	}{
		{"a changed value moves it", merge(`{"stringData":{"password":"two"}}`), 10, 1},
		{"a removed key moves nothing", merge(`{"data":{"user":null}}`), 0, 1},
		{"a label moves the main entry too", merge(`{"metadata":{"labels":{"a":"b"}}}`), 10, 1},
		{"the same value moves nothing", merge(`{"stringData":{"password":"one"}}`), 0, 0},
		{"an update that removes", func(t *testing.T, w *world, s *corev1.Secret) {
			delete(s.Data, "user")
			must(t, w.Client("ann").Update(ctx, s))
		}, 0, 1},
		{"an update of another manager", func(t *testing.T, w *world, s *corev1.Secret) {
			s.Data["user"] = []byte("bob")
			must(t, w.Client("bob").Update(ctx, s))
			if got := second(t, entry(s, "bob", metav1.ManagedFieldsOperationUpdate)); got != 10 {
				t.Errorf("bob's time is %d", got)
			}
			if fields := entry(s, "ann", metav1.ManagedFieldsOperationUpdate).FieldsV1.GetRawString(); strings.Contains(fields, "f:user") {
				t.Errorf("ann still owns the key: %s", fields)
			}
		}, 0, 1},
		{"the entries wiped", func(t *testing.T, w *world, s *corev1.Secret) {
			must(t, w.Client("bob").Patch(ctx, s, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"managedFields":[{}]}}`))))
			if len(s.ManagedFields) != 0 {
				t.Errorf("not wiped: %v", s.ManagedFields)
			}
		}, -1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			s := secret(map[string]string{"password": "one", "user": "me"})
			must(t, w.Client("ann").Create(ctx, s))
			w.advance(10 * time.Second)
			before := w.Revision()
			tt.write(t, w, s)
			if writes := w.Revision() - before; writes != tt.writes {
				t.Errorf("%d writes, want %d", writes, tt.writes)
			}
			if tt.want < 0 {
				return
			}
			if got := second(t, entry(s, "ann", metav1.ManagedFieldsOperationUpdate)); got != tt.want {
				t.Errorf("ann's time is at second %d, want %d", got, tt.want)
			}
		})
	}
}

// TestApply follows a Secret through server-side apply by two managers.
func TestApply(t *testing.T) {
	w := newWorld(t)
	apply := func(manager, value string, opts ...client.ApplyOption) error {
		c := corev1apply.Secret("db", "shop").WithStringData(map[string]string{"password": value})
		return w.Client(manager).Apply(ctx, c, opts...)
	}
	stored := func() *corev1.Secret {
		return w.Get(secretGK, types.NamespacedName{Namespace: "shop", Name: "db"}).(*corev1.Secret)
	}
	must(t, apply("ann", "one"))
	s := stored()
	e := entry(s, "ann", metav1.ManagedFieldsOperationApply)
	if string(s.Data["password"]) != "one" || e == nil || !strings.Contains(e.FieldsV1.GetRawString(), "f:stringData") || s.Type != corev1.SecretTypeOpaque {
		t.Fatalf("created by apply: %+v", s)
	}
	before := w.Revision()
	w.advance(10 * time.Second)
	must(t, apply("ann", "one"))
	if w.Revision() != before {
		t.Errorf("a no-op apply was stored: %v", stored().ManagedFields)
	}
	must(t, apply("ann", "two"))
	if got := second(t, entry(stored(), "ann", metav1.ManagedFieldsOperationApply)); got != 10 {
		t.Errorf("apply of a new value at second %d", got)
	}
}

// TestApplyConflict shows who may take over whose field.
func TestApplyConflict(t *testing.T) {
	w := newWorld(t)
	apply := func(manager, value string, opts ...client.ApplyOption) error {
		return w.Client(manager).Apply(ctx, corev1apply.ConfigMap("web", "shop").WithData(map[string]string{"k": value}), opts...)
	}
	must(t, apply("ann", "one"))
	refusal{apierrors.IsConflict, `conflict with "ann": .data.k`}.check(t, apply("bob", "two"))
	must(t, apply("bob", "two", client.ForceOwnership))
	cm := w.Get(schemaGK("ConfigMap"), webKey).(*corev1.ConfigMap)
	if cm.Data["k"] != "two" || entry(cm, "ann", metav1.ManagedFieldsOperationApply) != nil {
		t.Errorf("forced apply: %v %v", cm.Data, cm.ManagedFields)
	}
	must(t, w.Client("bob").Apply(ctx, corev1apply.ConfigMap("web", "shop").WithData(map[string]string{"other": "x"})))
	if cm := w.Get(schemaGK("ConfigMap"), webKey).(*corev1.ConfigMap); cm.Data["k"] != "" || cm.Data["other"] != "x" {
		t.Errorf("a field that is applied no more stays: %v", cm.Data)
	}
	refusal{apierrors.IsInvalid, "fieldManager: Required value"}.check(t, apply("", "x"))
}

// TestStampOwner shows that the restart annotation is attributed to who wrote it.
func TestStampOwner(t *testing.T) {
	w := newWorld(t)
	must(t, w.Client("kubectl").Create(ctx, deployment()))
	d := &appsv1.Deployment{ObjectMeta: meta("web")}
	w.advance(5 * time.Second)
	patch := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{%q:"x"}}}}}`, restartedAt)
	must(t, w.Client("kick").Patch(ctx, d, client.RawPatch(types.MergePatchType, []byte(patch))))
	kick := entry(d, "kick", metav1.ManagedFieldsOperationUpdate)
	if second(t, kick) != 5 || !strings.Contains(kick.FieldsV1.GetRawString(), "f:"+restartedAt) {
		t.Errorf("kick's entry: %v", kick)
	}
	if second(t, entry(d, "kubectl", metav1.ManagedFieldsOperationUpdate)) != 0 {
		t.Error("kubectl's entry moved")
	}
	must(t, w.Client("kube-controller-manager").Patch(ctx, d, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"revision":"1"}}}`))))
	if len(d.ManagedFields) != 2 {
		t.Errorf("an untracked manager left an entry: %v", d.ManagedFields)
	}
}

// TestManyManagers shows that the oldest of more than ten update entries are merged,
// whatever the virtual time is.
func TestManyManagers(t *testing.T) {
	for _, year := range []int{1999, 2031, 2290} {
		w := newWorld(t)
		w.now = start.AddDate(year-start.Year(), 0, 0)
		must(t, w.Client("m00").Create(ctx, &corev1.ConfigMap{ObjectMeta: meta("web"), Data: map[string]string{"k0": "v"}}))
		for i := 1; i <= 11; i++ {
			w.advance(time.Second)
			cm := &corev1.ConfigMap{ObjectMeta: meta("web")}
			patch := fmt.Sprintf(`{"data":{"k%d":"v"}}`, i)
			must(t, w.Client(fmt.Sprintf("m%02d", i)).Patch(ctx, cm, client.RawPatch(types.MergePatchType, []byte(patch))))
		}
		var names []string
		for _, e := range w.Get(schemaGK("ConfigMap"), webKey).GetManagedFields() {
			names = append(names, e.Manager)
		}
		want := []string{"ancient-changes", "m03", "m04", "m05", "m06", "m07", "m08", "m09", "m10", "m11"}
		if !slices.Equal(names, want) {
			t.Errorf("%d: %v, want %v", year, names, want)
		}
	}
}

// TestUntrackedKinds shows that pods carry no managedFields.
func TestUntrackedKinds(t *testing.T) {
	w := newWorld(t, func(o *cluster.Options) { o.Tracked = append(o.Tracked, podGK) })
	must(t, w.Client("ann").Create(ctx, pod("a")))
	plain := newWorld(t)
	must(t, plain.Client("ann").Create(ctx, pod("a")))
	key := types.NamespacedName{Namespace: "shop", Name: "a"}
	if len(w.Get(podGK, key).GetManagedFields()) != 1 || len(plain.Get(podGK, key).GetManagedFields()) != 0 {
		t.Error("Options.Tracked has no effect, or pods are tracked without it")
	}
}
