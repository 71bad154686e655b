package check

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/secretsstore"
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/cluster"
)

var (
	theClass  = Source{"SecretProviderClass", "shop", "vault"}
	theMirror = Source{"Secret", "shop", "vault-mirror"}
)

// told is the status object of a pod of the Deployment web.
func told(pod, versions string) *secretsstore.SecretProviderClassPodStatus {
	return &secretsstore.SecretProviderClassPodStatus{
		ObjectMeta: meta(pod),
		Status: secretsstore.PodStatus{
			PodName: pod, SecretProviderClassName: "vault", TargetPath: "/pods/" + pod + "/volumes",
			Objects: []secretsstore.MountedObject{{ID: "password", Version: versions}},
		},
	}
}

func classRecord(version string) *v1alpha1.SourceObservation {
	r := &v1alpha1.SourceObservation{ObjectMeta: meta("class-vault")}
	r.Spec.Source = v1alpha1.SourceReference{Kind: v1alpha1.SourceKind(theClass.Kind), Name: theClass.Name}
	r.Spec.KeyID, r.Annotations = "key", map[string]string{"version": version}
	return r
}

// driven is a shop whose Deployment mounts a class and reads the Secret that mirrors it; all
// of that is on record.
func driven(t *testing.T, law string) *bench {
	t.Helper()
	b := shop(t, law)
	b.laws.CSI, b.laws.Rotation = true, 2*time.Minute
	b.create("kubectl", &secretsstore.SecretProviderClass{ObjectMeta: meta("vault"), Spec: secretsstore.ClassSpec{
		SecretObjects: []secretsstore.SecretObject{{SecretName: theMirror.Name}},
	}}, &corev1.Secret{ObjectMeta: meta(theMirror.Name), Data: map[string][]byte{"password": []byte("first-password")}})
	edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) {
		spec := &d.Spec.Template.Spec
		spec.Volumes = []corev1.Volume{{Name: "secrets", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{
			Driver: secretsstore.Driver, VolumeAttributes: map[string]string{secretsstore.ClassAttribute: "vault"},
		}}}}
		spec.Containers[0].EnvFrom[0].SecretRef.Name = theMirror.Name
	})
	b.create("secrets-store-csi-driver", told("pod-0", "v0"))
	b.wait(time.Second)
	r := &v1alpha1.SourceObservation{ObjectMeta: meta("secret-mirror")}
	r.Spec.Source, r.Spec.KeyID = v1alpha1.SourceReference{Kind: "Secret", Name: theMirror.Name}, "key"
	b.create(Manager, r, classRecord("0"))
	b.carries("v0", "v0")
	b.wait(time.Minute)
	return b
}

// carries says which versions the pod read when it started, and which its status tells.
func (b *bench) carries(loaded, tells string) {
	versions := func(v string) Content { return Content{Exists: true, Key: v} }
	b.runAs("shop/Deployment/web", theClass, versions(loaded)).Loaded[theMirror] = b.Current(theMirror)
	b.pods["shop/Deployment/web"][0].Mounted = map[Source]Mounted{theClass: {Content: versions(tells), At: b.loop.Now()}}
}

// turn lets the pod tell of other versions, and noted puts that on record.
func (b *bench) turn(version string) {
	b.Helper()
	edit(b, "secrets-store-csi-driver", statusKind, "pod-0", func(s *secretsstore.SecretProviderClassPodStatus) { s.Status.Objects[0].Version = version })
	b.carries("v0", version)
}

func (b *bench) noted() {
	b.Helper()
	b.wait(time.Millisecond)
	edit(b, Manager, recordKind, "class-vault", func(r *v1alpha1.SourceObservation) {
		r.Annotations = map[string]string{"version": b.loop.Now().String()}
	})
	b.wait(time.Millisecond)
}

// rotations turns the pod and notes it, so many times, some time apart.
func rotations(n int, apart time.Duration) func(*bench) {
	return func(b *bench) {
		for i := range n {
			if i > 0 {
				b.wait(apart)
			}
			b.turn(fmt.Sprint("v", i+1))
			b.noted()
		}
	}
}

func TestFlapping(t *testing.T) {
	thrice := rotations(3, 2*time.Minute)
	for name, tt := range map[string]struct {
		act   func(*bench)
		words string
	}{
		"three in a row":    {thrice, "SecretProviderClass shop/vault was rotated 3 times within 10m0s, and nothing else asks for it"},
		"two in a row":      {rotations(2, 2*time.Minute), ""},
		"three, far apart":  {rotations(3, 5*time.Minute), ""},
		"quiet since":       {func(b *bench) { thrice(b); b.wait(10 * time.Minute) }, ""},
		"one was not noted": {func(b *bench) { rotations(2, 2*time.Minute)(b); b.wait(2 * time.Minute); b.turn("v3") }, ""},
		"two noted at once": {func(b *bench) { b.turn("v1"); b.wait(time.Minute); b.turn("v2"); b.noted(); rotations(1, 0)(b) }, ""},
		"another record": {func(b *bench) {
			thrice(b)
			b.delete(Manager, recordKind, "class-vault")
			b.create(Manager, classRecord("1"))
		}, ""},
		"the status is gone": {func(b *bench) {
			thrice(b)
			b.delete("kubelet", statusKind, "pod-0")
		}, "was rotated 3 times"},
		"another source changed": {func(b *bench) {
			thrice(b)
			edit(b, "kubectl", secretKind, theMirror.Name, func(s *corev1.Secret) { s.Data["password"] = []byte("second-password") })
		}, ""},
		"a person asked": {func(b *bench) {
			thrice(b)
			r := request("by-hand")
			r.Spec.Trigger = v1alpha1.TriggerManual
			b.create("kubectl", r)
		}, ""},
		"a clock was set":    {func(b *bench) { b.clocks[clock.Kick].Step(time.Second); thrice(b) }, ""},
		"it is not followed": {func(b *bench) { b.laws.CSI = false; thrice(b) }, ""},
		"nothing is stale":   {func(b *bench) { thrice(b); b.carries("v3", "v3") }, ""},
		"it mounts no class": {func(b *bench) { thrice(b); b.unmount() }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := driven(t, lawFlapping)
			tt.act(b)
			b.restart()
			b.judged(tt.words)
		})
	}
}

