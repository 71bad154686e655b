package argorollout_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/workloads"
	"github.com/corewire/kick/kick/workloads/argorollout"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestStamp: it is spec.restartAt, a whole second in UTC, read as it was written.
//
// Proves: KICK-FEAT-024.
func TestStamp(t *testing.T) {
	k := argorollout.Kind{}
	if diff := cmp.Diff([]string{"spec", "restartAt"}, k.StampPath()); diff != "" {
		t.Errorf("StampPath() (-want +got):\n%s", diff)
	}
	berlin := time.FixedZone("CET", 3600)
	for given, want := range map[time.Time]string{
		noon:                                "2026-03-01T12:00:00Z",
		noon.Add(999999 * time.Microsecond): "2026-03-01T12:00:00Z",
		noon.Add(time.Second).In(berlin):    "2026-03-01T12:00:01Z",
	} {
		if got := k.StampValue(given); got != want {
			t.Errorf("StampValue(%v) = %s, want %s", given, got, want)
		}
	}
	r := &argorollouts.Rollout{}
	if got := k.Stamp(r); got != "" {
		t.Errorf("Stamp() of a Rollout that never was restarted = %q, want none", got)
	}
	at := metav1.NewTime(noon.In(berlin))
	r.Spec.RestartAt = &at
	r.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "kick", Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:restartAt":{}}}`),
	}}
	want := model.Stamp{Raw: "2026-03-01T12:00:00Z", At: noon, Manager: "kick"}
	if diff := cmp.Diff(want, workloads.Model(k, r).Stamp); diff != "" {
		t.Errorf("stamp in the model (-want +got):\n%s", diff)
	}
}

// TestReference: the template of a Deployment is followed, and no other.
//
// Proves: KICK-FEAT-024.
func TestReference(t *testing.T) {
	k := argorollout.Kind{}
	for name, tt := range map[string]struct {
		ref  *argorollouts.WorkloadRef
		want model.Key
	}{
		"its own template":            {},
		"a Deployment's":              {&argorollouts.WorkloadRef{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, model.Key{Kind: "Deployment", Namespace: "shop", Name: "web"}},
		"a ReplicaSet's":              {&argorollouts.WorkloadRef{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web"}, model.Key{}},
		"a PodTemplate's":             {&argorollouts.WorkloadRef{APIVersion: "v1", Kind: "PodTemplate", Name: "web"}, model.Key{}},
		"a Deployment's, other group": {&argorollouts.WorkloadRef{APIVersion: "example.com/v1", Kind: "Deployment", Name: "web"}, model.Key{}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &argorollouts.Rollout{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "roll"}}
			r.Spec.WorkloadRef = tt.ref
			if got, is := k.Reference(r); got != tt.want || is != (tt.want != model.Key{}) {
				t.Errorf("Reference() = %v, %t, want %v", got, is, tt.want)
			}
		})
	}
}

// TestResolve: what is read from the cache is not changed.
//
// Proves: KICK-FEAT-024.
func TestResolve(t *testing.T) {
	k := argorollout.Kind{}
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{ServiceAccountName: "web"}}
	theirs := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "theirs"}}
	own := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "own"}}
	for name, tt := range map[string]struct{ selector, want *metav1.LabelSelector }{
		"without a selector of its own": {nil, theirs},
		"with a selector of its own":    {own, own},
	} {
		t.Run(name, func(t *testing.T) {
			cached := &argorollouts.Rollout{Spec: argorollouts.RolloutSpec{Selector: tt.selector}}
			before := cached.DeepCopy()
			resolved := k.Resolve(cached, template, theirs)
			if k.Template(resolved).Spec.ServiceAccountName != "web" || !cmp.Equal(k.Selector(resolved), tt.want) {
				t.Errorf("resolved to template %+v and selector %v, want the other's template and %v", k.Template(resolved), k.Selector(resolved), tt.want)
			}
			if diff := cmp.Diff(before, cached); diff != "" {
				t.Errorf("the cached object was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestRevisions: the ReplicaSet of status.currentPodHash is the wanted one, and a pod is
// found to be the Rollout's also by a ReplicaSet that the cache has not seen.
//
// Proves: KICK-FEAT-024.
func TestRevisions(t *testing.T) {
	k := argorollout.Kind{}
	r := &argorollouts.Rollout{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	r.Status.CurrentPodHash, r.Status.StableRS = "bbb", "aaa"
	set := func(hash string, minute int) *appsv1.ReplicaSet {
		return &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
			Name: "web-" + hash, UID: types.UID("uid-" + hash), Labels: map[string]string{argorollouts.HashLabel: hash},
			CreationTimestamp: metav1.NewTime(noon.Add(time.Duration(minute) * time.Minute)),
		}}
	}
	unlabelled := set("ccc", 2)
	unlabelled.Labels = nil
	sets := k.Items(&appsv1.ReplicaSetList{Items: []appsv1.ReplicaSet{*set("aaa", 0), *set("bbb", 1), *unlabelled}})
	want := []model.Revision{
		{Name: "web-aaa", Created: noon}, {Name: "web-bbb", Created: noon.Add(time.Minute), Wanted: true}, {Name: "web-ccc", Created: noon.Add(2 * time.Minute)},
	}
	if diff := cmp.Diff(want, k.Describe(r, sets)); diff != "" {
		t.Errorf("Describe() (-want +got):\n%s", diff)
	}
	r.Status.CurrentPodHash = ""
	for _, revision := range k.Describe(r, sets) {
		if revision.Wanted {
			t.Errorf("%s is wanted although nothing says so", revision.Name)
		}
	}
	owned := func(name, uid, hash string) *corev1.Pod {
		is := true
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Labels:          map[string]string{argorollouts.HashLabel: hash},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: types.UID(uid), Controller: &is}},
		}}
	}
	for name, tt := range map[string]struct {
		pod  *corev1.Pod
		want string
		is   bool
	}{
		"of the stable ReplicaSet":      {owned("web-aaa", "uid-aaa", "aaa"), "web-aaa", true},
		"of one the cache has not seen": {owned("web-ddd", "uid-ddd", "ddd"), "", true},
		"of somebody else's ReplicaSet": {owned("shop-aaa", "uid-x", "aaa"), "", false},
		"of a Deployment's ReplicaSet":  {owned("web-aaa", "uid-x", ""), "", false},
		"of nobody":                     {&corev1.Pod{}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, is := k.RevisionOf(tt.pod, r, sets); got != tt.want || is != tt.is {
				t.Errorf("RevisionOf() = %q, %t, want %q, %t", got, is, tt.want, tt.is)
			}
		})
	}
	k.StripRevision(sets[0])
}

// TestPlainFacts: what the operator looks the kind up by.
func TestPlainFacts(t *testing.T) {
	k := argorollout.Kind{}
	if k.Name() != "Rollout" || k.APIVersion() != "argoproj.io/v1alpha1" || k.RevisionKind() != "ReplicaSet" {
		t.Errorf("%s of %s with %ss, want Rollout of argoproj.io/v1alpha1 with ReplicaSets", k.Name(), k.APIVersion(), k.RevisionKind())
	}
	list := k.NewList().(*argorollouts.RolloutList)
	list.Items = []argorollouts.Rollout{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, {ObjectMeta: metav1.ObjectMeta{Name: "b"}}}
	objects := k.Objects(list)
	if len(objects) != 2 || objects[1] != client.Object(&list.Items[1]) {
		t.Errorf("Objects() = %v, want those of the list itself", objects)
	}
}
