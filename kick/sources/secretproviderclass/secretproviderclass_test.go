package secretproviderclass_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/secretsstore"
	"github.com/corewire/kick/kick/sources"
	"github.com/corewire/kick/kick/sources/secretproviderclass"
)

func status(change func(*secretsstore.SecretProviderClassPodStatus)) *secretsstore.SecretProviderClassPodStatus {
	written := metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	s := &secretsstore.SecretProviderClassPodStatus{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-1-a-shop-db", ResourceVersion: "7", CreationTimestamp: metav1.NewTime(written.Add(-time.Hour)),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "web-1-a", UID: "uid-a"}},
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "secrets-store-csi-driver", Operation: metav1.ManagedFieldsOperationUpdate, Time: &written,
				FieldsV1: metav1.NewFieldsV1(`{"f:status":{".":{},"f:objects":{}}}`),
			}},
		},
		Status: secretsstore.PodStatus{
			PodName: "web-1-a", SecretProviderClassName: "db", TargetPath: "/var/lib/kubelet/pods/uid-b/volumes/kubernetes.io~csi/secrets/mount",
			Objects: []secretsstore.MountedObject{{ID: "password", Version: "secret-version-1"}},
		},
	}
	change(s)
	return s
}

// TestStatus: what a status object tells, and that a cache of KICK holds no version.
//
// Proves: KICK-FEAT-026, I7.
func TestStatus(t *testing.T) {
	kind := secretproviderclass.Kind{}
	tests := map[string]struct {
		change    func(*secretsstore.SecretProviderClassPodStatus)
		pod       string
		same, old bool // the digest is that of the first; it is dated by its creation
	}{
		"as it is":        {func(*secretsstore.SecretProviderClassPodStatus) {}, "uid-a", true, false},
		"another version": {func(s *secretsstore.SecretProviderClassPodStatus) { s.Status.Objects[0].Version = "secret-version-2" }, "uid-a", false, false},
		"one object more": {func(s *secretsstore.SecretProviderClassPodStatus) {
			s.Status.Objects = append(s.Status.Objects, secretsstore.MountedObject{ID: "user"})
		}, "uid-a", false, false},
		"no owner": {func(s *secretsstore.SecretProviderClassPodStatus) { s.OwnerReferences = nil }, "uid-b", true, false},
		"neither owner nor path": {func(s *secretsstore.SecretProviderClassPodStatus) {
			s.OwnerReferences, s.Status.TargetPath = nil, `C:\var`
		}, "", true, false},
		"a path that ends early": {func(s *secretsstore.SecretProviderClassPodStatus) {
			s.OwnerReferences, s.Status.TargetPath = nil, "/pods/x"
		}, "", true, false},
		"who wrote it is not told": {func(s *secretsstore.SecretProviderClassPodStatus) { s.ManagedFields = nil }, "uid-a", true, true},
		"only its labels were written": {func(s *secretsstore.SecretProviderClassPodStatus) {
			s.ManagedFields[0].FieldsV1 = metav1.NewFieldsV1(`{"f:metadata":{}}`)
		}, "uid-a", true, true},
		"the node's label is a new one": {func(s *secretsstore.SecretProviderClassPodStatus) { s.Labels = map[string]string{"node": "b"} }, "uid-a", true, false},
	}
	first := sources.Status(kind, status(func(*secretsstore.SecretProviderClassPodStatus) {}))
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := status(tt.change)
			got := sources.Status(kind, s)
			if class, _ := kind.Of(s); class != "db" || got.Pod != tt.pod || got.Version != "7" {
				t.Errorf("class %s, %+v, want pod %q", class, got, tt.pod)
			}
			if same := got.Digest == first.Digest; same != tt.same {
				t.Errorf("the same digest: %t, want %t", same, tt.same)
			}
			if old := got.LastWrite.Equal(got.Created); old != tt.old {
				t.Errorf("dated %v, created %v", got.LastWrite, got.Created)
			}
			if len(s.Status.Objects) != 0 || s.ManagedFields != nil {
				t.Errorf("the cache would hold %+v", s)
			}
		})
	}
}

// TestClass: an edit of a class is no change, and its cached copy keeps its mirrors alone.
func TestClass(t *testing.T) {
	kind := secretproviderclass.Kind{}
	class := func(region string) *secretsstore.SecretProviderClass {
		return &secretsstore.SecretProviderClass{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db", Labels: map[string]string{"app": "web"}},
			Spec: secretsstore.ClassSpec{
				Provider: "vault", Parameters: map[string]string{"region": region},
				SecretObjects: []secretsstore.SecretObject{{SecretName: "db", Data: []secretsstore.ObjectData{{ObjectName: "password", Key: "password"}}}},
			},
		}
	}
	cached := class("north")
	a, b := sources.Model(kind, cached), sources.Model(kind, class("south"))
	if a.Digest != b.Digest || !a.Present || a.Labels["app"] != "web" {
		t.Errorf("%+v and %+v, want one content and the labels", a, b)
	}
	if diff := cmp.Diff([]string{"db"}, a.Mirrors); diff != "" {
		t.Errorf("mirrors (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(secretsstore.ClassSpec{SecretObjects: []secretsstore.SecretObject{{SecretName: "db"}}}, cached.Spec); diff != "" {
		t.Errorf("cached (-want +got):\n%s", diff)
	}
}