// unmount takes the volume of the class away.
func (b *bench) unmount() {
	b.Helper()
	edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) { d.Spec.Template.Spec.Volumes = nil })
}

func TestMirrors(t *testing.T) {
	once := rotations(1, 0)
	follows := func(b *bench) {
		edit(b, "secrets-store-csi-driver", secretKind, theMirror.Name, func(s *corev1.Secret) { s.Data["password"] = []byte("second-password") })
	}
	for name, tt := range map[string]struct {
		act   func(*bench)
		words string
	}{
		"at once":         {once, "SecretProviderClass shop/vault was rotated 2ms before, and Secret shop/vault-mirror, which mirrors it, has not followed"},
		"it has followed": {func(b *bench) { once(b); b.wait(2 * time.Second); follows(b) }, ""},
		"it was first":    {func(b *bench) { follows(b); b.wait(time.Second); once(b) }, ""},
		"within the poll": {func(b *bench) { once(b); b.wait(2*time.Minute - time.Second) }, "was rotated 1m59.002s before"},
		"a poll later":    {func(b *bench) { once(b); b.wait(2 * time.Minute) }, ""},
		"not noted":       {func(b *bench) { b.turn("v1") }, ""},
		"it told no more": {func(b *bench) { b.turn("v1"); b.delete("kubelet", statusKind, "pod-0"); b.noted() }, ""},
		"it is another pod": {func(b *bench) {
			b.turn("v1")
			edit(b, "secrets-store-csi-driver", statusKind, "pod-0", func(s *secretsstore.SecretProviderClassPodStatus) { s.Status.TargetPath = "/pods/other/volumes" })
			b.noted()
		}, ""},
		"the mirror is gone": {func(b *bench) { once(b); b.delete("kubectl", secretKind, theMirror.Name) }, ""},
		"the class is gone": {func(b *bench) {
			once(b)
			b.delete("kubectl", classKind, "vault")
		}, ""},
		"it mounts no class": {func(b *bench) { once(b); b.unmount() }, ""},
		"out of scope": {func(b *bench) {
			edit(b, "kubectl", policyKind, "web", func(p *v1alpha1.KickPolicy) {
				p.Spec.Discovery.DependencySelector = &metav1.LabelSelector{MatchLabels: map[string]string{"restart": "yes"}}
			})
			once(b)
		}, ""},
		"a person asked": {func(b *bench) {
			once(b)
			r := request("by-hand")
			r.Spec.Trigger = v1alpha1.TriggerManual
			b.create("kubectl", r)
		}, ""},
		"a clock was set": {func(b *bench) { b.clocks[clock.Kick].Step(time.Second); once(b) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := driven(t, lawMirrors)
			tt.act(b)
			b.restart()
			b.judged(tt.words)
		})
	}
}

// TestUntold: who has not seen the record cannot wait for what it tells of.
func TestUntold(t *testing.T) {
	for law, n := range map[string]int{lawMirrors: 1, lawFlapping: 3} {
		b := driven(t, law)
		before := b.loop.Now()
		rotations(n, time.Minute)(b)
		w := Write{Verb: "patch", Kind: deploymentKind, Key: key("web"), Known: Known{Records: before, Classes: before}}
		b.laws.OnCall(w)
		b.restart()
		b.holds()
	}
}

// TestRoundsOfManyPods: pods that turn one after the other are one round.
func TestRoundsOfManyPods(t *testing.T) {
	b := newBench(t, lawFlapping)
	b.laws.Rotation = 2 * time.Minute
	h := &history{}
	status := func(verb cluster.EventType, pod, before, now string) {
		b.wait(time.Second)
		h.tells(b.loop.Now(), cluster.Event{Type: verb, Object: told(pod, now), Old: told(pod, before)})
		b.wait(time.Second)
		h.notedBy(b.loop.Now(), b.loop.Now(), false, false)
	}
	rounds := func(want int) {
		t.Helper()
		if got := b.laws.roundsSince(h.turns, noon); got != want {
			t.Errorf("%d rounds, want %d", got, want)
		}
	}
	status(cluster.Added, "a", "", "1")
	status(cluster.Added, "b", "", "1")
	status(cluster.Modified, "a", "1", "2")
	rounds(1)
	status(cluster.Modified, "b", "1", "2")
	rounds(1)
	status(cluster.Modified, "b", "2", "3")
	rounds(2)
	status(cluster.Added, "c", "", "3")
	status(cluster.Modified, "c", "3", "4")
	rounds(3)
	status(cluster.Modified, "a", "2", "2")
	rounds(3)
	h.unnoted()
	rounds(0)
	status(cluster.Modified, "a", "2", "3") // whoever was not on record is met, and begins nothing that is certain
	rounds(0)
}
